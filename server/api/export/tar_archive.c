/* See tar_archive.h. */
#include "api/export/tar_archive.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/digests.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/source.h"
#include "base/text_stream.h"
#include "syntax/ustar.h"
#include "syntax/zip.h"
#include "syntax/zip_write.h"

struct member {
    char *name; /* in the archive */
    char tag[TAR_TAG], identity[TAR_IDENTITY];
    uint64_t size, at; /* at: its offset in the archive */
    uint32_t crc;
    int64_t modified_s;
};

enum { MEMBER_MEMORY = 512 };       /* besides its names: here, at the owner, and while it is laid out */
enum { HEAD_MAX = USTAR_HEAD_MAX }; /* that of a ZIP archive is shorter */

struct tar_archive {
    struct http_request *r;
    struct tar_owner owner;
    struct member *members;
    size_t n, room;
    enum archive_form form;
    uint64_t length, end_at; /* end_at: of what follows the last member: zeros, or a ZIP archive's directory, `end` */
    uint8_t *end;
    struct tar_content open; /* of members[opened]; read NULL: none */
    size_t opened;
};

static bool read_source(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    return reel_source_read(context, offset, buffer, size, err);
}
static void free_source(void *context) {
    reel_source_free(context);
}

bool tar_content_of_blob(struct store *store, const char *sha256, const char *name, uint64_t size,
                         struct tar_content *out, struct reel_error *err) {
    struct reel_source *source = store_open_blob(store, sha256, name, err);
    if (source && source->size != size) {
        reel_source_free(source);
        return reel_fail(err, REEL_CHANGED, "a stored file is not what it was");
    }
    *out = (struct tar_content){read_source, free_source, source};
    return source;
}

static void close_member(struct tar_archive *a) {
    if (a->open.read) {
        a->open.free(a->open.context);
    }
    a->open = (struct tar_content){0};
}

void tar_archive_free(void *archive) {
    struct tar_archive *a = archive;
    if (!a) {
        return;
    }
    close_member(a);
    for (size_t i = 0; i < a->n; i++) {
        free(a->members[i].name);
    }
    free(a->members);
    free(a->end);
    a->owner.free(a->owner.context);
    free(a);
}

struct tar_archive *tar_archive_new(struct http_request *r, const struct tar_owner *owner, struct reel_error *err) {
    struct tar_archive *a = calloc(1, sizeof *a);
    if (!a) {
        owner->free(owner->context);
        reel_fail_memory(err);
        return NULL;
    }
    a->r = r;
    a->owner = *owner;
    return a;
}

static bool make_room(struct tar_archive *a, struct reel_error *err) {
    if (a->n == TAR_FILES_MAX) {
        return reel_fail(err, REEL_LIMIT, "more than the %d files that one archive may have; narrow the search",
                         TAR_FILES_MAX);
    }
    if (a->n < a->room) {
        return true;
    }
    size_t room = a->room ? 2 * a->room : 64;
    struct member *more = realloc(a->members, room * sizeof *more);
    if (!more) {
        return reel_fail_memory(err);
    }
    a->members = more;
    a->room = room;
    return true;
}

bool tar_archive_add(struct tar_archive *a, const struct tar_member *member, struct reel_error *err) {
    char *name = member->name;
    if (!name || !http_hold(a->r, MEMBER_MEMORY + 4 * strlen(name), err) || !make_room(a, err)) {
        free(name);
        return name ? false : reel_fail_memory(err);
    }
    struct member *m = &a->members[a->n++];
    *m = (struct member){
        .name = name, .size = member->size, .crc = member->crc, .modified_s = member->modified_ns / 1000000000};
    snprintf(m->tag, sizeof m->tag, "%s", member->tag);
    snprintf(m->identity, sizeof m->identity, "%s", member->identity);
    archive_make_safe(m->name);
    return strlen(m->name) + sizeof m->tag < USTAR_NAME_MAX ||
           reel_fail(err, REEL_LIMIT, "a name is too long for an archive: %.80s…", m->name);
}

static bool part_names(struct tar_archive *a, struct reel_error *err) {
    AUTO_MEM struct ustar_name *names = calloc(a->n + 1, sizeof *names);
    if (!names) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < a->n; i++) {
        names[i] = (struct ustar_name){.name = a->members[i].name, .tag = a->members[i].tag, .position = i};
    }
    bool ok = ustar_part(names, a->n, err);
    for (size_t i = 0; i < a->n; i++) {
        a->members[names[i].position].name = names[i].name;
    }
    return ok;
}

/* What is in front of a member; returns its size. */
static size_t put_head(const struct tar_archive *a, const struct member *m, uint8_t head[HEAD_MAX]) {
    if (a->form == ARCHIVE_TAR) {
        return ustar_head(m->name, m->size, m->modified_s, head);
    }
    struct reel_sink out = {.hi = HEAD_MAX, .buffer = head};
    zip_put_local(&out, m->name, m->crc, m->size, m->size > ZIP_PLAIN_MAX);
    return (size_t)out.pos;
}

