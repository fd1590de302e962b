/* libfailing.so: preloaded into a server under test, it makes the N-th call of some kind fail, or all of them slow: on
 * files below a folder, or an allocation, a mapping, a new thread, a socket. The test says which by a control block in
 * a file that both have mapped (fault_inject.py knows its layout). All other calls pass through unchanged. */
#include "heap.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind {
    WRITE = 1,
    SYNC = 2,
    RENAME = 4,
    OPEN = 8,
    TRUNCATE = 16,
    UNLINK = 32,
    MKDIR = 64,
    READ = 128,
    LOCK = 256,
    MEMORY = 512, /* these are not asked for a path */
    MAP = 1024,
    THREAD = 2048,
    ACCEPT = 4096,
    SOCKET = 8192
};
enum { FRAMES_MAX = 16, LISTED_MAX = 1 << 18, PAUSE_STEP_US = 5000 };

struct control {
    int64_t kinds, nth, how_many, error, lossy; /* written by the test: calls nth … nth + how_many - 1 of these kinds
                                                   fail; nth = 0: none */
    int64_t pause_us;                           /* written by the test: each of them begins with a pause */
    int64_t seen, failed, failed_kind;          /* written here */
    char folder[512], part[128];                /* whose path begins with `folder` and has `part` in what follows */
    char failed_path[512];
    char failed_stack[2048];     /* who made the call that failed first: MODULE+OFFSET … */
    int64_t lists;               /* written by the test: each call is listed by so many of its callers */
    uint64_t listed[LISTED_MAX]; /* by number of the call, from 0: the same for the same callers in one process */
};

static struct control *control;

__attribute__((constructor)) static void map_control(void) {
    const char *path = getenv("REEL_FAILING");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *at = fd >= 0 ? mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0) {
        close(fd);
    }
    void *frame;
    backtrace(&frame, 1); /* loads the unwinder, which allocates */
    control = at == MAP_FAILED ? NULL : at;
}

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

static void path_of_fd(int fd, char out[PATH_MAX]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, out, PATH_MAX - 1);
    out[n > 0 ? n : 0] = '\0';
}

static void path_at(int folder, const char *name, char out[PATH_MAX]) {
    if (name[0] == '/' || folder == AT_FDCWD) {
        snprintf(out, PATH_MAX, "%s", name);
        return;
    }
    path_of_fd(folder, out);
    size_t used = strlen(out);
    snprintf(out + used, PATH_MAX - used, "/%s", name);
}

static bool watches(enum kind kind) {
    return control && (control->kinds & kind) && control->nth != 0;
}

static _Thread_local bool noting; /* what is called while a failure is noted does not fail */

static void note_failure(enum kind kind, const char *path) {
    void *frames[FRAMES_MAX];
    size_t used = 0;
    noting = true;
    snprintf(control->failed_path, sizeof control->failed_path, "%s", path);
    control->failed_kind = kind;
    int n = backtrace(frames, FRAMES_MAX);
    for (int i = 0; i < n && used < sizeof control->failed_stack; i++) {
        Dl_info info;
        if (dladdr(frames[i], &info) && info.dli_fbase) {
            const char *base = strrchr(info.dli_fname, '/');
            used += (size_t)snprintf(control->failed_stack + used, sizeof control->failed_stack - used, "%s+0x%zx ",
                                     base ? base + 1 : info.dli_fname,
                                     (size_t)((const char *)frames[i] - (const char *)info.dli_fbase));
        }
    }
    noting = false;
}

static void list_call(int64_t n) {
    void *frames[FRAMES_MAX];
    uint64_t callers = 0;
    noting = true;
    for (int i = n < LISTED_MAX ? backtrace(frames, (int)control->lists) : 0; i > 0; i--) {
        callers = (callers ^ (uintptr_t)frames[i - 1]) * UINT64_C(1099511628211); /* FNV */
        control->listed[n] = callers;
    }
    noting = false;
}

static int64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* 0: go on. 1: fail, errno is set. 2: fail after half of it, once (a disk that has just become full). */
static int judge_counted(enum kind kind, const char *path) {
    if (noting) {
        return 0;
    }
    int64_t n = __atomic_add_fetch(&control->seen, 1, __ATOMIC_SEQ_CST), from = control->nth, error = control->error;
    if (control->lists) {
        list_call(n - 1);
    }
    for (int64_t begun_us = now_us(); now_us() - begun_us < control->pause_us;) { /* which may be set to 0 meanwhile */
        usleep(PAUSE_STEP_US);
    }
    if (n < from || n - from >= control->how_many) {
        return 0;
    }
    if (__atomic_fetch_add(&control->failed, 1, __ATOMIC_SEQ_CST) == 0) {
        note_failure(kind, path);
    }
    if (error < 0) { /* the end, before the call */
        kill(getpid(), SIGKILL);
        pause();
    }
    errno = (int)error;
    return error == ENOSPC && n == from && control->how_many > 1 ? 2 : 1;
}

