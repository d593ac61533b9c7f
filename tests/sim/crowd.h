/*
 * crowd: the clients: what they call, when, of whom, and what becomes of their connections.
 *
 * A call ends with a tag behind its arguments (servers ignore what stands there), so that it is known again at the server,
 * whoever passed it on. When all calls are made and all is quiet, the clients ask for everything once more: what stayed
 * wrong in the cache shows then.
 */
#ifndef SIM_CROWD_H
#define SIM_CROWD_H

#include "sim/run.h"

void crowd_open(struct run *run);
void crowd_close(struct run *run);
/* No call will be made any more, and none waits. */
bool crowd_done(const struct run *run);

/* All connections end; the clients come again later. The proxy must be there, and in the middle of nothing. */
void crowd_disconnect_all(struct run *run);
void crowd_disconnect(struct run *run, unsigned client);

const struct fs_who *crowd_who(uint32_t who);
const char *crowd_name(unsigned number);

/* Finds out whose call it is that the proxy sends, and that it is octet for octet the client's but for the xid. */
void crowd_claim(struct run *run, struct sending *sending);

#endif
