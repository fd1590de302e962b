/* The directory of a ZIP archive over a source. libzip reads and validates the directory; the bytes of members are read
 * straight from the file, at the offset where libzip would read them. A file without a directory (recorder killed, end
 * cut off) is read by its local headers from the front. */
#include "syntax/zip.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/limits.h"

#include <errno.h>
#include <zip.h>

enum {
    ZIP_MEMBERS_MAX = REEL_ATTACHMENTS_MAX + 2,
    ZIP_END_REACH = ZIP_COMMENT_MAX + ZIP_END_SIZE,
};

/* --- libzip over a source --- */

struct feed {
    struct reel_source *source;
    uint64_t at, last_read;
    zip_error_t error;
    struct reel_error io; /* of the source, or no memory: reported instead of libzip's error */
};

static zip_int64_t feed_read(struct feed *f, void *data, zip_uint64_t size) {
    uint64_t left = f->source->size - f->at;
    size = size < left ? size : left;
    f->last_read = f->at;
    if (size > 0 && !reel_source_read(f->source, f->at, data, (size_t)size, &f->io)) {
        zip_error_set(&f->error, ZIP_ER_READ, f->io.sys);
        return -1;
    }
    f->at += size;
    return (zip_int64_t)size;
}

static zip_int64_t feed_seek(struct feed *f, void *data, zip_uint64_t size) {
    zip_int64_t at = zip_source_seek_compute_offset(f->at, f->source->size, data, size, &f->error);
    if (at < 0) {
        return -1;
    }
    f->at = (uint64_t)at;
    return 0;
}

static zip_int64_t feed_stat(struct feed *f, void *data, zip_uint64_t size) {
    zip_stat_t *stat = data;
    if (size < sizeof *stat) {
        return -1;
    }
    zip_stat_init(stat);
    stat->size = f->source->size;
    stat->valid = ZIP_STAT_SIZE;
    return (zip_int64_t)sizeof *stat;
}

static zip_int64_t feed_call(void *user, void *data, zip_uint64_t size, zip_source_cmd_t command) {
    struct feed *f = user;
    switch (command) {
    case ZIP_SOURCE_OPEN:
        f->at = 0;
        return 0;
    case ZIP_SOURCE_READ:
        return feed_read(f, data, size);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
        return 0;
    case ZIP_SOURCE_STAT:
        return feed_stat(f, data, size);
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&f->error, data, size);
    case ZIP_SOURCE_SEEK:
        return feed_seek(f, data, size);
    case ZIP_SOURCE_TELL:
        return (zip_int64_t)f->at;
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                              ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL,
                                              ZIP_SOURCE_SUPPORTS, -1);
    default:
        zip_error_set(&f->error, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
}

static inline void reel_auto_zip(zip_t **archive) {
    if (*archive) {
        zip_discard(*archive);
    }
}

/* libzip does not always report that memory was missing; errno then does. Set errno to 0 before the call. */
static bool lacks_memory(zip_error_t *error) {
    return errno == ENOMEM || zip_error_code_zip(error) == ZIP_ER_MEMORY;
}

static bool feed_fail(const struct feed *f, zip_error_t *error, struct reel_error *err) {
    if (f->io.code != REEL_OK) {
        return reel_error_pass(err, &f->io);
    }
    if (lacks_memory(error)) {
        return reel_fail_memory(err);
    }
    return reel_fail(err, REEL_DAMAGED, "ZIP directory: %s", zip_error_strerror(error));
}

/* Checks that every end record that libzip might choose has an acceptable number of members, before libzip allocates
 * anything by it. */
static bool check_counts(struct reel_source *source, uint64_t *prefix, struct reel_error *err) {
    size_t size = source->size < ZIP_END_REACH ? (size_t)source->size : ZIP_END_REACH;
    uint64_t start = source->size - size;
    AUTO_MEM uint8_t *tail = malloc(size + 1);
    if (!tail) {
        return reel_fail_memory(err);
    }
    if (!reel_source_read(source, start, tail, size, err)) {
        return false;
    }
    for (size_t at = 0; at + ZIP_END_SIZE <= size; at++) {
        if (load_u32le(tail + at) != ZIP_END_MAGIC) {
            continue;
        }
        uint64_t count = load_u16le(tail + at + 10), end64 = 0;
        uint8_t locator[ZIP_LOCATOR_SIZE], record[ZIP_END64_SIZE];
        if (start + at >= ZIP_LOCATOR_SIZE) {
            if (!reel_source_read(source, start + at - ZIP_LOCATOR_SIZE, locator, sizeof locator, err)) {
                return false;
            }
            end64 = load_u32le(locator) == ZIP_LOCATOR_MAGIC ? load_u64le(locator + 8) : 0;
        }
        if (end64 > 0 && end64 <= source->size - ZIP_END64_SIZE && source->size >= ZIP_END64_SIZE) {
            if (!reel_source_read(source, end64, record, sizeof record, err)) {
                return false;
            }
            uint64_t wide = load_u64le(record + 32), wide_here = load_u64le(record + 24);
            count = wide > wide_here ? wide : wide_here;
        }
        if (count > ZIP_MEMBERS_MAX) {
            return reel_fail(err, REEL_LIMIT, "ZIP directory: %llu members, at most %d are taken",
                             (unsigned long long)count, ZIP_MEMBERS_MAX);
        }
        uint64_t reach = (uint64_t)load_u32le(tail + at + 12) + load_u32le(tail + at + 16);
        *prefix = end64 == 0 && reach < start + at ? start + at - reach : 0;
    }
    return true;
}

