#include "tools/call_counts.h"

#include <string.h>

#define MARK_LAST 0x80000000u

struct program {
    uint32_t number;
    uint32_t version;
    const char *name;
    const char *procedures[CALL_PROCEDURES];
};

static const struct program programs[CALL_PROGRAMS] = {
    {CALL_PROGRAM_NFS, 3, "nfs", {"NULL",     "GETATTR", "SETATTR",     "LOOKUP", "ACCESS",
                                  "READLINK", "READ",    "WRITE",       "CREATE", "MKDIR",
                                  "SYMLINK",  "MKNOD",   "REMOVE",      "RMDIR",  "RENAME",
                                  "LINK",     "READDIR", "READDIRPLUS", "FSSTAT", "FSINFO",
                                  "PATHCONF", "COMMIT"}},
    {CALL_PROGRAM_MOUNT, 3, "mount", {"NULL", "MNT", "DUMP", "UMNT", "UMNTALL", "EXPORT"}},
    {CALL_PROGRAM_NFSACL, 3, "nfsacl", {"NULL", "GETACL", "SETACL"}},
};

void call_counts_add(struct call_counts *counts, uint32_t program, uint32_t version,
                     uint32_t procedure)
{
    for (size_t i = 0; i < CALL_PROGRAMS; i++) {
        const struct program *p = &programs[i];
        if (p->number == program && p->version == version && procedure < CALL_PROCEDURES &&
            p->procedures[procedure] != NULL) {
            counts->calls[i][procedure]++;
            return;
        }
    }
    counts->other++;
}

void call_counts_print(const struct call_counts *counts, FILE *out)
{
    fputc('{', out);
    for (size_t i = 0; i < CALL_PROGRAMS; i++) {
        const struct program *p = &programs[i];
        fprintf(out, "\"%s\":{", p->name);
        for (size_t j = 0; j < CALL_PROCEDURES && p->procedures[j] != NULL; j++)
            fprintf(out, "%s\"%s\":%llu", j == 0 ? "" : ",", p->procedures[j],
                    (unsigned long long)counts->calls[i][j]);
        fputs("},", out);
    }
    fprintf(out, "\"other\":%llu}", (unsigned long long)counts->other);
}

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void count_header(const uint8_t *header, struct call_counts *counts)
{
    const uint32_t type_call = 0;
    if (word(header + 4) == type_call)
        call_counts_add(counts, word(header + 12), word(header + 16), word(header + 20));
}

static size_t feed_mark(struct call_scanner *s, const uint8_t *data, size_t len)
{
    size_t n = smaller(len, sizeof s->mark - s->mark_len);
    memcpy(s->mark + s->mark_len, data, n);
    s->mark_len += (uint32_t)n;
    if (s->mark_len == sizeof s->mark) {
        s->last = (word(s->mark) & MARK_LAST) != 0;
        s->fragment_left = word(s->mark) & ~MARK_LAST;
    }
    return n;
}

static size_t feed_fragment(struct call_scanner *s, const uint8_t *data, size_t len,
                            struct call_counts *counts)
{
    size_t n = smaller(len, s->fragment_left);
    size_t wanted = smaller(n, CALL_HEADER_LEN - s->header_len);
    if (wanted > 0) {
        memcpy(s->header + s->header_len, data, wanted);
        s->header_len += (uint32_t)wanted;
        if (s->header_len == CALL_HEADER_LEN)
            count_header(s->header, counts);
    }
    s->fragment_left -= (uint32_t)n;
    return n;
}

void call_scanner_feed(struct call_scanner *s, const uint8_t *data, size_t len,
                       struct call_counts *counts)
{
    while (len > 0) {
        size_t n = s->mark_len < sizeof s->mark ? feed_mark(s, data, len)
                                                : feed_fragment(s, data, len, counts);
        data += n;
        len -= n;
        if (s->mark_len == sizeof s->mark && s->fragment_left == 0) {
            s->mark_len = 0;
            if (s->last)
                s->header_len = 0;
        }
    }
}
