/*
 * stress: many clients in one small tree, each a process and a connection of its own; what they share to check each other.
 *
 *   counters   files that all clients append to: nobody may be told a size below what was acknowledged
 *   slots      names of one client's each, which it makes, links, moves, replaces and removes: whoever asks while their
 *              owner leaves them alone must be told exactly what they are. The first slot of each client is never removed:
 *              only it is asked for by its handle, since nfs-ganesha 4.3 leaves calls unanswered (for a minute's wait) that
 *              have the handle of a file which is just being removed
 */
#ifndef E2E_STRESS_H
#define E2E_STRESS_H

#include <stdatomic.h>

#include "e2e/session.h"

#define STRESS_CLIENTS_MAX 32u
#define STRESS_SLOTS_EACH  3u
#define STRESS_SLOTS       (STRESS_CLIENTS_MAX * STRESS_SLOTS_EACH)
#define STRESS_COUNTERS    4u
#define STRESS_DIRS        2u
#define STRESS_STRANGER    4242u /* a user who owns nothing */
#define STRESS_OPEN        0644u /* the modes of a slot's file: the stranger may read it, */
#define STRESS_CLOSED      0600u /* or may not */

struct stress_state {
    bool present, linked;
    unsigned dir;
    uint32_t mode;
    struct nfs_handle handle;
};

struct stress_slot {
    _Atomic uint64_t version; /* odd while the owner changes it */
    struct stress_state state;
};

struct stress_counter {
    struct nfs_handle handle;
    _Atomic uint64_t taken;        /* the next append begins here */
    _Atomic uint64_t acknowledged; /* a size that some reply has confirmed */
};

/* In memory that all processes have. */
struct stress {
    struct nfs_handle dir[STRESS_DIRS];
    struct stress_counter counter[STRESS_COUNTERS];
    struct stress_slot slot[STRESS_SLOTS];
    atomic_bool stop;
    _Atomic uint64_t calls, answers; /* made; and checked against what is known */
    unsigned clients;
    unsigned reads; /* of a hundred steps so many only ask */
};

/* Names in the directories; `text` has room for 16. */
void stress_counter_name(unsigned counter, char *text);
void stress_slot_name(unsigned slot, char *text);
void stress_link_name(unsigned slot, char *text); /* a second name, always in the first directory */

/* A client's process: works until `stop`. Its exit status. */
int stress_work(struct stress *stress, const struct session *session, unsigned number);

/* With everybody gone: the whole tree through the proxy is what the server says. */
void stress_compare(const struct stress *stress, struct nfs_client *tested,
                    struct nfs_client *direct);

#endif