/* Offset of the member's data: where libzip reads its first byte. */
static const char *find_data(zip_t *zip, struct feed *f, zip_uint64_t i, struct zip_member *m) {
    errno = 0;
    zip_file_t *file = zip_fopen_index(zip, i, ZIP_FL_COMPRESSED);
    uint8_t first;
    zip_int64_t got = file && m->stored > 0 ? zip_fread(file, &first, 1) : 0;
    bool good = file && (m->stored == 0 || got == 1);
    if (!good && lacks_memory(file ? zip_file_get_error(file) : zip_get_error(zip))) {
        reel_fail_memory(&f->io);
    }
    if (file) {
        zip_fclose(file);
    }
    if (!good) {
        return "its local header cannot be read";
    }
    m->offset = m->stored > 0 ? f->last_read : 0;
    return m->stored > f->source->size - m->offset ? "its bytes exceed the file" : NULL;
}

static const char *member_codec(struct zip_member *m, uint32_t method, bool encrypted) {
    if (encrypted) {
        m->foreign = true;
        return "it is encrypted";
    }
    if (method == ZIP_DEFLATED) {
        m->codec = REEL_CODEC_DEFLATE;
        return NULL;
    }
    if (method != ZIP_STORED) {
        m->foreign = true;
        return "unknown compression";
    }
    return m->stored != m->raw ? "it is stored, but with two different sizes" : NULL;
}

static bool read_member(struct zip_contents *contents, zip_t *zip, struct feed *f, zip_uint64_t i, uint64_t prefix,
                        struct reel_error *err) {
    struct zip_member m = {.codec = REEL_CODEC_NONE};
    zip_stat_t stat;
    errno = 0;
    const char *name = zip_get_name(zip, i, ZIP_FL_ENC_RAW);
    if (zip_stat_index(zip, i, 0, &stat) != 0 || !name) {
        if (lacks_memory(zip_get_error(zip))) {
            return reel_fail_memory(err);
        }
        return true; /* an empty directory entry */
    }
    m.stored = stat.comp_size;
    m.raw = stat.size;
    m.crc_known = true;
    m.crc = stat.crc;
    size_t length = strlen(name);
    char *copy = arena_copy(&contents->arena, name, length + 1);
    if (!copy) {
        return arena_fail(&contents->arena, err);
    }
    m.name = bytes_of(copy, length);
    m.problem = member_codec(&m, stat.comp_method, stat.encryption_method != ZIP_EM_NONE);
    if (!m.problem) {
        m.problem = find_data(zip, f, i, &m);
        m.offset += m.problem || m.stored == 0 ? 0 : prefix;
    }
    if (f->io.code != REEL_OK) {
        return reel_error_pass(err, &f->io);
    }
    contents->members[contents->count++] = m;
    return true;
}

/* Directory of `source`, whose first byte is byte `prefix` of the file. */
static bool open_directory(struct zip_contents *contents, struct reel_source *source, uint64_t prefix,
                           struct reel_error *err) {
    struct feed f = {.source = source};
    zip_error_init(&f.error);
    zip_error_t error;
    zip_error_init(&error);
    errno = 0;
    zip_source_t *feed = zip_source_function_create(feed_call, &f, &error);
    if (!feed) {
        return reel_fail_memory(err);
    }
    __attribute__((cleanup(reel_auto_zip))) zip_t *zip = zip_open_from_source(feed, ZIP_RDONLY, &error);
    if (!zip) {
        bool failed = feed_fail(&f, &error, err);
        zip_source_free(feed);
        zip_error_fini(&error);
        zip_error_fini(&f.error);
        return failed;
    }
    zip_int64_t count = zip_get_num_entries(zip, 0);
    if (count > ZIP_MEMBERS_MAX) {
        return reel_fail(err, REEL_LIMIT, "ZIP directory: %lld members, at most %d are taken", (long long)count,
                         ZIP_MEMBERS_MAX);
    }
    contents->members = arena_alloc(&contents->arena, (size_t)(count > 0 ? count : 1) * sizeof *contents->members);
    if (!contents->members) {
        return arena_fail(&contents->arena, err);
    }
    for (zip_int64_t i = 0; i < count; i++) {
        if (!read_member(contents, zip, &f, (zip_uint64_t)i, prefix, err)) {
            return false;
        }
    }
    return true;
}

