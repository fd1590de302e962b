/* /recordings.tar: the originals that a search finds as one tar archive. A first pass determines the files, their names
 * and order, so the archive has a length, an ETag and ranges. If a file is removed during the download, the connection
 * is closed early. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/digests.h"
#include "api/export/export.h"
#include "api/recordings/query.h"
#include "base/cleanup.h"
#include "base/source.h"
#include "base/text_stream.h"
#include "syntax/ustar.h"

enum { FILES_MAX = 20000 };

struct member {
    char *name; /* in the archive */
    char tag[48];
    char sha256[SHA256_HEX];
    char *text;        /* its content, if that is no stored file */
    uint64_t size, at; /* at: its offset in the archive */
    int64_t modified_s;
};

struct archive {
    struct store *store;
    struct member *members;
    size_t n, room;
    FILE *missing; /* a line for each recording that is left out */
    char *missing_text;
    size_t missing_size, n_missing;
    uint64_t length;
    struct reel_source *open; /* the bytes of members[opened] */
    size_t opened;
};

static void archive_free(void *context) {
    struct archive *a = context;
    if (!a) {
        return;
    }
    for (size_t i = 0; i < a->n; i++) {
        free(a->members[i].name);
        free(a->members[i].text);
    }
    if (a->missing) {
        fclose(a->missing);
    }
    free(a->missing_text);
    free(a->members);
    reel_source_free(a->open);
    free(a);
}
static inline void reel_auto_archive_free(struct archive **a) {
    archive_free(*a);
}

/* ---- the first pass */

static struct member *tar_add_member(struct archive *a, struct reel_error *err) {
    if (a->n == FILES_MAX) {
        reel_fail(err, REEL_LIMIT, "more than the %d files that one archive may have; narrow the search", FILES_MAX);
        return NULL;
    }
    if (a->n == a->room) {
        struct member *more = realloc(a->members, (a->room ? 2 * a->room : 64) * sizeof *more);
        if (!more) {
            reel_fail_memory(err);
            return NULL;
        }
        a->members = more;
        a->room = a->room ? 2 * a->room : 64;
    }
    a->members[a->n] = (struct member){0};
    return &a->members[a->n];
}

static bool tar_add_part(struct archive *a, const struct catalog_recording *r, uint32_t i, struct reel_error *err) {
    struct member *m = tar_add_member(a, err);
    if (!m) {
        return false;
    }
    *m = (struct member){.size = r->parts[i].size, .modified_s = r->created_ns / 1000000000};
    memcpy(m->sha256, r->parts[i].sha256, sizeof m->sha256);
    snprintf(m->tag, sizeof m->tag, "%s-%u", r->id, i);
    bool several = r->n_parts > 1;
    if (asprintf(&m->name, "%s/%s%s%s", r->collection, r->name, several ? "/" : "",
                 several ? r->parts[i].file_name : "") < 0) {
        return reel_fail_memory(err);
    }
    a->n++;
    archive_make_safe(m->name);
    return strlen(m->name) + sizeof m->tag < USTAR_NAME_MAX ||
           reel_fail(err, REEL_LIMIT, "a name is too long for an archive: %.80s…", m->name);
}

/* Whether all files of the recording can be read; else it is noted. */
static bool is_complete(struct archive *a, const struct catalog_recording *r) {
    struct reel_error err = {0};
    bool good = true;
    for (uint32_t i = 0; good && i < r->n_parts; i++) {
        uint64_t size;
        good =
            store_examine(a->store, r->parts[i].sha256, &size, &err) &&
            (size == r->parts[i].size || reel_fail(&err, REEL_CHANGED, "the stored file has not the size that it had"));
    }
    if (!good) {
        a->n_missing++;
        fprintf(a->missing, "%s/%s (%s): %s\n", r->collection, r->name, r->id, err.text);
    }
    return good;
}

/* The last member lists what is left out. */
static bool add_missing(struct archive *a, struct reel_error *err) {
    if (a->n_missing == 0) {
        return true;
    }
    struct member *m = text_stream_flush(a->missing) ? tar_add_member(a, err) : NULL;
    if (!m || !(m->text = strndup(a->missing_text, a->missing_size)) || !(m->name = strdup("LEFT-OUT.txt"))) {
        if (m) {
            free(m->text);
        }
        return reel_fail_memory(err);
    }
    m->size = a->missing_size;
    snprintf(m->tag, sizeof m->tag, "left-out");
    a->n++;
    return true;
}

