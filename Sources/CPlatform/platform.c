#include "causeway_platform.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

int causeway_signal_is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN;
}

int causeway_lock_range(int descriptor, int64_t start, int64_t length) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    return fcntl(descriptor, F_SETLK, &lock);
}

int causeway_range_is_locked(int descriptor, int64_t start, int64_t length) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    if (fcntl(descriptor, F_GETLK, &lock) == -1) return -1;
    return lock.l_type != F_UNLCK;
}

int causeway_range_locker(int descriptor, int64_t start, int64_t length) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    if (fcntl(descriptor, F_GETLK, &lock) == -1) return -1;
    return lock.l_type == F_UNLCK ? 0 : lock.l_pid;
}

#ifdef __linux__
#include <sys/xattr.h>

ssize_t causeway_listxattr(const char *path, char *names, size_t size) { return listxattr(path, names, size); }
ssize_t causeway_getxattr(const char *path, const char *name, void *value, size_t size) {
    return getxattr(path, name, value, size);
}
ssize_t causeway_flistxattr(int descriptor, char *names, size_t size) { return flistxattr(descriptor, names, size); }
ssize_t causeway_fgetxattr(int descriptor, const char *name, void *value, size_t size) {
    return fgetxattr(descriptor, name, value, size);
}
int causeway_fsetxattr(int descriptor, const char *name, const void *value, size_t size) {
    return fsetxattr(descriptor, name, value, size, 0);
}
int causeway_fremovexattr(int descriptor, const char *name) { return fremovexattr(descriptor, name); }
#endif

#ifdef __linux__
#include <errno.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

int causeway_share_extents(int target, int source) { return ioctl(target, FICLONE, source); }

int causeway_can_share_extents(int source, const char *folder) {
    struct stat status;
    if (fstat(source, &status) == -1) return -1;
    int target = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (target == -1) return -1;
    // One block, or all of a shorter file, for which the length is 0.
    struct file_clone_range range = {
        .src_fd = source, .src_length = status.st_size < status.st_blksize ? 0 : (uint64_t)status.st_blksize};
    int result = ioctl(target, FICLONERANGE, &range);
    int number = errno;
    close(target);
    errno = number;
    return result == -1 ? -1 : 1;
}

ssize_t causeway_copy_range(int source, int64_t from, int target, int64_t to, size_t length) {
    off64_t read_at = from, write_at = to;
    return copy_file_range(source, &read_at, target, &write_at, length, 0);
}

void causeway_start_writing(int descriptor, int64_t offset, int64_t length) {
    // Without the flags that wait: what fails is reported by the next fsync.
    sync_file_range(descriptor, offset, length, SYNC_FILE_RANGE_WRITE);
}

int causeway_punch_hole(int descriptor, int64_t offset, int64_t length) {
    return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}
#else
#include <errno.h>

int causeway_share_extents(int target, int source) {
    (void)target, (void)source;
    errno = ENOTSUP;
    return -1;
}

int causeway_can_share_extents(int source, const char *folder) {
    (void)source, (void)folder;
    errno = ENOTSUP;
    return -1;
}

ssize_t causeway_copy_range(int source, int64_t from, int target, int64_t to, size_t length) {
    (void)source, (void)from, (void)target, (void)to, (void)length;
    errno = ENOTSUP;
    return -1;
}

void causeway_start_writing(int descriptor, int64_t offset, int64_t length) {
    (void)descriptor, (void)offset, (void)length;
}

int causeway_punch_hole(int descriptor, int64_t offset, int64_t length) {
#ifdef F_PUNCHHOLE
    fpunchhole_t hole = {.fp_offset = offset, .fp_length = length};
    return fcntl(descriptor, F_PUNCHHOLE, &hole);
#else
    (void)descriptor, (void)offset, (void)length;
    errno = ENOTSUP;
    return -1;
#endif
}
#endif
