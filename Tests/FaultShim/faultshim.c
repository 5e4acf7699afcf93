#include "causeway_fault_shim.h"

// What it does: causeway_fault_shim.h. This file finds the C library's calls, decides and records; the calls themselves
// are in wrappers.c.
#ifdef __linux__

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shim_state.h"

enum mode {
    MODE_NONE, MODE_KILL, MODE_TEAR, MODE_EIO, MODE_ENOSPC, MODE_SHORT, MODE_SYNC, MODE_EMFILE, MODE_EACCES, MODE_READ,
};

static char root[PATH_MAX];
static size_t root_length;
static int trace_descriptor = -1;
static enum mode mode;
static int is_sticky;
static uint64_t target;
static struct causeway_fault_counts own_counts;
static struct causeway_fault_counts *counts = &own_counts;
// Operation and record are one: the trace is in the order in which the kernel saw the calls.
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

static const struct {
    const char *name;
    enum mode mode;
    int sticky;
} modes[] = {
    {"kill", MODE_KILL, 0},          {"tear", MODE_TEAR, 0},
    {"eio", MODE_EIO, 0},            {"eio-sticky", MODE_EIO, 1},
    {"enospc", MODE_ENOSPC, 0},      {"enospc-sticky", MODE_ENOSPC, 1},
    {"short", MODE_SHORT, 1},        {"sync", MODE_SYNC, 0},
    {"sync-sticky", MODE_SYNC, 1},   {"open-emfile", MODE_EMFILE, 0},
    {"open-eacces", MODE_EACCES, 0}, {"read-eio", MODE_READ, 0},
};

static void complain(const char *text) {
    (void)!syscall(SYS_write, 2, text, strlen(text));
    _exit(99);
}

static void read_mode(const char *text) {
    const char *colon = strrchr(text, ':');
    if (!colon) complain("CAUSEWAY_FAULT_MODE: mode:N is expected\n");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strlen(modes[i].name) == (size_t)(colon - text) && !strncmp(modes[i].name, text, (size_t)(colon - text))) {
            mode = modes[i].mode;
            is_sticky = modes[i].sticky;
            target = strtoull(colon + 1, NULL, 10);
            return;
        }
    }
    complain("CAUSEWAY_FAULT_MODE: unknown mode\n");
}

static void map_counts(const char *path) {
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0 || syscall(SYS_ftruncate, descriptor, sizeof own_counts) != 0)
        complain("CAUSEWAY_FAULT_COUNT: can't be written\n");
    void *memory = mmap(NULL, sizeof own_counts, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) complain("CAUSEWAY_FAULT_COUNT: can't be mapped\n");
    counts = memory;
    counts->magic = CAUSEWAY_FAULT_MAGIC;
    syscall(SYS_close, descriptor);
}

__attribute__((constructor)) static void begin(void) {
    const char *folder = getenv("CAUSEWAY_FAULT_ROOT");
    if (!folder || !realpath(folder, root)) return;
    const char *trace = getenv("CAUSEWAY_FAULT_TRACE");
    const char *count = getenv("CAUSEWAY_FAULT_COUNT");
    const char *fault = getenv("CAUSEWAY_FAULT_MODE");
    if (trace) {
        int low = (int)syscall(SYS_openat, AT_FDCWD, trace, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        // Out of the way of the command's own numbers.
        trace_descriptor = low < 0 ? low : (int)syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, 500);
        if (trace_descriptor < 0) complain("CAUSEWAY_FAULT_TRACE: can't be written\n");
        syscall(SYS_close, low);
    }
    if (count) map_counts(count);
    if (fault) read_mode(fault);
    root_length = strlen(root);
}

static int is_under_root(const char *path) {
    return root_length && !strncmp(path, root, root_length) && (path[root_length] == '/' || path[root_length] == 0);
}

int shim_is_tracing(void) { return root_length && trace_descriptor >= 0; }

int shim_path_of(int descriptor, char *path) {
    if (!root_length || descriptor < 0 || descriptor == trace_descriptor) return 0;
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    ssize_t length = (ssize_t)syscall(SYS_readlinkat, AT_FDCWD, name, path, PATH_MAX - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return is_under_root(path);
}

int shim_path_at(int folder, const char *name, char *path) {
    if (!root_length || !name || !*name) return 0;
    char given[2 * PATH_MAX], parent[PATH_MAX];
    if (*name == '/') {
        snprintf(given, sizeof given, "%s", name);
    } else if (folder == AT_FDCWD) {
        if (!getcwd(parent, sizeof parent)) return 0;
        snprintf(given, sizeof given, "%s/%s", parent, name);
    } else {
        if (!shim_path_of(folder, parent)) return 0;
        snprintf(given, sizeof given, "%s/%s", parent, name);
    }
    size_t length = strlen(given);
    while (length > 1 && given[length - 1] == '/') given[--length] = 0;
    char *slash = strrchr(given, '/');
    if (slash == given) return 0;
    *slash = 0;
    int saved = errno;
    char *found = realpath(given, parent);
    errno = saved;
    if (!found) return 0;
    if (strlen(parent) + 1 + strlen(slash + 1) >= PATH_MAX) return 0;
    stpcpy(stpcpy(stpcpy(path, parent), "/"), slash + 1);
    return is_under_root(path);
}

void shim_lock(void) { pthread_mutex_lock(&order); }
void shim_unlock(void) {
    int saved = errno;
    pthread_mutex_unlock(&order);
    errno = saved;
}

static uint64_t add(uint64_t *counter) { return __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED); }

