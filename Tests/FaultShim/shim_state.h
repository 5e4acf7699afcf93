#pragma once
#ifdef __linux__
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include "causeway_fault_shim.h"

/// What becomes of a mutating call.
enum shim_verdict { SHIM_PASS, SHIM_TEAR, SHIM_SHORT, SHIM_EIO, SHIM_ENOSPC };

struct shim_note {
    enum causeway_fault_operation operation;
    int failed;
    uint64_t inode;
    uint64_t offset;
    uint32_t flags;
    const char *path;
    const char *path2;
    const void *data;
    size_t length;
};

#define SHIM_HIDDEN __attribute__((visibility("hidden")))

SHIM_HIDDEN int shim_is_tracing(void);
/// The descriptor's name, if it is under the root; `path` holds PATH_MAX bytes.
SHIM_HIDDEN int shim_path_of(int descriptor, char *path);
/// A name's absolute form with links in the folders resolved, if it is under the root.
SHIM_HIDDEN int shim_path_at(int folder, const char *name, char *path);
SHIM_HIDDEN void shim_lock(void);
SHIM_HIDDEN void shim_unlock(void);
/// Counts a mutating call and says what becomes of it; ends the process in mode kill.
SHIM_HIDDEN enum shim_verdict shim_mutation(enum causeway_fault_operation operation);
SHIM_HIDDEN void shim_die_if(enum shim_verdict verdict);
/// Counts an open or a read; the error that it shall have, or 0.
SHIM_HIDDEN int shim_open_error(void);
SHIM_HIDDEN int shim_read_error(void);
SHIM_HIDDEN void shim_record(const struct shim_note *note);
SHIM_HIDDEN uint64_t shim_inode(int descriptor, int *is_folder);
SHIM_HIDDEN uint64_t shim_inode_at(const char *path);

/// The C library's own function of that name, looked up once.
#define NEXT(result, name, ...)      \
    static result (*next)(__VA_ARGS__); \
    if (!next) next = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

static inline int shim_fail(int error) {
    errno = error;
    return -1;
}

/// Makes a call that isn't a write as the verdict says, and records it; gives its result. Only a sync is recorded where
/// it fails: what it should have made durable may be lost.
#define MUTATE(note, call)                                                                         \
    ({                                                                                             \
        shim_lock();                                                                               \
        enum shim_verdict verdict = shim_mutation((note).operation);                               \
        int outcome;                                                                               \
        if (verdict == SHIM_EIO) outcome = shim_fail(EIO);                                         \
        else if (verdict == SHIM_ENOSPC || verdict == SHIM_SHORT) outcome = shim_fail(ENOSPC);     \
        else outcome = (call);                                                                     \
        (note).failed = outcome != 0;                                                              \
        if (outcome == 0 || (note).operation == CAUSEWAY_OP_SYNC) shim_record(&(note));            \
        shim_die_if(verdict);                                                                      \
        shim_unlock();                                                                             \
        outcome;                                                                                   \
    })
#endif