static bool list_members(struct archive *a, struct catalog *catalog, struct catalog_query *q, struct reel_error *err) {
    AUTO_MEM char *cursor = NULL;
    bool ok = true;
    q->limit = 1000;
    q->sort = "created";
    do {
        struct catalog_page page = {0};
        q->cursor = cursor;
        if (!catalog_list(catalog, q, &page, err)) {
            return false;
        }
        for (uint32_t i = 0; ok && i < page.n_items; i++) {
            const struct catalog_recording *r = &page.items[i];
            bool complete = ok && is_complete(a, r);
            for (uint32_t k = 0; ok && complete && k < r->n_parts; k++) {
                ok = tar_add_part(a, r, k, err);
            }
        }
        free(cursor);
        cursor = TAKE(page.next);
        catalog_page_done(&page);
    } while (ok && cursor);
    return ok && add_missing(a, err);
}

static bool part_names(struct archive *a, struct reel_error *err) {
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

static bool lay_out(struct archive *a, char etag[64]) {
    uint8_t head[USTAR_HEAD_MAX];
    AUTO_MEM char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    for (size_t i = 0; i < a->n; i++) {
        struct member *m = &a->members[i];
        m->at = a->length;
        a->length += ustar_head(m->name, m->size, m->modified_s, head) + m->size + ustar_padding(m->size);
        if (f) {
            fprintf(f, "%s %s %" PRId64 "\n", m->text ? m->text : m->sha256, m->name, m->modified_s);
        }
    }
    a->length += USTAR_END;
    if (!text_stream_close(f, &text)) {
        return false;
    }
    api_etag(text, etag);
    return true;
}

/* ---- its bytes */

static size_t member_at(const struct archive *a, uint64_t offset) {
    size_t low = 0, high = a->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(a->members[middle].at <= offset ? &low : &high) = middle;
    }
    return low;
}

static bool read_content(struct archive *a, size_t i, uint64_t offset, void *buffer, size_t size,
                         struct reel_error *err) {
    if (a->members[i].text) {
        memcpy(buffer, a->members[i].text + offset, size);
        return true;
    }
    if (!a->open || a->opened != i) {
        reel_source_free(TAKE(a->open));
        a->open = store_open_blob(a->store, a->members[i].sha256, a->members[i].name, err);
        a->opened = i;
    }
    if (!a->open) {
        return false;
    }
    return a->open->size == a->members[i].size ? reel_source_read(a->open, offset, buffer, size, err)
                                               : reel_fail(err, REEL_CHANGED, "a stored file is not what it was");
}

/* Reads at most `size` bytes at `offset`, from one member only. */
static bool tar_read_some(struct archive *a, uint64_t offset, uint8_t *buffer, size_t size, size_t *got,
                          struct reel_error *err) {
    uint8_t head[USTAR_HEAD_MAX];
    size_t i = a->n > 0 ? member_at(a, offset) : 0, n;
    const struct member *m = &a->members[i];
    uint64_t in = a->n > 0 ? offset - m->at : 0;
    size_t head_size = a->n > 0 ? ustar_head(m->name, m->size, m->modified_s, head) : 0;
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
    } else { /* zeros, up to the next member or the end */
        uint64_t left = (i + 1 < a->n ? a->members[i + 1].at : a->length) - offset;
        n = left < size ? (size_t)left : size;
        memset(buffer, 0, n);
    }
    *got = n;
    return true;
}

static bool archive_read(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    for (size_t at = 0, got; at < size; at += got) {
        if (!tar_read_some(context, offset + at, (uint8_t *)buffer + at, size - at, &got, err)) {
            return false;
        }
    }
    return true;
}

void api_recordings_tar(struct http_request *r) {
    struct recordings_query query;
    struct reel_error err = {0};
    char etag[64];
    if (!recordings_read_query(r, &query)) {
        return;
    }
    AUTO(archive_free) struct archive *a = calloc(1, sizeof *a);
    if (!a) {
        http_reply_no_memory(r);
        return;
    }
    a->store = http_app(r)->store;
    if (!(a->missing = open_memstream(&a->missing_text, &a->missing_size))) {
        http_reply_no_memory(r);
        return;
    }
    if (!list_members(a, http_app(r)->catalog, &query.q, &err) || !part_names(a, &err)) {
        http_reply_error(r, &err);
        return;
    }
    if (!lay_out(a, etag)) {
        http_reply_no_memory(r);
        return;
    }
    if (a->n_missing > 0) {
        char left_out[24];
        snprintf(left_out, sizeof left_out, "%zu", a->n_missing);
        http_add_header(r, "X-Left-Out", left_out);
    }
    struct http_file file = {.length = a->length,
                             .etag = etag,
                             .media_type = "application/x-tar",
                             .file_name = "recordings.tar",
                             .fd = -1,
                             .read = archive_read,
                             .free = archive_free};
    file.context = TAKE(a);
    http_reply_file(r, &file);
}
