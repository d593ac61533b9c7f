#include "track_rows.h"

#include "xdr/nfsacl3.h"

static struct body a_setattr(const struct file *file)
{
    return args_setattr_size(&file[FILE_F], 5);
}

static struct body a_write(const struct file *file)
{
    return args_write(&file[FILE_F], 7, "octets");
}

static struct body a_commit(const struct file *file)
{
    return args_commit(&file[FILE_F]);
}

static struct body a_setacl(const struct file *file)
{
    return args_setacl(&file[FILE_F], 4);
}

static struct body a_setattr_dir(const struct file *file)
{
    return args_setattr_guarded(&file[FILE_S], 0700, file[FILE_S].attr.ctime);
}

static struct body a_unchecked_new(const struct file *file)
{
    return args_create(&file[FILE_D], "n", NFS3_UNCHECKED, NULL);
}

static struct body a_unchecked_old(const struct file *file)
{
    return args_create(&file[FILE_D], "f", NFS3_UNCHECKED, NULL);
}

static struct body a_guarded(const struct file *file)
{
    return args_create(&file[FILE_D], "n", NFS3_GUARDED, NULL);
}

static struct body a_exclusive(const struct file *file)
{
    return args_create(&file[FILE_D], "n", NFS3_EXCLUSIVE, "verifier");
}

static struct body a_mkdir(const struct file *file)
{
    return args_mkdir(&file[FILE_D], "n");
}

static struct body a_symlink(const struct file *file)
{
    return args_symlink(&file[FILE_D], "n", "somewhere");
}

static struct body a_mknod(const struct file *file)
{
    return args_mknod(&file[FILE_D], "n");
}

static struct body a_remove(const struct file *file)
{
    return args_dirop(&file[FILE_D], "f");
}

static struct body a_rmdir(const struct file *file)
{
    return args_dirop(&file[FILE_D], "s");
}

static struct body a_rename_over(const struct file *file)
{
    return args_rename(&file[FILE_D], "f", &file[FILE_E], "g");
}

static struct body a_rename_new(const struct file *file)
{
    return args_rename(&file[FILE_D], "f", &file[FILE_D], "n");
}

static struct body a_rename_dir(const struct file *file)
{
    return args_rename(&file[FILE_D], "s", &file[FILE_E], "m");
}

static struct body a_link(const struct file *file)
{
    return args_link(&file[FILE_F], &file[FILE_E], "m");
}

#define F_BOTH (F_(F) | F_(F2)) /* one file under two handles */

#define OF_F(name, proc, arguments, shape_)                                                  \
    {                                                                                        \
        .title = (name), .procedure = (proc), .args = (arguments), .shape = (shape_),        \
        .object = FILE_F, .made = NOTHING, .objects = F_BOTH, .old = NO_NAME, .new = NO_NAME \
    }
#define NEW_IN_D(name, proc, arguments)                                                   \
    {                                                                                     \
        .title = (name), .procedure = (proc), .args = (arguments), .shape = SHAPE_CREATE, \
        .object = FILE_D, .made = FILE_N, .objects = F_(D) | F_(N), .names = N_(DN),      \
        .old = NO_NAME, .new = NAME_DN                                                    \
    }

const struct row track_rows[] = {
    OF_F("SETATTR", NFS3_SETATTR, a_setattr, SHAPE_WCC),
    OF_F("WRITE", NFS3_WRITE, a_write, SHAPE_WRITE),
    OF_F("COMMIT", NFS3_COMMIT, a_commit, SHAPE_COMMIT),
    OF_F("SETACL", STAGE_NFSACL + NFSACL3_SETACL, a_setacl, SHAPE_ACL),
    {.title = "SETATTR of a directory",
     .procedure = NFS3_SETATTR,
     .args = a_setattr_dir,
     .shape = SHAPE_WCC,
     .object = FILE_S,
     .made = NOTHING,
     .objects = F_(S),
     .old = NO_NAME,
     .new = NO_NAME},
    NEW_IN_D("CREATE UNCHECKED", NFS3_CREATE, a_unchecked_new),
    NEW_IN_D("CREATE GUARDED", NFS3_CREATE, a_guarded),
    NEW_IN_D("CREATE EXCLUSIVE", NFS3_CREATE, a_exclusive),
    NEW_IN_D("MKDIR", NFS3_MKDIR, a_mkdir),
    NEW_IN_D("SYMLINK", NFS3_SYMLINK, a_symlink),
    NEW_IN_D("MKNOD", NFS3_MKNOD, a_mknod),
    {.title = "CREATE over a file",
     .procedure = NFS3_CREATE,
     .args = a_unchecked_old,
     .shape = SHAPE_CREATE,
     .object = FILE_D,
     .made = FILE_F,
     .objects = F_(D) | F_BOTH,
     .names = N_(DF),
     .old = NO_NAME,
     .new = NAME_DF},
    {.title = "REMOVE",
     .procedure = NFS3_REMOVE,
     .args = a_remove,
     .shape = SHAPE_WCC,
     .object = FILE_D,
     .made = NOTHING,
     .objects = F_(D) | F_BOTH,
     .names = N_(DF),
     .old = NAME_DF,
     .new = NO_NAME},
    {.title = "RMDIR",
     .procedure = NFS3_RMDIR,
     .args = a_rmdir,
     .shape = SHAPE_WCC,
     .object = FILE_D,
     .made = NOTHING,
     .objects = F_(D) | F_(S),
     .names = N_(DS),
     .emptied = F_(S),
     .stale = F_(S),
     .old = NAME_DS,
     .new = NO_NAME},
    {.title = "RENAME over a file",
     .procedure = NFS3_RENAME,
     .args = a_rename_over,
     .shape = SHAPE_RENAME,
     .object = FILE_D,
     .object2 = FILE_E,
     .made = NOTHING,
     .objects = F_(D) | F_(E) | F_BOTH | F_(G),
     .names = N_(DF) | N_(EG),
     .stale = F_(G),
     .old = NAME_DF,
     .new = NAME_EG,
     .moves = true},
    {.title = "RENAME in a directory",
     .procedure = NFS3_RENAME,
     .args = a_rename_new,
     .shape = SHAPE_RENAME,
     .object = FILE_D,
     .object2 = FILE_D,
     .made = NOTHING,
     .objects = F_(D) | F_BOTH,
     .names = N_(DF) | N_(DN),
     .old = NAME_DF,
     .new = NAME_DN,
     .moves = true},
    {.title = "RENAME of a directory",
     .procedure = NFS3_RENAME,
     .args = a_rename_dir,
     .shape = SHAPE_RENAME,
     .object = FILE_D,
     .object2 = FILE_E,
     .made = NOTHING,
     .objects = F_(D) | F_(E) | F_(S),
     .names = N_(DS) | N_(EM) | N_(SUP),
     .old = NAME_DS,
     .new = NAME_EM,
     .moves = true},
    {.title = "LINK",
     .procedure = NFS3_LINK,
     .args = a_link,
     .shape = SHAPE_LINK,
     .object = FILE_F,
     .object2 = FILE_E,
     .made = NOTHING,
     .objects = F_(E) | F_BOTH,
     .names = N_(EM),
     .old = NO_NAME,
     .new = NAME_EM},
};

const unsigned track_rows_count = sizeof track_rows / sizeof track_rows[0];
