/*
 * record: RPC record marking over a byte stream (RFC 5531 section 11), incremental and bounded.
 *
 * The peer may cut a record into fragments, and the stream into reads, wherever it likes. A reader
 * takes what has come and yields whole records with the marks taken out:
 *
 * - A record that came in one fragment, complete in the octets fed, is yielded where it stands, not
 *   copied.
 * - Any other record is collected in a buffer of the reader's own. It grows with what has come and
 *   not with what a mark claims, and is given back when the record is done.
 *
 * For a long record the caller may read from its socket straight into that buffer (record_want,
 * record_wrote), so that payload is never copied from one buffer to another.
 *
 * Bounds: a record's octets (`limit`), the number of its fragments (RECORD_FRAGMENTS_MAX), and how
 * many fragments without any octet may follow each other (RECORD_EMPTY_MAX).
 */
#ifndef XDR_RECORD_H
#define XDR_RECORD_H

#include <stddef.h>

#include "xdr/bytes.h"

#define RECORD_MARK_LEN      4u
#define RECORD_LAST          0x80000000u /* set in the mark of a record's last fragment */
#define RECORD_FRAGMENTS_MAX 4194304u    /* a WRITE of 1 MiB in fragments of one octet fits */
#define RECORD_EMPTY_MAX     64u
#define RECORD_DIRECT_MIN    4096u /* a fragment is long while so much of it has not come yet */

struct record_reader {
    uint32_t limit;         /* octets a record may have */
    uint32_t fragments;     /* seen of this record */
    uint32_t empty;         /* fragments without octets, in a row */
    uint32_t fragment_left; /* octets of the current fragment that have not come yet */
    bool last;              /* the current fragment is the record's last */
    uint8_t mark[RECORD_MARK_LEN];
    uint32_t mark_len; /* octets of the next mark that have come */
    uint8_t *data;     /* the collected record, or NULL; malloc'ed */
    uint32_t len;
    uint32_t capacity;
};

/* A whole record. */
struct record {
    uint8_t *data; /* may be written to: the xid is replaced in place */
    uint32_t len;
    bool owned; /* true: the caller frees `data`; false: it stands in what was fed */
};

void record_reader_init(struct record_reader *r, uint32_t limit);
void record_reader_clear(struct record_reader *r); /* frees what is collected; as new afterwards */

/*
 * Takes octets from `*data` and moves `*data` and `*len` past what was used.
 * 1: `out` is a whole record; call again with what is left.
 * 0: all octets are used and no record is complete.
 * -EMSGSIZE: larger than `limit`; -EPROTO: too many, or too many empty, fragments; -ENOMEM. The
 * stream can't be read any further after an error: close the connection, then record_reader_clear.
 */
int record_next(struct record_reader *r, uint8_t **data, size_t *len, struct record *out);

/*
 * Where the octets that come next may be read to directly, and how many fit there: within the
 * current fragment and the collecting buffer. 0 when there is no long fragment under way (read into
 * a buffer of your own and feed it), or when no memory could be had for it.
 */
size_t record_want(struct record_reader *r, uint8_t **where);
/* `len` octets, at most what record_want said, were read there. Returns as record_next does. */
int record_wrote(struct record_reader *r, size_t len, struct record *out);

/* The mark of a record of `len` octets (at most 2^31 - 1) sent as one fragment. */
void record_mark(uint8_t mark[RECORD_MARK_LEN], uint32_t len);

#endif
