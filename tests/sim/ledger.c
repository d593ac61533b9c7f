/*
 * ledger: two hash tables with open addressing; everything else is an array.
 */
#include "sim/ledger.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/draw.h"
#include "sim/memory.h"

#define INDEX_FIRST 256u
#define ATIME_AT    60u
#define ATIME_LEN   8u

uint64_t digest(const void *data, size_t len)
{
    const uint8_t *octets = data;
    uint64_t x = len;
    for (size_t i = 0; i < len; i += 8) {
        uint64_t part = 0;
        memcpy(&part, octets + i, len - i < 8 ? len - i : 8);
        x = draw_mix(x ^ part) + 0x9e3779b97f4a7c15u;
    }
    return x;
}

uint64_t digest_fattr(const uint8_t *fattr)
{
    uint8_t copy[NFS3_FATTR_LEN];
    memcpy(copy, fattr, NFS3_FATTR_LEN);
    memset(copy + ATIME_AT, 0, ATIME_LEN);
    return digest(copy, sizeof copy);
}

void ledger_free(struct ledger *ledger)
{
    for (unsigned i = 0; i < ledger->nodes; i++)
        reg_free(&ledger->node[i]);
    for (unsigned i = 0; i < ledger->names; i++)
        reg_free(&ledger->name[i].reg);
    for (unsigned i = 0; i < ledger->handles; i++) {
        reg_free(&ledger->handle[i].node);
        free(ledger->handle[i].evidence);
    }
    free(ledger->node);
    free(ledger->name);
    free(ledger->name_index);
    free(ledger->handle);
    free(ledger->handle_index);
    free(ledger->doubt);
}

struct reg *ledger_node(struct ledger *ledger, fs_node node)
{
    while (ledger->nodes <= node) {
        ledger->node =
            memory_room(ledger->node, ledger->nodes, &ledger->node_room, sizeof(*ledger->node));
        ledger->node[ledger->nodes++] = (struct reg){.version = NULL};
    }
    return &ledger->node[node];
}

/* ---- names ---- */

static uint64_t hash_of_name(const struct named *name)
{
    return draw_mix((uint64_t)name->dir << 32 | name->name);
}

static void insert(uint32_t *index, unsigned size, uint64_t hash, uint32_t number)
{
    uint64_t at = hash & (size - 1);
    while (index[at] != 0)
        at = (at + 1) & (size - 1);
    index[at] = number + 1;
}

/* Twice as large where it is half full. True when it is empty and all has to be entered again. */
static bool grow(uint32_t **index, unsigned *size, unsigned count)
{
    if (2 * count < *size)
        return false;
    free(*index);
    *size = *size > 0 ? 2 * *size : INDEX_FIRST;
    *index = memory_get(*size * sizeof(uint32_t));
    return true;
}

struct reg *ledger_name(struct ledger *ledger, fs_node dir, uint32_t name)
{
    struct named wanted = {.dir = dir, .name = name};
    uint64_t hash = hash_of_name(&wanted);
    if (ledger->index_size > 0) {
        uint64_t mask = ledger->index_size - 1;
        for (uint64_t at = hash & mask; ledger->name_index[at] != 0; at = (at + 1) & mask) {
            struct named *named = &ledger->name[ledger->name_index[at] - 1];
            if (named->dir == dir && named->name == name)
                return &named->reg;
        }
    }
    ledger->name =
        memory_room(ledger->name, ledger->names, &ledger->name_room, sizeof(*ledger->name));
    ledger->name[ledger->names++] = wanted;
    if (grow(&ledger->name_index, &ledger->index_size, ledger->names)) {
        for (unsigned i = 0; i + 1 < ledger->names; i++)
            insert(ledger->name_index, ledger->index_size, hash_of_name(&ledger->name[i]), i);
    }
    insert(ledger->name_index, ledger->index_size, hash, ledger->names - 1);
    struct reg *reg = &ledger->name[ledger->names - 1].reg;
    reg_change(reg, &(struct version){.cause = CAUSE_START}); /* nothing is there at first */
    return reg;
}

