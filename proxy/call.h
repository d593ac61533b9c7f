/*
 * call: one call of a client, from its record to its reply.
 *
 * A hit is answered where it stands: no struct call is made for it. Every other call becomes one
 * and goes through these states; call.c has the table of moves that are allowed.
 *
 *   RECEIVED   decoded; fences' keys are known
 *   RESOLVING  the server is being asked which file a directory is
 *   QUEUED     another mutation of the same name is under way
 *   RESOLVING  the server is being asked which object a name leads to, and which file that is
 *   FORWARDED  the server has it, or will
 *   CHECKING   its reply is here; the server is being asked what that left open
 *   ENDED      the client has its reply, or has gone
 *
 * Every call that was accepted ends exactly once. A client that goes does not end its calls: what
 * the server may execute is tracked until its reply has come.
 */
#ifndef PROXY_CALL_H
#define PROXY_CALL_H

#include "proxy/client.h"
#include "proxy/service.h"
#include "xdr/record.h"

/*
 * Takes a record that a client sent. What `record` does not own stands only during this call. 0, or
 * -EPROTO when it is no RPC call, or -ENOMEM: the connection has to be closed.
 */
int call_receive(struct service *service, struct client *client, struct record *record);

/* The client takes no replies any more. */
void call_client_gone(struct client *client);

/*
 * A mutation waits for the turn of its name until another one, maybe on another worker, has ended:
 * engine.wake is called on that worker's thread, and sees to it that call_granted is called on the
 * thread of the call's own engine.
 */
struct call;
void call_granted(struct call *call);
struct list *call_mail(struct call *call); /* a list node for the use of engine.wake */
struct call *call_of_mail(struct list *node);

#endif
