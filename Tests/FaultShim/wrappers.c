#include "causeway_fault_shim.h"

// The calls that the shim stands in front of. Each looks whether the file is under the root, counts the call, makes it
// or lets it fail, and records it.
#ifdef __linux__

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shim_state.h"

// Opening

static int real_open(int folder, const char *name, int flags, mode_t mode) {
    NEXT(int, openat, int, const char *, int, ...);
    return next(folder, name, flags, mode);
}

static int shimmed_open(int folder, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    if (!shim_path_at(folder, name, path)) return real_open(folder, name, flags, mode);
    int error = shim_open_error();
    if (error) return shim_fail(error);
    uint64_t before = shim_inode_at(path);
    int makes = (flags & O_CREAT) && !before;
    int cuts = (flags & O_TRUNC) && before;
    if (!makes && !cuts) return real_open(folder, name, flags, mode);
    shim_lock();
    struct shim_note note = {
        .operation = makes ? CAUSEWAY_OP_CREATE : CAUSEWAY_OP_CUT, .flags = mode, .path = path, .inode = before};
    enum shim_verdict verdict = shim_mutation(note.operation);
    int descriptor;
    if (verdict == SHIM_EIO) descriptor = shim_fail(EIO);
    else if (verdict == SHIM_ENOSPC || verdict == SHIM_SHORT) descriptor = shim_fail(ENOSPC);
    else descriptor = real_open(folder, name, flags, mode);
    if (descriptor >= 0) {
        note.inode = shim_inode(descriptor, NULL);
        struct stat status;
        if (fstat(descriptor, &status) == 0) note.flags = status.st_mode & 07777;
        shim_record(&note);
    }
    shim_die_if(verdict);
    shim_unlock();
    return descriptor;
}

#define OPEN_MODE(flags)                                        \
    mode_t mode = 0;                                            \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {                    \
        va_list list;                                           \
        va_start(list, flags);                                  \
        mode = va_arg(list, mode_t);                            \
        va_end(list);                                           \
    }

