/*
 * procedure: one row per procedure of NFSv3 (RFC 1813), MOUNT v3 and NFSACL v3.
 */
#include "proxy/procedure.h"

#include "proxy/answer.h"
#include "proxy/harvest.h"
#include "proxy/track.h"
#include "xdr/mount3.h"
#include "xdr/nfsacl3.h"
#include "xdr/rpc.h"

#define NAMES_NEW (CHANGES_OBJECT | CHANGES_NAME)

static const struct procedure nfs3[NFS3_PROCEDURES] = {
    [NFS3_NULL] = {.name = "NULL", .local = true},
    [NFS3_GETATTR] = {.name = "GETATTR",
                      .args = nfs3_args_object,
                      .res = nfs3_res_getattr,
                      .answer = answer_getattr,
                      .harvest = harvest_object},
    [NFS3_SETATTR] = {.name = "SETATTR",
                      .args = nfs3_args_setattr,
                      .res = nfs3_res_wcc,
                      .changes = CHANGES_OBJECT,
                      .absent = 2,
                      .results = track_wcc_results},
    [NFS3_LOOKUP] = {.name = "LOOKUP",
                     .args = nfs3_args_dirop,
                     .res = nfs3_res_lookup,
                     .answer = answer_lookup,
                     .harvest = harvest_lookup},
    [NFS3_ACCESS] = {.name = "ACCESS",
                     .args = nfs3_args_access,
                     .res = nfs3_res_access,
                     .answer = answer_access,
                     .harvest = harvest_access},
    [NFS3_READLINK] = {.name = "READLINK",
                       .args = nfs3_args_object,
                       .res = nfs3_res_object,
                       .harvest = harvest_object},
    [NFS3_READ] = {.name = "READ",
                   .args = nfs3_args_read,
                   .res = nfs3_res_object,
                   .harvest = harvest_object,
                   .sized = true},
    [NFS3_WRITE] = {.name = "WRITE",
                    .args = nfs3_args_write,
                    .res = nfs3_res_write,
                    .changes = CHANGES_OBJECT,
                    .absent = 2,
                    .results = track_wcc_results},
    [NFS3_CREATE] = {.name = "CREATE",
                     .args = nfs3_args_create,
                     .res = nfs3_res_create,
                     .changes = NAMES_NEW | CHANGES_EXISTING,
                     .absent = 2,
                     .results = track_create_results},
    [NFS3_MKDIR] = {.name = "MKDIR",
                    .args = nfs3_args_mkdir,
                    .res = nfs3_res_create,
                    .changes = NAMES_NEW,
                    .absent = 2,
                    .results = track_create_results},
    [NFS3_SYMLINK] = {.name = "SYMLINK",
                      .args = nfs3_args_symlink,
                      .res = nfs3_res_create,
                      .changes = NAMES_NEW,
                      .absent = 2,
                      .results = track_create_results},
    [NFS3_MKNOD] = {.name = "MKNOD",
                    .args = nfs3_args_mknod,
                    .res = nfs3_res_create,
                    .changes = NAMES_NEW,
                    .absent = 2,
                    .results = track_create_results},
    [NFS3_REMOVE] = {.name = "REMOVE",
                     .args = nfs3_args_dirop,
                     .res = nfs3_res_wcc,
                     .changes = CHANGES_OBJECT | CHANGES_NAME | CHANGES_BEHIND,
                     .absent = 2,
                     .results = track_remove_results},
    [NFS3_RMDIR] = {.name = "RMDIR",
                    .args = nfs3_args_dirop,
                    .res = nfs3_res_wcc,
                    .changes = CHANGES_OBJECT | CHANGES_NAME | CHANGES_BEHIND,
                    .absent = 2,
                    .results = track_remove_results},
    [NFS3_RENAME] = {.name = "RENAME",
                     .args = nfs3_args_rename,
                     .res = nfs3_res_rename,
                     .changes = CHANGES_OBJECT | CHANGES_NAME | CHANGES_BEHIND | CHANGES_PARENT |
                                CHANGES_OBJECT2 | CHANGES_NAME2 | CHANGES_BEHIND2,
                     .absent = 4,
                     .results = track_rename_results},
    [NFS3_LINK] = {.name = "LINK",
                   .args = nfs3_args_link,
                   .res = nfs3_res_link,
                   .changes = CHANGES_OBJECT | CHANGES_OBJECT2 | CHANGES_NAME2,
                   .absent = 3,
                   .results = track_link_results},
    [NFS3_READDIR] = {.name = "READDIR",
                      .args = nfs3_args_readdir,
                      .res = nfs3_res_readdir,
                      .harvest = harvest_directory,
                      .sized = true},
    [NFS3_READDIRPLUS] = {.name = "READDIRPLUS",
                          .args = nfs3_args_readdirplus,
                          .res = nfs3_res_readdirplus,
                          .harvest = harvest_readdirplus,
                          .sized = true},
    [NFS3_FSSTAT] = {.name = "FSSTAT",
                     .args = nfs3_args_object,
                     .res = nfs3_res_object,
                     .harvest = harvest_object},
    [NFS3_FSINFO] = {.name = "FSINFO",
                     .args = nfs3_args_object,
                     .res = nfs3_res_object,
                     .harvest = harvest_object},
    [NFS3_PATHCONF] = {.name = "PATHCONF",
                       .args = nfs3_args_object,
                       .res = nfs3_res_object,
                       .harvest = harvest_object},
    [NFS3_COMMIT] = {.name = "COMMIT",
                     .args = nfs3_args_commit,
                     .res = nfs3_res_commit,
                     .changes = CHANGES_OBJECT,
                     .absent = 2,
                     .results = track_wcc_results},
};

/* Forwarded whole, arguments and results undecoded: the server says what it thinks of a path. */
static const struct procedure mount3[MOUNT3_PROCEDURES] = {
    [MOUNT3_NULL] = {.name = "NULL", .local = true},
    [MOUNT3_MNT] = {.name = "MNT"},
    [MOUNT3_DUMP] = {.name = "DUMP"},
    [MOUNT3_UMNT] = {.name = "UMNT"},
    [MOUNT3_UMNTALL] = {.name = "UMNTALL"},
    [MOUNT3_EXPORT] = {.name = "EXPORT"},
};

static const struct procedure nfsacl3[NFSACL3_PROCEDURES] = {
    [NFSACL3_NULL] = {.name = "NULL", .local = true},
    [NFSACL3_GETACL] = {.name = "GETACL",
                        .args = nfsacl3_args_getacl,
                        .res = nfsacl3_res_getacl,
                        .harvest = harvest_acl},
    [NFSACL3_SETACL] = {.name = "SETACL",
                        .args = nfsacl3_args_setacl,
                        .res = nfsacl3_res_setacl,
                        .changes = CHANGES_OBJECT,
                        .absent = 1,
                        .results = track_acl_results},
};

const struct program programs[PROGRAMS] = {
    [PROGRAM_NFS] = {"nfs", RPC_PROGRAM_NFS, NFS3_VERSION, NFS3_PROCEDURES, nfs3, false},
    [PROGRAM_MOUNT] = {"mount", RPC_PROGRAM_MOUNT, MOUNT3_VERSION, MOUNT3_PROCEDURES, mount3, true},
    [PROGRAM_NFSACL] = {"nfsacl", RPC_PROGRAM_NFSACL, NFSACL3_VERSION, NFSACL3_PROCEDURES, nfsacl3,
                        false},
};

const struct program *program_find(uint32_t number)
{
    for (unsigned i = 0; i < PROGRAMS; i++) {
        if (programs[i].number == number)
            return &programs[i];
    }
    return NULL;
}
