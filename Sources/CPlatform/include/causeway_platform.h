#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// fcntl with F_SETLK, whose structure has the name of a function in Swift: a lock for writing on a range of a file.
int causeway_lock_range(int descriptor, int64_t start, int64_t length);
// fcntl with F_GETLK: 1 where another process has a lock there, 0 where none has.
int causeway_range_is_locked(int descriptor, int64_t start, int64_t length);
// The same: the number of a process that has a lock there, 0 where none has.
int causeway_range_locker(int descriptor, int64_t start, int64_t length);
// Whether a signal is ignored.
int causeway_signal_is_ignored(int number);

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

// Copying a file's content inside the system. Where a system has no such call, these give -1 and ENOTSUP.

// Makes an empty file share all extents of another (ioctl FICLONE); on Apple's systems `fclonefileat` does it by name.
int causeway_share_extents(int target, int source);
// Whether new files in a folder could share extents with a file: 1, or -1 and errno. Asks with a file that has no name and
// is gone at once (O_TMPFILE, ioctl FICLONERANGE).
int causeway_can_share_extents(int source, const char *folder);
// copy_file_range: bytes copied, 0 at the source's end.
ssize_t causeway_copy_range(int source, int64_t from, int target, int64_t to, size_t length);
// sync_file_range: asks the system to begin writing a range to the medium; nothing where there is no such call.
void causeway_start_writing(int descriptor, int64_t offset, int64_t length);
// Gives back the space of a range, which then reads as zeros; the file's length stays.
int causeway_punch_hole(int descriptor, int64_t offset, int64_t length);
