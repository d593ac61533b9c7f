/*
 * ledger: the registers of a run, and the evidence: what the server said, and when that came to the proxy.
 */
#ifndef SIM_LEDGER_H
#define SIM_LEDGER_H

#include "sim/history.h"
#include "xdr/bytes.h"

#define LEDGER_NAMES_MAX 64u

enum evidence_kind {
    EVIDENCE_ATTR, /* value: digest of all of a fattr3 */
    EVIDENCE_NAME, /* of a directory; key: the name's number; value: the child's handle number + 1; 0: absent */
    EVIDENCE_ACCESS, /* key: who; value: what was granted of `asked` */
    EVIDENCE_SEARCH, /* key: who; the directory could be searched */
};

/* One thing that one reply said of a handle. */
struct evidence {
    enum evidence_kind kind;
    uint32_t key, asked;
    uint64_t value;
    uint64_t sent, received; /* moments */
    uint32_t call;
};

struct handle {
    uint8_t octets[NFS3_FH_MAX];
    uint32_t len;
    struct reg node; /* which it leads to */
    struct evidence *evidence;
    unsigned count, room;
};

struct named {
    fs_node dir;
    uint32_t name;
    struct reg reg;
};

struct ledger {
    uint64_t moment; /* of what happened last */
    struct reg *node;
    unsigned nodes, node_room;
    struct named *name;
    unsigned names, name_room;
    uint32_t *name_index; /* hash table: number + 1 in `name` */
    unsigned index_size;
    struct handle *handle;
    unsigned handles, handle_room;
    uint32_t *handle_index;
    unsigned handle_index_size;
    char text[LEDGER_NAMES_MAX][FS_NAME_MAX + 1];
    unsigned texts;
    uint64_t *doubt; /* moments after which nothing from before may be told */
    unsigned doubts, doubt_room;
};

void ledger_free(struct ledger *ledger);

/* The next moment. */
static inline uint64_t ledger_tick(struct ledger *ledger)
{
    return ++ledger->moment;
}

/* Made where it is new. What they return stands until the next one is made. */
struct reg *ledger_node(struct ledger *ledger, fs_node node);
struct reg *ledger_name(struct ledger *ledger, fs_node dir, uint32_t name);
/* The number of a name's text. */
uint32_t ledger_text(struct ledger *ledger, const char *text);
uint32_t ledger_text_bytes(struct ledger *ledger, struct bytes text);

#define LEDGER_NO_HANDLE UINT32_MAX
uint32_t ledger_handle(const struct ledger *ledger, struct bytes handle);
uint32_t ledger_handle_make(struct ledger *ledger, struct bytes handle);
/* Which node it leads to now; 0: none. */
fs_node ledger_handle_node(const struct ledger *ledger, uint32_t handle);

void ledger_add_evidence(struct ledger *ledger, uint32_t handle, const struct evidence *evidence);
/* The proxy starts anew: it knows nothing, and nothing that was in flight concerns it. */
void ledger_forget_evidence(struct ledger *ledger);
void ledger_add_doubt(struct ledger *ledger);
/* The last doubt before that moment; 0: there was none. */
uint64_t ledger_doubt_before(const struct ledger *ledger, uint64_t moment);

uint64_t digest(const void *data, size_t len);
/* Without atime. */
uint64_t digest_fattr(const uint8_t *fattr);

#endif
