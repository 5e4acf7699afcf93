#include "causeway_fault_shim.h"

// Names and attributes; as wrappers.c.
#ifdef __linux__

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "shim_state.h"

static int shimmed_rename(int from, const char *old, int to, const char *new, unsigned flags) {
    NEXT(int, renameat2, int, const char *, int, const char *, unsigned);
    char path[PATH_MAX], path2[PATH_MAX];
    int is_old = shim_path_at(from, old, path), is_new = shim_path_at(to, new, path2);
    if (!is_old && !is_new) return next(from, old, to, new, flags);
    struct shim_note note = {
        .operation = CAUSEWAY_OP_RENAME, .inode = shim_inode_at(path), .flags = flags, .path = path, .path2 = path2};
    return MUTATE(note, next(from, old, to, new, flags));
}
int rename(const char *old, const char *new) { return shimmed_rename(AT_FDCWD, old, AT_FDCWD, new, 0); }
int renameat(int from, const char *old, int to, const char *new) { return shimmed_rename(from, old, to, new, 0); }
int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    return shimmed_rename(from, old, to, new, flags);
}

int linkat(int from, const char *old, int to, const char *new, int flags) {
    NEXT(int, linkat, int, const char *, int, const char *, int);
    char path[PATH_MAX], path2[PATH_MAX];
    if (!shim_path_at(to, new, path2)) return next(from, old, to, new, flags);
    if (!shim_path_at(from, old, path)) snprintf(path, sizeof path, "%s", old);
    struct shim_note note = {
        .operation = CAUSEWAY_OP_LINK, .inode = shim_inode_at(path), .path = path, .path2 = path2};
    return MUTATE(note, next(from, old, to, new, flags));
}
int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

int unlinkat(int folder, const char *name, int flags) {
    NEXT(int, unlinkat, int, const char *, int);
    char path[PATH_MAX];
    // A name that isn't there changes nothing.
    uint64_t inode;
    if (!shim_path_at(folder, name, path) || !(inode = shim_inode_at(path))) return next(folder, name, flags);
    struct shim_note note = {
        .operation = flags & AT_REMOVEDIR ? CAUSEWAY_OP_RMDIR : CAUSEWAY_OP_UNLINK, .inode = inode, .path = path};
    return MUTATE(note, next(folder, name, flags));
}
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

int mkdirat(int folder, const char *name, mode_t mode) {
    NEXT(int, mkdirat, int, const char *, mode_t);
    char path[PATH_MAX];
    if (!shim_path_at(folder, name, path) || shim_inode_at(path)) return next(folder, name, mode);
    struct shim_note note = {.operation = CAUSEWAY_OP_MKDIR, .flags = mode, .path = path};
    return MUTATE(note, ({
        int made = next(folder, name, mode);
        note.inode = shim_inode_at(path);
        made;
    }));
}
int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

int fchmod(int descriptor, mode_t mode) {
    NEXT(int, fchmod, int, mode_t);
    char path[PATH_MAX];
    if (!shim_path_of(descriptor, path)) return next(descriptor, mode);
    struct shim_note note = {
        .operation = CAUSEWAY_OP_CHMOD, .inode = shim_inode(descriptor, NULL), .flags = mode, .path = path};
    return MUTATE(note, next(descriptor, mode));
}
int chmod(const char *name, mode_t mode) {
    NEXT(int, chmod, const char *, mode_t);
    char path[PATH_MAX];
    if (!shim_path_at(AT_FDCWD, name, path)) return next(name, mode);
    struct shim_note note = {
        .operation = CAUSEWAY_OP_CHMOD, .inode = shim_inode_at(path), .flags = mode, .path = path};
    return MUTATE(note, next(name, mode));
}
int fchown(int descriptor, uid_t user, gid_t group) {
    NEXT(int, fchown, int, uid_t, gid_t);
    char path[PATH_MAX];
    if (!shim_path_of(descriptor, path)) return next(descriptor, user, group);
    struct shim_note note = {
        .operation = CAUSEWAY_OP_CHOWN, .inode = shim_inode(descriptor, NULL), .path = path};
    return MUTATE(note, next(descriptor, user, group));
}
int fsetxattr(int descriptor, const char *name, const void *value, size_t size, int flags) {
    NEXT(int, fsetxattr, int, const char *, const void *, size_t, int);
    char path[PATH_MAX];
    if (!shim_path_of(descriptor, path)) return next(descriptor, name, value, size, flags);
    struct shim_note note = {
        .operation = CAUSEWAY_OP_XATTR, .inode = shim_inode(descriptor, NULL), .path = path, .path2 = name};
    return MUTATE(note, next(descriptor, name, value, size, flags));
}
int fremovexattr(int descriptor, const char *name) {
    NEXT(int, fremovexattr, int, const char *);
    char path[PATH_MAX];
    if (!shim_path_of(descriptor, path)) return next(descriptor, name);
    struct shim_note note = {
        .operation = CAUSEWAY_OP_XATTR, .inode = shim_inode(descriptor, NULL), .path = path, .path2 = name};
    return MUTATE(note, next(descriptor, name));
}
#endif
