#include "tools/call_counts.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum {
    NULL_PROCEDURE = 0,
    MNT = 1,
    LOOKUP = 3,
    ACCESS = 4,
};

struct stream {
    uint8_t data[1024];
    size_t len;
};

static void put_word(struct stream *s, uint32_t word)
{
    for (unsigned shift = 32; shift > 0; shift -= 8)
        s->data[s->len++] = (uint8_t)(word >> (shift - 8));
}

/* A record with `extra` octets after the six words, in fragments of `size` octets. */
static void put_record(struct stream *s, uint32_t type, uint32_t program, uint32_t version,
                       uint32_t procedure, size_t extra, size_t size)
{
    struct stream whole = {.len = 0};
    const uint32_t words[] = {0x80000018, type, 2, program, version, procedure};
    for (size_t i = 0; i < 6; i++)
        put_word(&whole, words[i]);
    whole.len += extra;
    for (size_t at = 0; at < whole.len; at += size) {
        size_t n = whole.len - at < size ? whole.len - at : size;
        put_word(s, (uint32_t)n | (at + n == whole.len ? 0x80000000u : 0));
        memcpy(s->data + s->len, whole.data + at, n);
        s->len += n;
    }
}

static struct call_counts count(const struct stream *s, size_t piece)
{
    struct call_counts counts = {.other = 0};
    struct call_scanner scanner = {.mark_len = 0};
    for (size_t at = 0; at < s->len; at += piece)
        call_scanner_feed(&scanner, s->data + at, s->len - at < piece ? s->len - at : piece,
                          &counts);
    return counts;
}

/* However reads and fragments cut the calls, the demo's figures are the same. */
static void counts_calls_cut_anywhere(void **state)
{
    (void)state;
    const size_t fragments[] = {1, 3, 4, 24, 40, 100};
    for (size_t i = 0; i < sizeof fragments / sizeof *fragments; i++) {
        struct stream s = {.len = 0};
        put_record(&s, 0, CALL_PROGRAM_NFS, 3, LOOKUP, 60, fragments[i]);
        put_word(&s, 0); /* a fragment without octets */
        put_record(&s, 0, CALL_PROGRAM_NFS, 3, ACCESS, 0, fragments[i]);
        put_record(&s, 0, CALL_PROGRAM_NFS, 3, LOOKUP, 1, fragments[i]);
        put_record(&s, 0, CALL_PROGRAM_MOUNT, 3, MNT, 8, fragments[i]);
        for (size_t piece = 1; piece <= s.len; piece++) {
            struct call_counts counts = count(&s, piece);
            struct call_counts expected = {.other = 0};
            expected.calls[0][LOOKUP] = 2;
            expected.calls[0][ACCESS] = 1;
            expected.calls[1][MNT] = 1;
            assert_memory_equal(&counts, &expected, sizeof expected);
        }
    }
}

/* Replies, and records too short to be calls, are no calls; a call of no known kind is not lost. */
static void counts_nothing_else(void **state)
{
    (void)state;
    struct stream s = {.len = 0};
    put_record(&s, 1, CALL_PROGRAM_NFS, 3, LOOKUP, 60, 100);
    put_word(&s, 0x80000004);
    put_word(&s, 0x12345678);
    put_record(&s, 0, CALL_PROGRAM_NFS, 4, 1, 60, 100);
    put_record(&s, 0, CALL_PROGRAM_NFS, 3, 22, 60, 100);
    put_record(&s, 0, CALL_PROGRAM_MOUNT, 3, 6, 0, 100);
    put_record(&s, 0, 100000, 2, 3, 0, 100);
    put_record(&s, 0, CALL_PROGRAM_NFSACL, 3, NULL_PROCEDURE, 0, 100);
    struct call_counts counts = count(&s, s.len);
    struct call_counts expected = {.other = 4};
    expected.calls[2][NULL_PROCEDURE] = 1;
    assert_memory_equal(&counts, &expected, sizeof expected);
}

/* What the demo reads with jq. */
static void prints_json(void **state)
{
    (void)state;
    struct call_counts counts = {.other = 7};
    counts.calls[0][LOOKUP] = 1234567890123;
    counts.calls[1][MNT] = 2;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    assert_non_null(out);
    call_counts_print(&counts, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(
        text, "{\"nfs\":{\"NULL\":0,\"GETATTR\":0,\"SETATTR\":0,\"LOOKUP\":1234567890123,"
              "\"ACCESS\":0,\"READLINK\":0,\"READ\":0,\"WRITE\":0,\"CREATE\":0,\"MKDIR\":0,"
              "\"SYMLINK\":0,\"MKNOD\":0,\"REMOVE\":0,\"RMDIR\":0,\"RENAME\":0,\"LINK\":0,"
              "\"READDIR\":0,\"READDIRPLUS\":0,\"FSSTAT\":0,\"FSINFO\":0,\"PATHCONF\":0,"
              "\"COMMIT\":0},\"mount\":{\"NULL\":0,\"MNT\":2,\"DUMP\":0,\"UMNT\":0,"
              "\"UMNTALL\":0,\"EXPORT\":0},\"nfsacl\":{\"NULL\":0,\"GETACL\":0,\"SETACL\":0},"
              "\"other\":7}");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_calls_cut_anywhere),
        cmocka_unit_test(counts_nothing_else),
        cmocka_unit_test(prints_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
