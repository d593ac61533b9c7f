/*
 * answer: results of hits, straight from the cache into the reply.
 */
#ifndef PROXY_ANSWER_H
#define PROXY_ANSWER_H

#include "proxy/procedure.h"

/* Room that the largest answer needs after the reply's header: LOOKUP, with a handle and two sets
 * of attributes. */
#define ANSWER_MAX (4 + 4 + NFS3_FH_MAX + 2 * (4 + NFS3_FATTR_LEN))

procedure_answer answer_getattr;
procedure_answer answer_lookup;
procedure_answer answer_access;

#endif
