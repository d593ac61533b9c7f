/*
 * verify: a share of the hits is also asked of the server, after the client has its answer, and compared.
 *
 *   verify_look    before a hit is looked up: the event clock, and what the answer will stand on
 *   verify_take    it was a hit, and its turn: call and answer are copied
 *   verify_send    the client has its answer: the same call goes to the server, as the same caller
 *
 * When the reply comes, it is compared only where nothing that came through the proxy can have changed what the answer
 * stood on since `verify_look` (cache_clean_since). An equal answer leaves no trace in the cache. After another one what
 * was served goes, so that the next call asks.
 *
 *   equal       in all but atime; attributes that the server does not send are equal
 *   different   attributes, a LOOKUP's handle, ACCESS's bits; and where the status says so: STALE and BADHANDLE; NOENT
 *               where something was found; OK where NOENT was served; NOTDIR and ACCES of a LOOKUP, which the cache only
 *               serves to whom the server let search that directory
 *   unclear     any other error (IO, JUKEBOX, SERVERFAULT, a GETATTR's ACCES…) and an RPC error: they speak of the call,
 *               and not of the object
 *
 * A difference is a violation in `exclusive`, unless each part that differs may lag there too (struct cache_part); else
 * the answer was outdated.
 */
#ifndef PROXY_VERIFY_H
#define PROXY_VERIFY_H

#include "proxy/request.h"

/* Of one service on one worker; beyond that hits are not checked. */
#define VERIFY_INFLIGHT_MAX 1024u
#define VERIFY_RECORD_MAX \
    4096u /* octets of a call; what is larger carries more than it has to say */

struct verify_before {
    bool turn; /* a hit now would be checked; only then is the rest set */
    cache_stamp clock;
    struct cache_basis basis;
};

struct verification;

static inline bool verify_on(const struct service *service)
{
    return service->verify.share != 0;
}

void verify_look(const struct request *request, struct verify_before *before);
/* NULL where it is not this hit's turn, and where it can't be checked, which is counted. What is returned must be sent. */
struct verification *verify_take(const struct request *request, const struct verify_before *before,
                                 struct bytes results);
void verify_send(struct verification *verification);

#endif