static int fires(uint64_t number) {
    int is_now = is_sticky ? number >= target : number == target;
    if (is_now) add(&counts->fired);
    return is_now;
}

static void die(void) {
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    for (;;) pause();
}

void shim_die_if(enum shim_verdict verdict) {
    if (verdict == SHIM_TEAR) die();
}

enum shim_verdict shim_mutation(enum causeway_fault_operation operation) {
    add(&counts->by_operation[operation]);
    uint64_t number = add(&counts->mutating);
    int is_sync = operation == CAUSEWAY_OP_SYNC;
    int takes_room = operation != CAUSEWAY_OP_UNLINK && operation != CAUSEWAY_OP_RMDIR
        && operation != CAUSEWAY_OP_CHMOD && operation != CAUSEWAY_OP_CHOWN && operation != CAUSEWAY_OP_CUT;
    uint64_t room = takes_room ? add(&counts->taking_room) : 0;
    uint64_t sync = is_sync ? add(&counts->syncs) : 0;
    switch (mode) {
        case MODE_KILL:
            if (fires(number)) die();
            return SHIM_PASS;
        case MODE_TEAR: return fires(number) ? SHIM_TEAR : SHIM_PASS;
        case MODE_EIO: return fires(number) ? SHIM_EIO : SHIM_PASS;
        case MODE_ENOSPC: return takes_room && fires(room) ? SHIM_ENOSPC : SHIM_PASS;
        case MODE_SHORT:
            if (!takes_room || !fires(room)) return SHIM_PASS;
            return room == target && operation == CAUSEWAY_OP_WRITE ? SHIM_SHORT : SHIM_ENOSPC;
        case MODE_SYNC: return is_sync && fires(sync) ? SHIM_EIO : SHIM_PASS;
        default: return SHIM_PASS;
    }
}

int shim_open_error(void) {
    add(&counts->by_operation[CAUSEWAY_OP_OPEN]);
    uint64_t number = add(&counts->opens);
    if (mode == MODE_EMFILE && fires(number)) return EMFILE;
    if (mode == MODE_EACCES && fires(number)) return EACCES;
    return 0;
}

int shim_read_error(void) {
    add(&counts->by_operation[CAUSEWAY_OP_READ]);
    uint64_t number = add(&counts->reads);
    return mode == MODE_READ && fires(number) ? EIO : 0;
}

static void write_all(struct iovec *parts, int count) {
    while (count > 0) {
        ssize_t done = (ssize_t)syscall(SYS_writev, trace_descriptor, parts, count);
        if (done < 0) complain("CAUSEWAY_FAULT_TRACE: can't be written\n");
        while (count > 0 && (size_t)done >= parts->iov_len) {
            done -= (ssize_t)parts->iov_len;
            parts++;
            count--;
        }
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + done;
            parts->iov_len -= (size_t)done;
        }
    }
}

void shim_record(const struct shim_note *note) {
    if (trace_descriptor < 0) return;
    int saved = errno;
    const char *path = note->path ? note->path : "", *path2 = note->path2 ? note->path2 : "";
    struct causeway_fault_record head = {
        .magic = CAUSEWAY_FAULT_RECORD,
        .operation = (uint16_t)note->operation,
        .failed = (uint16_t)note->failed,
        .inode = note->inode,
        .offset = note->offset,
        .data_length = note->length,
        .flags = note->flags,
        .path_length = (uint32_t)strlen(path),
        .path2_length = (uint32_t)strlen(path2),
        .thread = (uint32_t)syscall(SYS_gettid),
    };
    struct iovec parts[4] = {
        {&head, sizeof head},
        {(void *)path, head.path_length},
        {(void *)path2, head.path2_length},
        {(void *)note->data, note->length},
    };
    write_all(parts, 4);
    errno = saved;
}

uint64_t shim_inode(int descriptor, int *is_folder) {
    int saved = errno;
    struct stat status;
    int result = fstat(descriptor, &status);
    errno = saved;
    if (is_folder) *is_folder = result == 0 && S_ISDIR(status.st_mode);
    return result == 0 ? (uint64_t)status.st_ino : 0;
}

uint64_t shim_inode_at(const char *path) {
    int saved = errno;
    struct stat status;
    int result = lstat(path, &status);
    errno = saved;
    return result == 0 ? (uint64_t)status.st_ino : 0;
}

#else
// An empty library is no library everywhere.
int causeway_fault_shim_is_empty = 1;
#endif
