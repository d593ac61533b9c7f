/*
 * credential: AUTH_NONE and AUTH_SYS are understood, other flavors passed on, RPCSEC_GSS refused.
 */
#include "proxy/credential.h"

#include <assert.h>

static void become(struct credential *credential, uint32_t uid, uint32_t gid)
{
    credential->sys.uid = uid;
    credential->sys.gid = gid;
    credential->sys.gid_count = 0;
    credential->squashed = true;
}

/* As exports(5) has it: root_squash maps uid 0 to the anonymous user; a gid 0 of others is left
 * alone by servers, and mapped here too, with every supplementary gid 0, since the server can no
 * longer tell. */
static void squash_root(struct credential *credential, const struct settings_service *settings)
{
    struct rpc_auth_sys *sys = &credential->sys;
    if (sys->uid == 0) {
        become(credential, settings->anonuid, settings->anongid);
        return;
    }
    if (sys->gid == 0) {
        sys->gid = settings->anongid;
        credential->squashed = true;
    }
    for (uint32_t i = 0; i < sys->gid_count; i++) {
        if (sys->gids[i] == 0) {
            sys->gids[i] = settings->anongid;
            credential->squashed = true;
        }
    }
}

static void squash(struct credential *credential, const struct settings_service *settings)
{
    switch (settings->squash) {
    case SETTINGS_SQUASH_NONE:
        break;
    case SETTINGS_SQUASH_ROOT:
        squash_root(credential, settings);
        break;
    case SETTINGS_SQUASH_ALL:
        become(credential, settings->anonuid, settings->anongid);
        break;
    }
}

enum rpc_auth_stat credential_read(struct credential *credential, const struct rpc_call *call,
                                   const struct settings_service *settings)
{
    credential->squashed = false;
    credential->plain = false;
    credential->identity = (struct cache_credential){.flavor = CREDENTIAL_OPAQUE};
    if (call->cred_flavor == RPC_AUTH_GSS)
        return RPC_AUTH_TOOWEAK;
    if (call->cred_flavor == RPC_AUTH_NONE) {
        /* Servers map AUTH_NONE to their anonymous user: there is nobody to squash. */
        credential->plain = true;
        credential->identity.flavor = RPC_AUTH_NONE;
        return RPC_AUTH_OK;
    }
    if (call->cred_flavor != RPC_AUTH_SYS || !rpc_auth_sys_decode(call->cred, &credential->sys))
        return settings->squash == SETTINGS_SQUASH_NONE ? RPC_AUTH_OK : RPC_AUTH_BADCRED;

    squash(credential, settings);
    credential->identity.flavor = RPC_AUTH_SYS;
    credential->identity.uid = credential->sys.uid;
    credential->identity.gid = credential->sys.gid;
    credential->identity.gid_count = credential->sys.gid_count;
    credential->identity.gids = credential->sys.gids;
    credential->plain = true;
    return RPC_AUTH_OK;
}

struct bytes credential_encode(const struct credential *credential, uint8_t body[RPC_AUTH_BODY_MAX])
{
    struct writer w = writer_over(body, RPC_AUTH_BODY_MAX);
    rpc_auth_sys_encode(&w, &credential->sys);
    assert(writer_ok(&w)); /* it came in no larger */
    return (struct bytes){body, writer_len(&w)};
}