uint32_t ledger_text_bytes(struct ledger *ledger, struct bytes text)
{
    assert(text.len <= FS_NAME_MAX);
    for (unsigned i = 0; i < ledger->texts; i++) {
        if (strlen(ledger->text[i]) == text.len &&
            memcmp(ledger->text[i], text.data, text.len) == 0)
            return i;
    }
    assert(ledger->texts < LEDGER_NAMES_MAX);
    memcpy(ledger->text[ledger->texts], text.data, text.len);
    return ledger->texts++;
}

uint32_t ledger_text(struct ledger *ledger, const char *text)
{
    return ledger_text_bytes(ledger, (struct bytes){(const uint8_t *)text, (uint32_t)strlen(text)});
}

/* ---- handles ---- */

uint32_t ledger_handle(const struct ledger *ledger, struct bytes handle)
{
    if (ledger->handle_index_size == 0)
        return LEDGER_NO_HANDLE;
    uint64_t mask = ledger->handle_index_size - 1;
    uint64_t at = digest(handle.data, handle.len) & mask;
    for (; ledger->handle_index[at] != 0; at = (at + 1) & mask) {
        uint32_t number = ledger->handle_index[at] - 1;
        const struct handle *have = &ledger->handle[number];
        if (have->len == handle.len && memcmp(have->octets, handle.data, handle.len) == 0)
            return number;
    }
    return LEDGER_NO_HANDLE;
}

uint32_t ledger_handle_make(struct ledger *ledger, struct bytes handle)
{
    uint32_t number = ledger_handle(ledger, handle);
    if (number != LEDGER_NO_HANDLE)
        return number;
    ledger->handle =
        memory_room(ledger->handle, ledger->handles, &ledger->handle_room, sizeof(*ledger->handle));
    struct handle *made = &ledger->handle[ledger->handles++];
    *made = (struct handle){.len = handle.len};
    memcpy(made->octets, handle.data, handle.len);
    if (grow(&ledger->handle_index, &ledger->handle_index_size, ledger->handles)) {
        for (unsigned i = 0; i + 1 < ledger->handles; i++)
            insert(ledger->handle_index, ledger->handle_index_size,
                   digest(ledger->handle[i].octets, ledger->handle[i].len), i);
    }
    insert(ledger->handle_index, ledger->handle_index_size, digest(handle.data, handle.len),
           ledger->handles - 1);
    return ledger->handles - 1;
}

fs_node ledger_handle_node(const struct ledger *ledger, uint32_t handle)
{
    const struct reg *reg = &ledger->handle[handle].node;
    return reg->versions > 0 ? (fs_node)reg->version[reg->versions - 1].value : 0;
}

/* ---- evidence ---- */

void ledger_add_evidence(struct ledger *ledger, uint32_t handle, const struct evidence *evidence)
{
    struct handle *of = &ledger->handle[handle];
    of->evidence = memory_room(of->evidence, of->count, &of->room, sizeof(*of->evidence));
    of->evidence[of->count++] = *evidence;
}

static void close_windows(struct reg *reg, uint64_t moment)
{
    for (unsigned i = 0; i < reg->windows; i++) {
        if (reg->window[i].ended == 0)
            reg->window[i].ended = moment;
    }
}

void ledger_forget_evidence(struct ledger *ledger)
{
    uint64_t moment = ledger_tick(ledger);
    for (unsigned i = 0; i < ledger->handles; i++) {
        ledger->handle[i].count = 0;
        close_windows(&ledger->handle[i].node, moment);
    }
    for (unsigned i = 0; i < ledger->nodes; i++)
        close_windows(&ledger->node[i], moment);
    for (unsigned i = 0; i < ledger->names; i++)
        close_windows(&ledger->name[i].reg, moment);
}

void ledger_add_doubt(struct ledger *ledger)
{
    ledger->doubt =
        memory_room(ledger->doubt, ledger->doubts, &ledger->doubt_room, sizeof(*ledger->doubt));
    ledger->doubt[ledger->doubts++] = ledger_tick(ledger);
}

uint64_t ledger_doubt_before(const struct ledger *ledger, uint64_t moment)
{
    for (unsigned i = ledger->doubts; i-- > 0;) {
        if (ledger->doubt[i] < moment)
            return ledger->doubt[i];
    }
    return 0;
}
