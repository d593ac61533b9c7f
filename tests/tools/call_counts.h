/*
 * call_counts: how many RPC calls of which program and procedure there were.
 *
 * The relay counts what passes through it, the sweep what its clients send; both print the same
 * JSON, so that the two can be compared. A scanner finds the calls in a byte stream. It knows
 * record marking and the six leading words of a call by itself and shares no code with the proxy,
 * whose work it checks.
 */
#ifndef TOOLS_CALL_COUNTS_H
#define TOOLS_CALL_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CALL_PROGRAM_NFS    100003u
#define CALL_PROGRAM_MOUNT  100005u
#define CALL_PROGRAM_NFSACL 100227u

#define CALL_PROGRAMS   3u
#define CALL_PROCEDURES 22u

struct call_counts {
    uint64_t calls[CALL_PROGRAMS][CALL_PROCEDURES];
    uint64_t other; /* of no program and procedure above, or of another version */
};

void call_counts_add(struct call_counts *counts, uint32_t program, uint32_t version,
                     uint32_t procedure);

/* {"nfs":{"NULL":0,…},"mount":{…},"nfsacl":{…},"other":0} without a newline. */
void call_counts_print(const struct call_counts *counts, FILE *out);

#define CALL_HEADER_LEN 24u /* xid, type, RPC version, program, version, procedure */

/* One direction of one connection. All zero is its start. */
struct call_scanner {
    uint8_t mark[4];
    uint32_t mark_len;
    uint32_t fragment_left;
    bool last; /* the current fragment is the record's last */
    uint8_t header[CALL_HEADER_LEN];
    uint32_t header_len;
};

/* Counts each call as soon as its header has come. */
void call_scanner_feed(struct call_scanner *s, const uint8_t *data, size_t len,
                       struct call_counts *counts);

#endif
