/* What a store's files go through: a log of it, and a disk that fails when it is told to.
 *
 * Preloaded into a server. Only files whose path begins with SHIM_STORE count, and their folder.
 * SHIM_LOG gets a record of each change, in the order in which they happened. What changes a file
 * is recorded before it is done; what removes, renames or synchronises one, after it. A process that
 * is killed in between thus leaves a record of what the next one does again, and never a change
 * without a record, by which all that follows it would seem lost. SHIM_FAULTS is a file that is
 * shared with the test: which calls fail, and how many have. The shared-memory file and the lock are
 * no part of what a disk keeps.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MADE = 1, WRITTEN, TRUNCATED, SYNCED, UNLINKED, RENAMED };
enum { FULL = 1, WRITE_ERROR, SHORT, SYNC_ERROR, READ_ERROR, READ_ONLY, FLIPPED };
enum { MOST_FILES = 4096, NAME_BYTES = 64 };

struct record {
    uint32_t kind, name_bytes;
    int64_t offset, size;
};

struct faults {
    volatile uint32_t mode, every, calls, hits;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char names[MOST_FILES][NAME_BYTES];
static const char *store;
static size_t folder_bytes;
static int log_file = -1;
static struct faults *faults;

#define REAL(type, name) \
    static type real; \
    if (!real) real = (type)dlsym(RTLD_NEXT, name)

typedef int (*opener)(const char *, int, ...);
typedef int (*of_file)(int);
typedef int (*of_size)(int, off_t);
typedef int (*of_path)(const char *);
typedef int (*of_paths)(const char *, const char *);
typedef ssize_t (*position_writer)(int, const void *, size_t, off_t);
typedef ssize_t (*position_reader)(int, void *, size_t, off_t);

__attribute__((constructor)) static void prepare(void) {
    opener real = (opener)dlsym(RTLD_NEXT, "open");
    store = getenv("SHIM_STORE");
    if (!store) return;
    folder_bytes = (size_t)(strrchr(store, '/') - store);
    const char *log = getenv("SHIM_LOG"), *shared = getenv("SHIM_FAULTS");
    if (log) log_file = real(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (shared) {
        int file = real(shared, O_RDWR | O_CLOEXEC);
        void *seen = mmap(NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (seen != MAP_FAILED) faults = seen;
    }
}

static int ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}

/* The name of a file of the store, without its folder; "." for the folder; NULL for another. */
static const char *name_of(const char *path) {
    if (!store) return NULL;
    if (strlen(path) == folder_bytes && !strncmp(path, store, folder_bytes)) return ".";
    if (strncmp(path, store, strlen(store)) || ends_with(path, "-shm") || ends_with(path, ".lock"))
        return NULL;
    return path + folder_bytes + 1;
}

static const char *opened(int file) {
    return store && file >= 0 && file < MOST_FILES && names[file][0] ? names[file] : NULL;
}

static void note(uint32_t kind, const char *name, int64_t offset, const void *data, size_t size) {
    if (log_file < 0) return;
    struct record head = {kind, (uint32_t)strlen(name), offset, (int64_t)size};
    struct iovec parts[] = {
        {&head, sizeof head}, {(void *)name, head.name_bytes}, {(void *)data, data ? size : 0}};
    if (writev(log_file, parts, 3) < 0) abort();
}

static int hits(uint32_t mode) {
    if (!faults || faults->mode != mode) return 0;
    uint32_t call = __sync_add_and_fetch(&faults->calls, 1);
    if (call % (faults->every ? faults->every : 1)) return 0;
    __sync_add_and_fetch(&faults->hits, 1);
    return 1;
}

static int fails(int error) {
    errno = error;
    return -1;
}

