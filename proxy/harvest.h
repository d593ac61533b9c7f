/*
 * harvest: what a reply says goes into the cache; for calls that change nothing. The cache's fences
 * decide what is kept.
 */
#ifndef PROXY_HARVEST_H
#define PROXY_HARVEST_H

#include "proxy/procedure.h"
#include "proxy/reply.h"

procedure_harvest harvest_object;    /* attributes of args.object */
procedure_harvest harvest_directory; /* … sent as those of a directory */
procedure_harvest harvest_lookup;
procedure_harvest harvest_access;
procedure_harvest harvest_readdirplus;
procedure_harvest harvest_acl; /* of NFSACL: shown, but not kept */

/* What the cache is filled with: whose reply, and when it was asked for and came. */
struct cache_filler harvest_filler(const struct request *request, const struct reply *reply);

/* STALE and BADHANDLE say that args.object is no more. */
bool harvest_handle_gone(const struct reply *reply);

#endif
