/*
 * facts: what the octets of a reply say, one by one.
 */
#ifndef SIM_FACTS_H
#define SIM_FACTS_H

#include "sim/ledger.h"
#include "xdr/nfs3.h"

#define FACTS_MAX 128u

enum fact_kind {
    FACT_ATTR,   /* attributes of a handle */
    FACT_NAME,   /* a name of a directory leads to a handle, or nowhere */
    FACT_ACCESS, /* somebody is granted these bits of those that were asked for */
    FACT_SEARCH, /* somebody could search a directory */
    FACT_GONE,   /* a handle is stale */
};

struct fact {
    enum fact_kind kind;
    uint32_t handle; /* number in the ledger; LEDGER_NO_HANDLE: one that it does not know */
    uint32_t name; /* NAME; and ATTR of an entry that came without a handle: its name in `handle` */
    uint32_t child; /* NAME: the child's handle; LEDGER_NO_HANDLE with `absent`: none */
    bool absent;
    bool by_name;    /* ATTR of an entry that came without a handle */
    bool shown_only; /* the proxy may not answer with it */
    uint32_t asked, granted;
    const uint8_t *fattr; /* stands in the reply */
};

struct facts {
    bool accepted; /* the RPC layer took the call */
    bool decoded;
    uint32_t status;
    const uint8_t *verf; /* of WRITE and COMMIT */
    unsigned count;
    struct fact fact[FACTS_MAX];
};

/* A call as it is read: `args` stand in its octets. */
struct call_read {
    uint32_t program, procedure;
    struct nfs3_args args;
};

void facts_read_call(struct call_read *read, struct bytes call);
/* A call that may change something. */
bool facts_mutates(const struct call_read *read);
void facts_of(struct facts *facts, struct ledger *ledger, const struct call_read *call,
              struct bytes reply);

/* NFSACL's procedures as one number with those of NFS. */
#define FACTS_NFSACL 100u
#define FACTS_GETACL (FACTS_NFSACL + 1)
#define FACTS_SETACL (FACTS_NFSACL + 2)

#endif