static int judge(enum kind kind, const char *path) {
    size_t folder = control ? strlen(control->folder) : 0;
    bool is_inside =
        watches(kind) && strncmp(path, control->folder, folder) == 0 && strstr(path + folder, control->part) != NULL;
    return is_inside ? judge_counted(kind, path + folder) : 0;
}

static int judge_fd(enum kind kind, int fd) {
    char path[PATH_MAX];
    if (!watches(kind)) {
        return 0;
    }
    int before = errno;
    path_of_fd(fd, path);
    errno = before;
    return judge(kind, path);
}

static int judge_at(enum kind kind, int folder, const char *name) {
    char path[PATH_MAX];
    if (!watches(kind)) {
        return 0;
    }
    int before = errno;
    path_at(folder, name, path);
    errno = before;
    return judge(kind, path);
}

/* ---- writing and reading */

ssize_t write(int fd, const void *data, size_t size) {
    int how = judge_fd(WRITE, fd);
    return how == 1 || (how && size < 2) ? -1 : REAL(write)(fd, data, how ? size / 2 : size);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    int how = judge_fd(WRITE, fd);
    return how == 1 || (how && size < 2) ? -1 : REAL(pwrite)(fd, data, how ? size / 2 : size, at);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    return pwrite(fd, data, size, at);
}
ssize_t writev(int fd, const struct iovec *parts, int n) {
    return judge_fd(WRITE, fd) ? -1 : REAL(writev)(fd, parts, n);
}
ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags) {
    return judge_fd(WRITE, to) ? -1 : REAL(copy_file_range)(from, from_at, to, to_at, size, flags);
}
size_t fwrite(const void *data, size_t size, size_t n, FILE *file) {
    return judge_fd(WRITE, fileno(file)) ? 0 : REAL(fwrite)(data, size, n, file);
}
int fflush(FILE *file) {
    return file && judge_fd(WRITE, fileno(file)) ? EOF : REAL(fflush)(file);
}
int fclose(FILE *file) {
    bool fails = judge_fd(WRITE, fileno(file));
    int error = errno, closed = REAL(fclose)(file);
    errno = fails ? error : errno;
    return fails ? EOF : closed;
}
ssize_t read(int fd, void *data, size_t size) {
    return judge_fd(READ, fd) ? -1 : REAL(read)(fd, data, size);
}
ssize_t pread(int fd, void *data, size_t size, off_t at) {
    return judge_fd(READ, fd) ? -1 : REAL(pread)(fd, data, size, at);
}
ssize_t pread64(int fd, void *data, size_t size, off64_t at) {
    return pread(fd, data, size, at);
}
int ftruncate(int fd, off_t size) {
    return judge_fd(TRUNCATE, fd) ? -1 : REAL(ftruncate)(fd, size);
}
int ftruncate64(int fd, off64_t size) {
    return ftruncate(fd, size);
}

/* ---- making it last */

static struct {
    ino_t inode;
    off_t size;
} lasting; /* of the last file that was made to last: of it nothing is lost any more */

static int note_lasting(int fd, int result) {
    struct stat st;
    char path[PATH_MAX];
    path_of_fd(fd, path);
    if (result == 0 && control && control->lossy && strstr(path, control->part) && fstat(fd, &st) == 0 &&
        S_ISREG(st.st_mode)) {
        lasting.inode = st.st_ino;
        lasting.size = st.st_size;
    }
    return result;
}

/* What a failed fsync may mean: the pages are clean, and not what was written. */
static void lose(int fd) {
    static const char nothing[64];
    struct stat st;
    bool any = control->lossy && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > (off_t)sizeof nothing;
    if (any && (st.st_ino != lasting.inode || st.st_size != lasting.size)) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        int other = REAL(open)(path, O_WRONLY | O_CLOEXEC);
        (void)!REAL(pwrite)(other, nothing, sizeof nothing, st.st_size - (off_t)sizeof nothing);
        close(other);
        errno = (int)control->error;
    }
}
int fsync(int fd) {
    if (judge_fd(SYNC, fd)) {
        lose(fd);
        return -1;
    }
    return note_lasting(fd, REAL(fsync)(fd));
}
int fdatasync(int fd) {
    if (judge_fd(SYNC, fd)) {
        lose(fd);
        return -1;
    }
    return note_lasting(fd, REAL(fdatasync)(fd));
}

/* ---- names */

