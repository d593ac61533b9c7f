/*
 * violation: a hit that differs from what the server says where the contract promises that it does not; and that in
 * words, for the log.
 */
#ifndef PROXY_VIOLATION_H
#define PROXY_VIOLATION_H

#include <stddef.h>

#include "proxy/procedure.h"

/* Views of the check's own: they stand only while it is told. */
struct violation {
    const char *service;
    const struct procedure *procedure;
    const struct nfs3_args *args;
    const struct nfs3_res *served, *told; /* by the cache, by the server */
};

/* All of them, with two handles and every field different, fit in this. */
#define VIOLATION_TEXT_MAX 2560u

/*
 * One line: service, procedure, handle, name, then each field (by its name in RFC 1813) that differs, with both values.
 * Cut off where it does not fit.
 */
void violation_text(const struct violation *violation, char *text, size_t size);

#endif
