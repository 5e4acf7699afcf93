#pragma once
#include <stdint.h>

// Loaded into a command with LD_PRELOAD; sees what the command does to files under one folder, records it, and makes the
// Nth call of a kind fail. Linux only; elsewhere the library is empty.
//
// CAUSEWAY_FAULT_ROOT   the folder; nothing happens without it.
// CAUSEWAY_FAULT_TRACE  a file, outside the folder: every operation is appended, with its data (records below).
// CAUSEWAY_FAULT_COUNT  a file, outside the folder: struct causeway_fault_counts, kept up to date while the command runs.
// CAUSEWAY_FAULT_MODE   mode:N, N from 1. The call that fires is the Nth that the mode applies to:
//   kill         SIGKILL before the Nth mutating call
//   tear         SIGKILL after half of the Nth mutating call, where it is a write; after all of it, where it isn't
//   eio          the Nth mutating call fails with EIO;   eio-sticky: and all after it
//   enospc       the Nth call that takes room fails with ENOSPC;   enospc-sticky: and all after it
//   short        the Nth call that takes room writes half, where it is a write; all after it fail with ENOSPC
//   sync         the Nth fsync or fdatasync fails with EIO;   sync-sticky: and all after it
//   open-emfile, open-eacces   the Nth open fails
//   read-eio     the Nth read fails with EIO
// Mutating: open that makes or cuts a file, write, truncate, allocate, fsync, rename, link, unlink, mkdir, rmdir, chmod,
// chown, xattr. Takes room: those of them that may need a block. A file is under the folder by its name as the kernel
// knows it (/proc/self/fd), so that duplicated descriptors and renamed files count.

/// What the counter file holds; all little-endian, written with atomic adds.
struct causeway_fault_counts {
    uint64_t magic;
    uint64_t fired;
    uint64_t mutating;
    uint64_t taking_room;
    uint64_t syncs;
    uint64_t opens;
    uint64_t reads;
    /// By operation, as in the trace.
    uint64_t by_operation[32];
};

#define CAUSEWAY_FAULT_MAGIC 0x31544c5541464357ull

/// Operations in the trace.
enum causeway_fault_operation {
    CAUSEWAY_OP_CREATE = 1,    // path is made; flags: mode
    CAUSEWAY_OP_CUT = 2,       // open with O_TRUNC of a file that exists
    CAUSEWAY_OP_WRITE = 3,     // offset, data
    CAUSEWAY_OP_TRUNCATE = 4,  // offset: the new length
    CAUSEWAY_OP_SYNC = 5,      // of a file or a folder; flags: 1 for a folder
    CAUSEWAY_OP_RENAME = 6,    // path, path2
    CAUSEWAY_OP_LINK = 7,      // path, path2
    CAUSEWAY_OP_UNLINK = 8,
    CAUSEWAY_OP_MKDIR = 9,  // flags: mode
    CAUSEWAY_OP_RMDIR = 10,
    CAUSEWAY_OP_CHMOD = 11,  // flags: mode
    CAUSEWAY_OP_CHOWN = 12,
    CAUSEWAY_OP_XATTR = 13,
    CAUSEWAY_OP_ALLOCATE = 14,  // offset: the length that the file has at least afterwards
    CAUSEWAY_OP_OUTPUT = 15,    // write to standard output or error; path: its number; data
    CAUSEWAY_OP_READ = 16,      // counted, not traced
    CAUSEWAY_OP_OPEN = 17,      // counted, not traced
};

/// A record of the trace: this head, path, path2, data. Little endian, no padding.
struct causeway_fault_record {
    uint32_t magic;      // CAUSEWAY_FAULT_RECORD
    uint16_t operation;
    uint16_t failed;     // 1: the call failed (only a failed sync is recorded)
    uint64_t inode;      // of the file that the call works on; 0 where there is none
    uint64_t offset;
    uint64_t data_length;
    uint32_t flags;
    uint32_t path_length;
    uint32_t path2_length;
    uint32_t thread;
};

#define CAUSEWAY_FAULT_RECORD 0x52465743u
