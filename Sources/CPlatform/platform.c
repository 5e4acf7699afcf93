#include "causeway_platform.h"

#include <fcntl.h>
#include <unistd.h>

int causeway_lock_range(int descriptor, int64_t start, int64_t length) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    return fcntl(descriptor, F_SETLK, &lock);
}

int causeway_range_is_locked(int descriptor, int64_t start, int64_t length) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    if (fcntl(descriptor, F_GETLK, &lock) == -1) return -1;
    return lock.l_type != F_UNLCK;
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
