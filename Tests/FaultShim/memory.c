// Makes the Nth allocation of SQLite's fail. Of SQLite's only: a program in Swift ends when it gets no memory, which is
// a crash like others; SQLite gives an error, which must be handled.
//
// CAUSEWAY_FAULT_MALLOC        N from 1; N+ for all from the Nth on; 0 only counts
// CAUSEWAY_FAULT_MALLOC_COUNT  a file: two 64-bit numbers, how often it fired and how many allocations there were
#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *old, size_t size);

/// The code of libsqlite3; an empty range until the fault is set up.
static uintptr_t first, end;
static uint64_t target;
static int is_sticky;
static uint64_t own_counts[2];
static uint64_t *counts = own_counts;

static int find_sqlite(struct dl_phdr_info *library, size_t size, void *found) {
    (void)size;
    if (!library->dlpi_name || !strstr(library->dlpi_name, "libsqlite3")) return 0;
    uintptr_t *range = found;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        range[0] = library->dlpi_addr + part->p_vaddr;
        range[1] = range[0] + part->p_memsz;
        return 1;
    }
    return 0;
}

__attribute__((constructor)) static void begin(void) {
    const char *number = getenv("CAUSEWAY_FAULT_MALLOC");
    if (!number) return;
    char *rest = NULL;
    target = strtoull(number, &rest, 10);
    is_sticky = *rest == '+';
    const char *file = getenv("CAUSEWAY_FAULT_MALLOC_COUNT");
    if (file) {
        int descriptor = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (descriptor >= 0 && syscall(SYS_ftruncate, descriptor, sizeof own_counts) == 0) {
            void *memory = mmap(NULL, sizeof own_counts, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
            if (memory != MAP_FAILED) counts = memory;
        }
        if (descriptor >= 0) syscall(SYS_close, descriptor);
    }
    uintptr_t range[2] = {0, 0};
    if (!dl_iterate_phdr(find_sqlite, range)) {
        static const char text[] = "CAUSEWAY_FAULT_MALLOC: SQLite isn't a library of its own here\n";
        syscall(SYS_write, 2, text, sizeof text - 1);
        _exit(99);
    }
    first = range[0];
    end = range[1];
}

static int fails(const void *caller) {
    if ((uintptr_t)caller < first || (uintptr_t)caller >= end) return 0;
    uint64_t number = __atomic_add_fetch(&counts[1], 1, __ATOMIC_RELAXED);
    if (target == 0 || (is_sticky ? number < target : number != target)) return 0;
    __atomic_add_fetch(&counts[0], 1, __ATOMIC_RELAXED);
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *realloc(void *old, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
#endif
