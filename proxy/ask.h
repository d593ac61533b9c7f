/*
 * ask: questions that the proxy itself asks the server, on behalf of a mutation and with its caller's credential.
 *
 * A LOOKUP or a GETATTR like any client's: it waits for the server as long as it takes, and what the reply says is
 * harvested like any other.
 */
#ifndef PROXY_ASK_H
#define PROXY_ASK_H

#include "proxy/reply.h"
#include "proxy/track.h"

/* `reply` NULL: the proxy stops, there will be none. Exactly once. */
typedef void ask_answered(struct call *call, const struct track_question *question,
                          const struct reply *reply);

struct ask;

/* The question, until it is answered; NULL where it can't be asked: without memory, or where service_submit fails. `request`
 * and what the question points to stay until the answer. */
struct ask *ask_server(struct call *call, const struct request *request,
                       const struct track_question *question, ask_answered *answered);
/* Takes back a question that has never been sent, since no link was up: there will be no answer. False: there will. */
bool ask_withdraw(struct ask *ask);

#endif
