#include "sim/history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/memory.h"

void reg_free(struct reg *reg)
{
    free(reg->version);
    free(reg->floor);
    free(reg->window);
    *reg = (struct reg){.version = NULL};
}

static bool same_rights(const struct fs_rights *a, const struct fs_rights *b)
{
    return a->type == b->type && a->mode == b->mode && a->uid == b->uid && a->gid == b->gid &&
           a->has_named == b->has_named && a->named_uid == b->named_uid &&
           a->named_mode == b->named_mode;
}

bool reg_change(struct reg *reg, const struct version *version)
{
    if (reg->versions > 0) {
        const struct version *last = &reg->version[reg->versions - 1];
        if (last->value == version->value && same_rights(&last->rights, &version->rights))
            return false;
    }
    reg->version =
        memory_room(reg->version, reg->versions, &reg->version_room, sizeof(*reg->version));
    reg->version[reg->versions++] = *version;
    return true;
}

bool reg_raise(struct reg *reg, uint64_t moment, uint32_t version, enum clause clause)
{
    assert(version < reg->versions);
    if (version == 0)
        return false;
    for (unsigned i = reg->floors; i-- > 0;) {
        if (reg->floor[i].version >= version)
            return false;
    }
    reg->floor = memory_room(reg->floor, reg->floors, &reg->floor_room, sizeof(*reg->floor));
    reg->floor[reg->floors++] = (struct floor){moment, version, clause};
    return true;
}

void reg_begin(struct reg *reg, uint32_t call, uint64_t sent)
{
    for (unsigned i = 0; i < reg->windows; i++) {
        if (reg->window[i].call == call && reg->window[i].ended == 0)
            return;
    }
    reg->window = memory_room(reg->window, reg->windows, &reg->window_room, sizeof(*reg->window));
    reg->window[reg->windows++] = (struct window){.sent = sent, .call = call};
}

void reg_end(struct reg *reg, uint32_t call, uint64_t moment)
{
    for (unsigned i = 0; i < reg->windows; i++) {
        if (reg->window[i].call == call && reg->window[i].ended == 0)
            reg->window[i].ended = moment;
    }
}

bool reg_overlaps(const struct reg *reg, uint64_t sent, uint64_t received, uint32_t call)
{
    for (unsigned i = 0; i < reg->windows; i++) {
        const struct window *window = &reg->window[i];
        if (window->call != call && window->sent < received &&
            (window->ended == 0 || sent < window->ended))
            return true;
    }
    return false;
}

/* ---- what may be said ---- */

/* The newest floor that stood when the call came. */
static uint32_t floor_at(const struct reg *reg, uint64_t moment)
{
    for (unsigned i = reg->floors; i-- > 0;) {
        if (reg->floor[i].moment < moment)
            return reg->floor[i].version;
    }
    return 0;
}

static bool too_old(const struct reg *reg, uint32_t version, const struct claim *claim)
{
    for (uint32_t i = version + 1; i < reg->versions; i++) {
        const struct version *later = &reg->version[i];
        bool aged = later->cause == CAUSE_OUTSIDE || later->cause == CAUSE_SETTLE;
        uint64_t age = later->cause == CAUSE_SETTLE ? claim->settle_age : claim->age;
        if (aged && claim->now - later->time >= age)
            return true;
    }
    return false;
}

/* Why a version below the floor may not be said: the first reason in the order of the clauses. */
static enum clause broken_by(const struct reg *reg, uint32_t version, uint64_t moment)
{
    enum clause clause = C5;
    for (unsigned i = 0; i < reg->floors; i++) {
        const struct floor *floor = &reg->floor[i];
        if (floor->moment < moment && floor->version > version && floor->clause < clause)
            clause = floor->clause;
    }
    return clause;
}

struct finding reg_check(const struct reg *reg, const struct claim *claim)
{
    struct finding finding = {.clause = C3, .floor = floor_at(reg, claim->arrived)};
    for (uint32_t i = reg->versions; i-- > 0;) {
        if (!claim->is(&reg->version[i], claim->what))
            continue;
        bool old = too_old(reg, i, claim);
        if (i >= finding.floor && !old) {
            if (finding.clause != CLAUSE_NONE)
                finding.high = i;
            finding.low = i;
            finding.clause = CLAUSE_NONE;
        } else if (finding.clause == C3) {
            finding.low = finding.high = i;
            finding.clause = i >= finding.floor ? C5 : broken_by(reg, i, claim->arrived);
        }
    }
    return finding;
}

bool version_is_value(const struct version *version, const void *value)
{
    return version->value == *(const uint64_t *)value;
}