static int open_it(const char *path, int flags, mode_t mode) {
    REAL(opener, "open");
    const char *name = name_of(path);
    if (!name) return real(path, flags, mode);
    if ((flags & O_ACCMODE) != O_RDONLY && hits(READ_ONLY)) return fails(EROFS);
    pthread_mutex_lock(&lock);
    if (flags & O_CREAT && access(path, F_OK)) note(MADE, name, 0, NULL, 0);
    int file = real(path, flags, mode);
    if (file >= 0 && file < MOST_FILES) strncpy(names[file], name, NAME_BYTES - 1);
    pthread_mutex_unlock(&lock);
    return file;
}

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? (mode_t)va_arg(more, int) : 0;
    va_end(more);
    return open_it(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? (mode_t)va_arg(more, int) : 0;
    va_end(more);
    return open_it(path, flags | O_LARGEFILE, mode);
}

int close(int file) {
    REAL(of_file, "close");
    if (file >= 0 && file < MOST_FILES) names[file][0] = 0;
    return real(file);
}

ssize_t pwrite64(int file, const void *data, size_t size, off_t offset) {
    REAL(position_writer, "pwrite64");
    const char *name = opened(file);
    if (!name) return real(file, data, size, offset);
    if (hits(READ_ONLY)) return fails(EROFS);
    if (hits(FULL)) return fails(ENOSPC);
    if (hits(WRITE_ERROR)) return fails(EIO);
    if (size > 1 && hits(SHORT)) size /= 2;
    pthread_mutex_lock(&lock);
    note(WRITTEN, name, offset, data, size);
    ssize_t done = real(file, data, size, offset);
    if (log_file >= 0 && done != (ssize_t)size) abort(); /* the record says otherwise */
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t pwrite(int file, const void *data, size_t size, off_t offset) {
    return pwrite64(file, data, size, offset);
}

ssize_t pread64(int file, void *data, size_t size, off_t offset) {
    REAL(position_reader, "pread64");
    if (!opened(file)) return real(file, data, size, offset);
    if (hits(READ_ERROR)) return fails(EIO);
    ssize_t done = real(file, data, size, offset);
    if (done > 0 && hits(FLIPPED)) ((char *)data)[faults->hits * 7919 % (size_t)done] ^= 4;
    return done;
}

ssize_t pread(int file, void *data, size_t size, off_t offset) {
    return pread64(file, data, size, offset);
}

int ftruncate64(int file, off_t size) {
    REAL(of_size, "ftruncate64");
    const char *name = opened(file);
    if (!name) return real(file, size);
    if (hits(READ_ONLY)) return fails(EROFS);
    pthread_mutex_lock(&lock);
    note(TRUNCATED, name, size, NULL, 0);
    int done = real(file, size);
    pthread_mutex_unlock(&lock);
    return done;
}

int ftruncate(int file, off_t size) {
    return ftruncate64(file, size);
}

static int synchronise(of_file real, int file) {
    const char *name = opened(file);
    if (!name) return real(file);
    if (hits(SYNC_ERROR)) return fails(EIO);
    pthread_mutex_lock(&lock);
    int done = real(file);
    if (!done) note(SYNCED, name, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return done;
}

int fsync(int file) {
    REAL(of_file, "fsync");
    return synchronise(real, file);
}

int fdatasync(int file) {
    REAL(of_file, "fdatasync");
    return synchronise(real, file);
}

int unlink(const char *path) {
    REAL(of_path, "unlink");
    const char *name = name_of(path);
    if (!name) return real(path);
    if (hits(READ_ONLY)) return fails(EROFS);
    pthread_mutex_lock(&lock);
    int done = real(path);
    if (!done) note(UNLINKED, name, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return done;
}

int rename(const char *from, const char *to) {
    REAL(of_paths, "rename");
    const char *name = name_of(to), *before = name_of(from);
    if (!name && !before) return real(from, to);
    if (hits(READ_ONLY)) return fails(EROFS);
    pthread_mutex_lock(&lock);
    int done = real(from, to);
    if (!done && name && before) note(RENAMED, before, 0, name, strlen(name));
    pthread_mutex_unlock(&lock);
    return done;
}
