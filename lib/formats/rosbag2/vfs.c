/* An SQLite VFS on top of a reel_source. It offers one read-only file; nothing else can be opened, created or removed.
 * A read beyond the end of the file counts as damage of that page, so that a cut database keeps its complete pages. A
 * repair replaces lost pages. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "formats/rosbag2/container.h"

#define VFS_NAME "reel-source"

struct db_file {
    sqlite3_file file; /* must be first: SQLite casts to it */
    struct rosbag2_file_view *view;
};

/* The file that xOpen opens next. SQLite calls xOpen inside sqlite3_open_v2(), in the same thread. */
static _Thread_local struct rosbag2_file_view *opening;

/* --- the file --- */

static int file_close(sqlite3_file *file) {
    (void)file;
    return SQLITE_OK;
}

static uint32_t load_u32be(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* With a repair, changes the number of pages in the header and marks it as valid. */
static void patch_header(const struct rosbag2_repair *r, uint8_t *out, uint64_t at, size_t size) {
    uint32_t pages = r->first + r->count;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t count = SQLITE_PAGES_AT + i, good = SQLITE_PAGES_GOOD_AT + i, changes = SQLITE_CHANGES_AT + i;
        if (count >= at && count - at < size) {
            out[count - at] = (uint8_t)(pages >> (24 - 8 * i));
        }
        if (good >= at && good - at < size) {
            out[good - at] = 0;
        }
        if (changes >= at && changes - at < size) {
            out[changes - at] = 0;
        }
    }
}

/* SQLite reads whole pages and parts of the header. */
static bool read_repaired(const struct rosbag2_repair *r, uint64_t at, uint8_t *out, size_t size) {
    uint64_t page = at / r->page_size + 1, inside = at % r->page_size;
    if ((page != r->root && (page < r->first || page - r->first >= r->count)) || size > r->page_size - inside) {
        return false;
    }
    memcpy(out, r->data + (page == r->root ? 0 : page - r->first + 1) * r->page_size + inside, size);
    return true;
}

static int rosbag2_file_read(sqlite3_file *file, void *buffer, int amount, sqlite3_int64 offset) {
    struct rosbag2_file_view *v = ((struct db_file *)file)->view;
    uint64_t at = (uint64_t)offset;
    size_t size = amount > 0 ? (size_t)amount : 0;
    if (v->repair && read_repaired(v->repair, at, buffer, size)) {
        return SQLITE_OK;
    }
    if (at > v->source->size || size > v->source->size - at) {
        memset(buffer, 0, size);
        return SQLITE_CORRUPT;
    }
    if (!reel_source_read(v->source, at, buffer, size, &v->failure)) {
        return SQLITE_IOERR_READ;
    }
    if (v->repair && at < SQLITE_HEADER_SIZE) {
        patch_header(v->repair, buffer, at, size);
    }
    return SQLITE_OK;
}

static int file_write(sqlite3_file *file, const void *buffer, int size, sqlite3_int64 offset) {
    (void)file, (void)buffer, (void)size, (void)offset;
    return SQLITE_READONLY;
}
static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    (void)file, (void)size;
    return SQLITE_READONLY;
}
static int file_sync(sqlite3_file *file, int flags) {
    (void)file, (void)flags;
    return SQLITE_OK;
}
static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    *size = (sqlite3_int64)((struct db_file *)file)->view->size;
    return SQLITE_OK;
}
static int file_lock(sqlite3_file *file, int level) {
    (void)file, (void)level;
    return SQLITE_OK;
}
static int file_reserved(sqlite3_file *file, int *reserved) {
    (void)file;
    *reserved = 0;
    return SQLITE_OK;
}
static int file_control(sqlite3_file *file, int op, void *argument) {
    (void)file, (void)op, (void)argument;
    return SQLITE_NOTFOUND;
}
static int file_sector(sqlite3_file *file) {
    (void)file;
    return 4096;
}
static int file_nature(sqlite3_file *file) {
    (void)file;
    return SQLITE_IOCAP_IMMUTABLE; /* no locks, no search for a journal or a WAL */
}

static const sqlite3_io_methods file_methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = rosbag2_file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_nature,
};

/* The size to report to SQLite. For a cut file it is the size stated in the header: SQLite refuses a file that is too
 * short. */
static uint64_t apparent_size(struct rosbag2_file_view *v) {
    uint8_t head[SQLITE_HEADER_SIZE];
    if (v->source->size < sizeof head || !reel_source_read(v->source, 0, head, sizeof head, &v->failure)) {
        return v->source->size;
    }
    uint32_t page = (uint32_t)head[SQLITE_PAGE_SIZE_AT] << 8 | head[SQLITE_PAGE_SIZE_AT + 1];
    uint64_t stated = (uint64_t)load_u32be(head + SQLITE_PAGES_AT) * (page == 1 ? 65536 : page);
    bool good = load_u32be(head + SQLITE_CHANGES_AT) == load_u32be(head + SQLITE_PAGES_GOOD_AT);
    return good && stated > v->source->size ? stated : v->source->size;
}

/* --- the system it lies in --- */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    (void)vfs, (void)name;
    struct db_file *f = (struct db_file *)file;
    f->file.pMethods = NULL;
    if (!(flags & SQLITE_OPEN_MAIN_DB) || !opening) {
        return SQLITE_CANTOPEN;
    }
    const struct rosbag2_repair *repair = opening->repair;
    opening->size = repair ? (uint64_t)(repair->first + repair->count) * repair->page_size : apparent_size(opening);
    f->view = opening;
    f->file.pMethods = &file_methods;
    if (out_flags) {
        *out_flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
    }
    return SQLITE_OK;
}
static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    (void)vfs, (void)name, (void)sync;
    return SQLITE_IOERR_DELETE;
}
static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *there) {
    (void)vfs, (void)name, (void)flags;
    *there = 0;
    return SQLITE_OK;
}
static int vfs_full_name(sqlite3_vfs *vfs, const char *name, int size, char *out) {
    (void)vfs;
    snprintf(out, (size_t)size, "%s", name);
    return SQLITE_OK;
}
static int vfs_random(sqlite3_vfs *vfs, int size, char *out) {
    sqlite3_vfs *system = vfs->pAppData;
    return system->xRandomness(system, size, out);
}
static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return microseconds;
}
static int vfs_time(sqlite3_vfs *vfs, double *day) {
    sqlite3_vfs *system = vfs->pAppData;
    return system->xCurrentTime(system, day);
}

static sqlite3_vfs source_vfs = {
    .iVersion = 1,
    .szOsFile = sizeof(struct db_file),
    .mxPathname = 64,
    .zName = VFS_NAME,
    .xOpen = vfs_open,
    .xDelete = vfs_delete,
    .xAccess = vfs_access,
    .xFullPathname = vfs_full_name,
    .xRandomness = vfs_random,
    .xSleep = vfs_sleep,
    .xCurrentTime = vfs_time,
};

static void register_vfs(void) {
    source_vfs.pAppData = sqlite3_vfs_find(NULL);
    sqlite3_vfs_register(&source_vfs, 0);
}

int rosbag2_vfs_open(struct rosbag2_file_view *view, sqlite3 **db) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_vfs);
    opening = view;
    int rc = sqlite3_open_v2("recording", db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
                             VFS_NAME);
    opening = NULL;
    return rc;
}
