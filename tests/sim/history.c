/*
 * history: registers, and what may still be said of one.
 */
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
    free(reg->touch);
    *reg = (struct reg){.version = NULL};
}

bool reg_change(struct reg *reg, const struct version *version)
{
    if (reg->versions > 0) {
        const struct version *last = &reg->version[reg->versions - 1];
        if (last->value == version->value && fs_same_rights(&last->rights, &version->rights))
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

static bool is_open(const struct window *window, unsigned count, uint32_t call)
{
    for (unsigned i = 0; i < count; i++) {
        if (window[i].call == call && window[i].ended == 0)
            return true;
    }
    return false;
}

static void end(struct window *window, unsigned count, uint32_t call, uint64_t moment)
{
    for (unsigned i = 0; i < count; i++) {
        if (window[i].call == call && window[i].ended == 0)
            window[i].ended = moment;
    }
}

void reg_begin(struct reg *reg, uint32_t call, uint64_t sent)
{
    if (is_open(reg->window, reg->windows, call))
        return;
    reg->window = memory_room(reg->window, reg->windows, &reg->window_room, sizeof(*reg->window));
    reg->window[reg->windows++] = (struct window){.sent = sent, .call = call};
}

void reg_end(struct reg *reg, uint32_t call, uint64_t moment)
{
    end(reg->window, reg->windows, call, moment);
}

void reg_touch(struct reg *reg, uint32_t call, uint64_t sent)
{
    if (is_open(reg->touch, reg->touches, call))
        return;
    reg->touch = memory_room(reg->touch, reg->touches, &reg->touch_room, sizeof(*reg->touch));
    reg->touch[reg->touches++] = (struct window){.sent = sent, .call = call};
}

void reg_untouch(struct reg *reg, uint32_t call, uint64_t moment)
{
    end(reg->touch, reg->touches, call, moment);
}

unsigned reg_touched(const struct reg *reg, uint64_t since)
{
    unsigned count = 0;
    for (unsigned i = 0; i < reg->touches; i++)
        count += reg->touch[i].ended == 0 || reg->touch[i].ended > since;
    return count;
}

static bool overlaps(const struct window *window, unsigned count, uint64_t sent, uint64_t received,
                     uint32_t call)
{
    for (unsigned i = 0; i < count; i++) {
        if (window[i].call != call && window[i].sent < received &&
            (window[i].ended == 0 || sent < window[i].ended))
            return true;
    }
    return false;
}

bool reg_overlaps(const struct reg *reg, uint64_t sent, uint64_t received, uint32_t call)
{
    return overlaps(reg->window, reg->windows, sent, received, call);
}

bool reg_touched_during(const struct reg *reg, uint64_t sent, uint64_t received, uint32_t call)
{
    return overlaps(reg->touch, reg->touches, sent, received, call);
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
    struct finding finding = {.clause = C3};
    uint32_t floor = floor_at(reg, claim->arrived);
    for (uint32_t i = reg->versions; i-- > 0;) {
        if (!claim->is(&reg->version[i], claim->what))
            continue;
        bool old = too_old(reg, i, claim);
        if (i >= floor && !old) {
            if (finding.clause != CLAUSE_NONE)
                finding.high = i;
            finding.low = i;
            finding.clause = CLAUSE_NONE;
        } else if (finding.clause == C3) {
            finding.low = finding.high = i;
            finding.clause = i >= floor ? C5 : broken_by(reg, i, claim->arrived);
        }
    }
    return finding;
}

bool version_is_value(const struct version *version, const void *value)
{
    return version->value == *(const uint64_t *)value;
}