int open(const char *name, int flags, ...) {
    OPEN_MODE(flags)
    return shimmed_open(AT_FDCWD, name, flags, mode);
}
int open64(const char *name, int flags, ...) {
    OPEN_MODE(flags)
    return shimmed_open(AT_FDCWD, name, flags, mode);
}
int openat(int folder, const char *name, int flags, ...) {
    OPEN_MODE(flags)
    return shimmed_open(folder, name, flags, mode);
}
int openat64(int folder, const char *name, int flags, ...) {
    OPEN_MODE(flags)
    return shimmed_open(folder, name, flags, mode);
}
int __open_2(const char *name, int flags) { return shimmed_open(AT_FDCWD, name, flags, 0); }
int __open64_2(const char *name, int flags) { return shimmed_open(AT_FDCWD, name, flags, 0); }
int __openat_2(int folder, const char *name, int flags) { return shimmed_open(folder, name, flags, 0); }
int __openat64_2(int folder, const char *name, int flags) { return shimmed_open(folder, name, flags, 0); }
int creat(const char *name, mode_t mode) {
    return shimmed_open(AT_FDCWD, name, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

// Writing

static ssize_t real_write(int descriptor, const void *data, size_t length) {
    NEXT(ssize_t, write, int, const void *, size_t);
    return next(descriptor, data, length);
}
static ssize_t real_pwrite(int descriptor, const void *data, size_t length, off_t offset) {
    NEXT(ssize_t, pwrite64, int, const void *, size_t, off_t);
    return next(descriptor, data, length, offset);
}

/// `offset` < 0: where the descriptor stands.
static ssize_t shimmed_write(int descriptor, const void *data, size_t length, off_t offset) {
    char path[PATH_MAX];
    int is_output = (descriptor == 1 || descriptor == 2) && offset < 0 && shim_is_tracing();
    if (!shim_path_of(descriptor, path)) {
        ssize_t done = offset < 0 ? real_write(descriptor, data, length)
                                  : real_pwrite(descriptor, data, length, offset);
        if (is_output && done > 0) {
            struct shim_note note = {
                .operation = CAUSEWAY_OP_OUTPUT, .path = descriptor == 1 ? "1" : "2", .data = data,
                .length = (size_t)done};
            shim_lock();
            shim_record(&note);
            shim_unlock();
        }
        return done;
    }
    shim_lock();
    enum shim_verdict verdict = shim_mutation(CAUSEWAY_OP_WRITE);
    ssize_t done;
    if (verdict == SHIM_EIO || verdict == SHIM_ENOSPC) {
        done = shim_fail(verdict == SHIM_EIO ? EIO : ENOSPC);
    } else {
        size_t part = verdict == SHIM_PASS ? length : length / 2;
        struct stat status;
        int flags = fcntl(descriptor, F_GETFL);
        uint64_t start = (uint64_t)offset;
        if (offset < 0) {
            start = (flags & O_APPEND) && fstat(descriptor, &status) == 0 ? (uint64_t)status.st_size
                                                                         : (uint64_t)lseek(descriptor, 0, SEEK_CUR);
        }
        done = offset < 0 ? real_write(descriptor, data, part) : real_pwrite(descriptor, data, part, offset);
        if (done > 0) {
            struct shim_note note = {
                .operation = CAUSEWAY_OP_WRITE, .inode = shim_inode(descriptor, NULL), .offset = start, .path = path,
                .data = data, .length = (size_t)done};
            shim_record(&note);
        } else if (part == 0 && length > 0) {
            done = shim_fail(ENOSPC);
        }
    }
    shim_die_if(verdict);
    shim_unlock();
    return done;
}

ssize_t write(int descriptor, const void *data, size_t length) {
    return shimmed_write(descriptor, data, length, -1);
}
ssize_t pwrite(int descriptor, const void *data, size_t length, off_t offset) {
    return offset < 0 ? shim_fail(EINVAL) : shimmed_write(descriptor, data, length, offset);
}
ssize_t pwrite64(int descriptor, const void *data, size_t length, off_t offset) {
    return offset < 0 ? shim_fail(EINVAL) : shimmed_write(descriptor, data, length, offset);
}

/// Several parts are written one by one: a call that writes less than it was asked to is allowed to.
static ssize_t write_parts(int descriptor, const struct iovec *parts, int count, off_t offset) {
    ssize_t total = 0;
    for (int i = 0; i < count; i++) {
        if (parts[i].iov_len == 0) continue;
        ssize_t done = shimmed_write(descriptor, parts[i].iov_base, parts[i].iov_len, offset);
        if (done < 0) return total > 0 ? total : -1;
        total += done;
        if (offset >= 0) offset += done;
        if ((size_t)done < parts[i].iov_len) return total;
    }
    return total;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    char path[PATH_MAX];
    if (shim_path_of(descriptor, path)) return write_parts(descriptor, parts, count, -1);
    NEXT(ssize_t, writev, int, const struct iovec *, int);
    return next(descriptor, parts, count);
}
ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset) {
    char path[PATH_MAX];
    if (shim_path_of(descriptor, path)) return write_parts(descriptor, parts, count, offset);
    NEXT(ssize_t, pwritev64, int, const struct iovec *, int, off_t);
    return next(descriptor, parts, count, offset);
}
ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off_t offset) {
    return pwritev(descriptor, parts, count, offset);
}

/// Copies inside the kernel carry no data that a trace could show: refused, so that the caller reads and writes.
ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t length, unsigned flags) {
    char path[PATH_MAX];
    if (shim_path_of(to, path)) return shim_fail(ENOSYS);
    NEXT(ssize_t, copy_file_range, int, off64_t *, int, off64_t *, size_t, unsigned);
    return next(from, from_offset, to, to_offset, length, flags);
}
ssize_t sendfile(int to, int from, off_t *offset, size_t length) {
    char path[PATH_MAX];
    if (shim_path_of(to, path)) return shim_fail(ENOSYS);
    NEXT(ssize_t, sendfile64, int, int, off_t *, size_t);
    return next(to, from, offset, length);
}
ssize_t sendfile64(int to, int from, off64_t *offset, size_t length) { return sendfile(to, from, offset, length); }