static void put_entries(const struct tar_archive *a, struct reel_sink *out) {
    for (size_t i = 0; i < a->n; i++) {
        const struct member *m = &a->members[i];
        zip_put_central(out, m->name, m->crc, m->size, m->at, m->size > ZIP_PLAIN_MAX);
    }
    zip_put_end(out, a->end_at, a->n);
}

static bool put_end(struct tar_archive *a) {
    struct reel_sink out = {.pos = a->end_at};
    a->length = a->end_at + USTAR_END;
    if (a->form == ARCHIVE_TAR) {
        return true;
    }
    put_entries(a, &out); /* counted */
    a->length = out.pos;
    a->end = malloc((size_t)(a->length - a->end_at));
    out = (struct reel_sink){.pos = a->end_at, .lo = a->end_at, .hi = a->length, .buffer = a->end};
    return a->end && (put_entries(a, &out), true);
}

static bool lay_out(struct tar_archive *a, char etag[64]) {
    uint8_t head[HEAD_MAX];
    AUTO_MEM char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    for (size_t i = 0; i < a->n; i++) {
        struct member *m = &a->members[i];
        m->at = a->end_at;
        a->end_at += put_head(a, m, head) + m->size + (a->form == ARCHIVE_TAR ? ustar_padding(m->size) : 0);
        if (f) {
            fprintf(f, "%s %s %" PRId64 "\n", m->identity, m->name, m->modified_s);
        }
    }
    if (f && a->form == ARCHIVE_ZIP) {
        fputs("zip\n", f);
    }
    if (!text_stream_close(f, &text) || !put_end(a)) {
        return false;
    }
    api_etag(text, etag);
    return true;
}

/* ---- its bytes */

static size_t member_at(const struct tar_archive *a, uint64_t offset) {
    size_t low = 0, high = a->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(a->members[middle].at <= offset ? &low : &high) = middle;
    }
    return low;
}

static bool read_content(struct tar_archive *a, size_t i, uint64_t offset, void *buffer, size_t size,
                         struct reel_error *err) {
    if (!a->open.read || a->opened != i) {
        close_member(a);
        if (!a->owner.open(a->owner.context, i, &a->open, err)) {
            a->open = (struct tar_content){0};
            return false;
        }
        a->opened = i;
    }
    return a->open.read(a->open.context, offset, buffer, size, err);
}

/* Reads at most `size` bytes at `offset`, from one member only. */
static bool read_some(struct tar_archive *a, uint64_t offset, uint8_t *buffer, size_t size, size_t *got,
                      struct reel_error *err) {
    uint8_t head[HEAD_MAX];
    size_t i = a->n > 0 ? member_at(a, offset) : 0, n;
    const struct member *m = &a->members[i];
    uint64_t in = a->n > 0 ? offset - m->at : 0;
    size_t head_size = a->n > 0 ? put_head(a, m, head) : 0;
    uint64_t content = a->n > 0 ? m->size : 0;
    if (in < head_size) {
        n = head_size - (size_t)in < size ? head_size - (size_t)in : size;
        memcpy(buffer, head + in, n);
    } else if (in - head_size < content) {
        uint64_t left = content - (in - head_size);
        n = left < size ? (size_t)left : size;
        if (!read_content(a, i, in - head_size, buffer, n, err)) {
            return false;
        }
    } else { /* padding up to the next member, or what follows the last one */
        uint64_t left = (i + 1 < a->n ? a->members[i + 1].at : a->length) - offset;
        n = left < size ? (size_t)left : size;
        a->end ? memcpy(buffer, a->end + (offset - a->end_at), n) : memset(buffer, 0, n);
    }
    *got = n;
    return true;
}

static bool archive_read(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    for (size_t at = 0, got; at < size; at += got) {
        if (!read_some(context, offset + at, (uint8_t *)buffer + at, size - at, &got, err)) {
            return false;
        }
    }
    return true;
}

void tar_archive_reply(struct http_request *r, struct tar_archive *a, enum archive_form form, const char *file_name) {
    struct reel_error err = {0};
    char etag[64];
    a->form = form;
    if (!part_names(a, &err) || !(lay_out(a, etag) || reel_fail_memory(&err))) {
        http_reply_error(r, &err);
        tar_archive_free(a);
        return;
    }
    http_reply_file(r, &(struct http_file){.length = a->length,
                                           .etag = etag,
                                           .media_type = form == ARCHIVE_ZIP ? "application/zip" : "application/x-tar",
                                           .file_name = file_name,
                                           .fd = -1,
                                           .read = archive_read,
                                           .free = tar_archive_free,
                                           .context = a});
}
