#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// fcntl with F_SETLK, whose structure has the name of a function in Swift: a lock for writing on a range of a file.
int causeway_lock_range(int descriptor, int64_t start, int64_t length);
// fcntl with F_GETLK: 1 where another process has a lock there, 0 where none has.
int causeway_range_is_locked(int descriptor, int64_t start, int64_t length);

// Calls that the C library's module doesn't show to Swift. Each gives what the call gives: -1 and errno on failure.
// On Apple's systems the module shows them, and copyfile does the work.
#ifdef __linux__

// By path for a store that SQLite has open: closing a descriptor of it would drop SQLite's locks. Links are followed.
ssize_t causeway_listxattr(const char *path, char *names, size_t size);
ssize_t causeway_getxattr(const char *path, const char *name, void *value, size_t size);

ssize_t causeway_flistxattr(int descriptor, char *names, size_t size);
ssize_t causeway_fgetxattr(int descriptor, const char *name, void *value, size_t size);
int causeway_fsetxattr(int descriptor, const char *name, const void *value, size_t size);
int causeway_fremovexattr(int descriptor, const char *name);

#endif