// Length and durability

static int shimmed_truncate(int descriptor, off_t length) {
    NEXT(int, ftruncate64, int, off_t);
    char path[PATH_MAX];
    if (!shim_path_of(descriptor, path)) return next(descriptor, length);
    struct shim_note note = {
        .operation = CAUSEWAY_OP_TRUNCATE, .inode = shim_inode(descriptor, NULL), .offset = (uint64_t)length,
        .path = path};
    return MUTATE(note, next(descriptor, length));
}
int ftruncate(int descriptor, off_t length) { return shimmed_truncate(descriptor, length); }
int ftruncate64(int descriptor, off64_t length) { return shimmed_truncate(descriptor, length); }

static int allocated(int descriptor, off_t offset, off_t length, int (*call)(int, off_t, off_t)) {
    char path[PATH_MAX];
    if (!shim_path_of(descriptor, path)) return call(descriptor, offset, length);
    struct shim_note note = {
        .operation = CAUSEWAY_OP_ALLOCATE, .inode = shim_inode(descriptor, NULL),
        .offset = (uint64_t)offset + (uint64_t)length, .path = path};
    // Gives the error instead of setting errno.
    int outcome = MUTATE(note, ({
        int error = call(descriptor, offset, length);
        error ? shim_fail(error) : 0;
    }));
    return outcome == 0 ? 0 : errno;
}
static int real_posix_fallocate(int descriptor, off_t offset, off_t length) {
    NEXT(int, posix_fallocate64, int, off_t, off_t);
    return next(descriptor, offset, length);
}
int posix_fallocate(int descriptor, off_t offset, off_t length) {
    return allocated(descriptor, offset, length, real_posix_fallocate);
}
int posix_fallocate64(int descriptor, off64_t offset, off64_t length) {
    return allocated(descriptor, offset, length, real_posix_fallocate);
}

static int shimmed_sync(int descriptor, int (*call)(int)) {
    char path[PATH_MAX];
    if (!shim_path_of(descriptor, path)) return call(descriptor);
    int is_folder = 0;
    struct shim_note note = {.operation = CAUSEWAY_OP_SYNC, .path = path};
    note.inode = shim_inode(descriptor, &is_folder);
    note.flags = (uint32_t)is_folder;
    return MUTATE(note, call(descriptor));
}
int fsync(int descriptor) {
    NEXT(int, fsync, int);
    return shimmed_sync(descriptor, next);
}
int fdatasync(int descriptor) {
    NEXT(int, fdatasync, int);
    return shimmed_sync(descriptor, next);
}

// Reading

static int read_error(int descriptor) {
    char path[PATH_MAX];
    return shim_path_of(descriptor, path) ? shim_read_error() : 0;
}
ssize_t read(int descriptor, void *data, size_t length) {
    NEXT(ssize_t, read, int, void *, size_t);
    int error = read_error(descriptor);
    return error ? shim_fail(error) : next(descriptor, data, length);
}
static ssize_t shimmed_pread(int descriptor, void *data, size_t length, off_t offset) {
    NEXT(ssize_t, pread64, int, void *, size_t, off_t);
    int error = read_error(descriptor);
    return error ? shim_fail(error) : next(descriptor, data, length, offset);
}
ssize_t pread(int descriptor, void *data, size_t length, off_t offset) {
    return shimmed_pread(descriptor, data, length, offset);
}
ssize_t pread64(int descriptor, void *data, size_t length, off64_t offset) {
    return shimmed_pread(descriptor, data, length, offset);
}
ssize_t __read_chk(int descriptor, void *data, size_t length, size_t room) {
    if (length > room) abort();
    return read(descriptor, data, length);
}
ssize_t __pread_chk(int descriptor, void *data, size_t length, off_t offset, size_t room) {
    if (length > room) abort();
    return shimmed_pread(descriptor, data, length, offset);
}
ssize_t __pread64_chk(int descriptor, void *data, size_t length, off64_t offset, size_t room) {
    if (length > room) abort();
    return shimmed_pread(descriptor, data, length, offset);
}
#endif