int rename(const char *from, const char *to) {
    return judge_at(RENAME, AT_FDCWD, to) ? -1 : REAL(rename)(from, to);
}
int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    return judge_at(RENAME, to_folder, to) ? -1 : REAL(renameat)(from_folder, from, to_folder, to);
}
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    return judge_at(RENAME, to_folder, to) ? -1 : REAL(renameat2)(from_folder, from, to_folder, to, flags);
}
int link(const char *from, const char *to) {
    return judge_at(RENAME, AT_FDCWD, to) ? -1 : REAL(link)(from, to);
}
int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    return judge_at(RENAME, to_folder, to) ? -1 : REAL(linkat)(from_folder, from, to_folder, to, flags);
}
int unlink(const char *path) {
    return judge_at(UNLINK, AT_FDCWD, path) ? -1 : REAL(unlink)(path);
}
int unlinkat(int folder, const char *path, int flags) {
    return judge_at(UNLINK, folder, path) ? -1 : REAL(unlinkat)(folder, path, flags);
}
int mkdir(const char *path, mode_t mode) {
    return judge_at(MKDIR, AT_FDCWD, path) ? -1 : REAL(mkdir)(path, mode);
}
int mkdirat(int folder, const char *path, mode_t mode) {
    return judge_at(MKDIR, folder, path) ? -1 : REAL(mkdirat)(folder, path, mode);
}

/* ---- opening */

static mode_t mode_of(int flags, va_list args) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}
static int open_failing(int folder, const char *path, int flags) {
    return judge_at((flags & O_ACCMODE) == O_RDONLY ? READ : OPEN, folder, path);
}
int openat(int folder, const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return open_failing(folder, path, flags) ? -1 : REAL(openat)(folder, path, flags, mode);
}
int open(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return open_failing(AT_FDCWD, path, flags) ? -1 : REAL(open)(path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return openat(folder, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return open(path, flags, mode);
}
int mkostemp(char *path, int flags) {
    return judge_at(OPEN, AT_FDCWD, path) ? -1 : REAL(mkostemp)(path, flags);
}
int mkostemp64(char *path, int flags) {
    return mkostemp(path, flags);
}
FILE *fopen(const char *path, const char *mode) {
    return judge_at(mode[0] == 'r' ? READ : OPEN, AT_FDCWD, path) ? NULL : REAL(fopen)(path, mode);
}
FILE *fopen64(const char *path, const char *mode) {
    return fopen(path, mode);
}

/* ---- SQLite's locks: only taking one fails, no system refuses to let go */

static bool takes_lock(int command, const void *argument) {
    return command == F_SETLK && ((const struct flock *)argument)->l_type != F_UNLCK;
}
int fcntl(int fd, int command, ...) {
    va_list args;
    va_start(args, command);
    void *argument = va_arg(args, void *);
    va_end(args);
    return takes_lock(command, argument) && judge_fd(LOCK, fd) ? -1 : REAL(fcntl)(fd, command, argument);
}
int fcntl64(int fd, int command, ...) {
    va_list args;
    va_start(args, command);
    void *argument = va_arg(args, void *);
    va_end(args);
    return fcntl(fd, command, argument);
}

/* ---- what has no path: memory, threads, sockets */

static _Thread_local bool began; /* before it, a sanitizer sets the thread up, and must not fail */

static bool fails(enum kind kind) {
    return watches(kind) && began && judge_counted(kind, "");
}

void *malloc(size_t size) {
    return fails(MEMORY) ? NULL : HEAP(malloc)(size);
}
void *calloc(size_t n, size_t size) {
    return fails(MEMORY) ? NULL : HEAP(calloc)(n, size);
}
void *realloc(void *old, size_t size) {
    return fails(MEMORY) ? NULL : HEAP(realloc)(old, size);
}
void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    return fails(MAP) ? MAP_FAILED : REAL(mmap)(at, size, protection, flags, fd, offset);
}
void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset) {
    return mmap(at, size, protection, flags, fd, offset);
}

struct beginning {
    void *(*run)(void *);
    void *argument;
};
static void *begin_thread(void *memory) {
    struct beginning b = *(struct beginning *)memory;
    HEAP(free)(memory);
    began = true;
    return b.run(b.argument);
}
int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *argument) {
    struct beginning *b = fails(THREAD) ? NULL : HEAP(malloc)(sizeof *b);
    if (!b) {
        return EAGAIN;
    }
    *b = (struct beginning){.run = run, .argument = argument};
    int result = REAL(pthread_create)(thread, how, begin_thread, b);
    if (result != 0) {
        HEAP(free)(b);
    }
    return result;
}

__attribute__((constructor)) static void begin_process(void) {
    began = true;
}
int accept(int fd, struct sockaddr *from, socklen_t *size) {
    return fails(ACCEPT) ? -1 : REAL(accept)(fd, from, size);
}
int accept4(int fd, struct sockaddr *from, socklen_t *size, int flags) {
    return fails(ACCEPT) ? -1 : REAL(accept4)(fd, from, size, flags);
}
ssize_t recv(int fd, void *data, size_t size, int flags) {
    return fails(SOCKET) ? -1 : REAL(recv)(fd, data, size, flags);
}
ssize_t send(int fd, const void *data, size_t size, int flags) {
    return fails(SOCKET) ? -1 : REAL(send)(fd, data, size, flags);
}