/* --- without a directory --- */

/* ZIP64 sizes of a local header, which are in both fields or in neither. */
static void local_zip64(struct cursor extra, struct zip_member *m) {
    while (cursor_left(&extra) >= 4) {
        uint16_t id = cursor_u16le(&extra), size = cursor_u16le(&extra);
        struct cursor field = cursor_sub(&extra, size);
        if (id == ZIP_ID_ZIP64 && size >= 16) {
            m->raw = cursor_u64le(&field);
            m->stored = cursor_u64le(&field);
            return;
        }
    }
}

/* The member whose local header is at `at`. An unpatched header (size 0) and one with a descriptor reach to the end of
 * the file. */
static bool local_member(struct zip_contents *contents, struct reel_source *source, uint64_t at, uint64_t *next,
                         struct reel_error *err) {
    uint8_t head[ZIP_LOCAL_SIZE];
    if (at > source->size || source->size - at < ZIP_LOCAL_SIZE) {
        return reel_fail(err, REEL_NOT_MINE, "no ZIP member at %llu", (unsigned long long)at);
    }
    if (!reel_source_read(source, at, head, sizeof head, err)) {
        return false;
    }
    size_t name_size = load_u16le(head + 26), extra_size = load_u16le(head + 28);
    if (load_u32le(head) != ZIP_LOCAL_MAGIC || name_size + extra_size > source->size - at - ZIP_LOCAL_SIZE) {
        return reel_fail(err, REEL_NOT_MINE, "no ZIP member at %llu", (unsigned long long)at);
    }
    uint8_t *rest = arena_alloc(&contents->arena, name_size + extra_size + 1);
    if (!rest) {
        return arena_fail(&contents->arena, err);
    }
    if (!reel_source_read(source, at + ZIP_LOCAL_SIZE, rest, name_size + extra_size, err)) {
        return false;
    }
    uint16_t flags = load_u16le(head + 6);
    struct zip_member m = {.name = bytes_of(rest, name_size),
                           .crc = load_u32le(head + 14),
                           .stored = load_u32le(head + 18),
                           .raw = load_u32le(head + 22)};
    m.offset = at + ZIP_LOCAL_SIZE + name_size + extra_size;
    local_zip64(cursor_of(bytes_of(rest + name_size, extra_size)), &m);
    bool stored = load_u16le(head + 8) == ZIP_STORED;
    uint64_t room = source->size - m.offset;
    bool closed = (flags & ZIP_FLAG_DESCRIPTOR) == 0 && m.stored > 0 && m.stored <= room;
    m.crc_known = closed;
    if (!closed) {
        m.stored = room;
        m.raw = stored ? room : m.raw;
    }
    m.problem = member_codec(&m, load_u16le(head + 8), (flags & ZIP_FLAG_ENCRYPTED) != 0);
    if (!m.problem && !stored && !closed) {
        m.problem = "it is compressed and cut off";
    }
    *next = m.offset + m.stored;
    contents->members[contents->count++] = m;
    return true;
}

bool zip_contents_walk(struct zip_contents *contents, struct reel_source *source, size_t most, struct reel_error *err) {
    contents->count = 0;
    contents->members = arena_alloc(&contents->arena, most * sizeof *contents->members);
    if (!contents->members) {
        return arena_fail(&contents->arena, err);
    }
    uint64_t at = 0;
    while (contents->count < most) {
        struct reel_error why = {.code = REEL_OK};
        if (!local_member(contents, source, at, &at, &why)) {
            return (contents->count > 0 && why.code == REEL_NOT_MINE) || reel_error_pass(err, &why);
        }
    }
    return true;
}

/* --- the contents --- */

/* Offsets of members in an archive with something before it count from the start of the archive. */
static bool open_prefixed(struct zip_contents *contents, struct reel_source *source, uint64_t prefix,
                          struct reel_error *err) {
    if (prefix == 0) {
        return open_directory(contents, source, 0, err);
    }
    AUTO(reel_source_free) struct reel_source *rest = reel_source_slice(source, prefix, source->size - prefix, err);
    return rest && open_directory(contents, rest, prefix, err);
}

bool zip_contents_read(struct zip_contents *contents, struct reel_source *source, struct reel_error *err) {
    *contents = (struct zip_contents){.arena = {.max = REEL_MODEL_MAX}};
    uint64_t prefix = 0;
    return check_counts(source, &prefix, err) && open_prefixed(contents, source, prefix, err);
}

void zip_contents_free(struct zip_contents *contents) {
    arena_free(&contents->arena);
}
