/* /recordings.tar: the originals that a search finds as one tar archive. A first pass determines the files, their names
 * and order. */
#include <stdio.h>
#include <string.h>

#include "api/export/export.h"
#include "api/export/tar_archive.h"
#include "api/recordings/query.h"
#include "base/cleanup.h"
#include "base/text_stream.h"

enum { LINE_MEMORY = 1024 }; /* of a recording that is left out */

struct contents { /* of the members, in their order */
    struct http_request *r;
    struct store *store;
    struct file {
        char sha256[SHA256_HEX]; /* "": `left_out` */
        uint64_t size;
    } * files;
    size_t n;
    FILE *left_out; /* a line for each recording that is left out */
    char *left_out_text;
    size_t left_out_size, n_left_out;
};

static void contents_free(void *context) {
    struct contents *c = context;
    if (c->left_out) {
        fclose(c->left_out);
    }
    free(c->left_out_text);
    free(c->files);
    free(c);
}

/* ---- the first pass */

static bool add_part(struct tar_archive *a, struct contents *c, const struct catalog_recording *r, uint32_t i,
                     struct reel_error *err) {
    const struct catalog_part *part = &r->parts[i];
    char *name = NULL;
    char tag[TAR_TAG];
    bool several = r->n_parts > 1;
    snprintf(tag, sizeof tag, "%s-%u", r->id, i);
    if (asprintf(&name, "%s/%s%s%s", r->collection, r->name, several ? "/" : "", several ? part->file_name : "") < 0) {
        name = NULL;
    }
    const struct tar_member member = {
        .name = name, .tag = tag, .identity = part->sha256, .size = part->size, .modified_ns = r->created_ns};
    if (!tar_archive_add(a, &member, err)) {
        return false;
    }
    memcpy(c->files[c->n].sha256, part->sha256, sizeof part->sha256);
    c->files[c->n++].size = part->size;
    return true;
}

/* *complete: all its files are there. */
static bool check_parts(struct contents *c, const struct catalog_recording *r, bool *complete, struct reel_error *err) {
    struct reel_error why = {0};
    bool good = true;
    for (uint32_t i = 0; good && i < r->n_parts; i++) {
        uint64_t size;
        good =
            store_examine(c->store, r->parts[i].sha256, &size, &why) &&
            (size == r->parts[i].size || reel_fail(&why, REEL_CHANGED, "the stored file has not the size that it had"));
    }
    *complete = good;
    if (good) {
        return true;
    }
    c->n_left_out++;
    fprintf(c->left_out, "%s/%s (%s): %s\n", r->collection, r->name, r->id, why.text);
    return http_hold(c->r, LINE_MEMORY, err);
}

/* The last member lists what is left out. */
static bool add_left_out(struct tar_archive *a, struct contents *c, struct reel_error *err) {
    char identity[TAR_IDENTITY] = "";
    if (c->n_left_out == 0) {
        return true;
    }
    if (!text_stream_flush(c->left_out)) {
        return reel_fail_memory(err);
    }
    digest_hex(DIGEST_SHA256, bytes_of(c->left_out_text, c->left_out_size), identity);
    const struct tar_member member = {
        .name = strdup("LEFT-OUT.txt"), .tag = "left-out", .identity = identity, .size = c->left_out_size};
    if (!tar_archive_add(a, &member, err)) {
        return false;
    }
    c->files[c->n++].size = c->left_out_size;
    return true;
}

static bool list_members(struct tar_archive *a, struct contents *c, struct catalog *catalog, struct catalog_query *q,
                         struct reel_error *err) {
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
            bool complete = false;
            ok = check_parts(c, r, &complete, err);
            for (uint32_t k = 0; ok && complete && k < r->n_parts; k++) {
                ok = add_part(a, c, r, k, err);
            }
        }
        free(cursor);
        cursor = TAKE(page.next);
        catalog_page_done(&page);
    } while (ok && cursor);
    return ok && add_left_out(a, c, err);
}

/* ---- its bytes */

static bool read_text(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    const struct contents *c = context;
    (void)err;
    memcpy(buffer, c->left_out_text + offset, size);
    return true;
}
static void free_nothing(void *context) {
    (void)context;
}

static bool open_file(void *context, size_t i, struct tar_content *out, struct reel_error *err) {
    struct contents *c = context;
    const struct file *file = &c->files[i];
    if (!file->sha256[0]) {
        *out = (struct tar_content){read_text, free_nothing, c};
        return true;
    }
    return tar_content_of_blob(c->store, file->sha256, file->sha256, file->size, out, err);
}

static struct contents *contents_new(struct http_request *r, struct reel_error *err) {
    struct contents *c = calloc(1, sizeof *c);
    if (!c) {
        reel_fail_memory(err);
        return NULL;
    }
    c->r = r;
    c->store = http_app(r)->store;
    c->files = calloc(TAR_FILES_MAX + 1, sizeof *c->files);
    c->left_out = open_memstream(&c->left_out_text, &c->left_out_size);
    if (!c->files || !c->left_out) {
        contents_free(c);
        reel_fail_memory(err);
        return NULL;
    }
    return c;
}

void api_recordings_tar(struct http_request *r) {
    struct recordings_query query;
    struct reel_error err = {0};
    if (!recordings_read_query(r, &query)) {
        return;
    }
    struct contents *c = contents_new(r, &err);
    AUTO(tar_archive_close)
    struct tar_archive *a = c ? tar_archive_new(r, &(struct tar_owner){open_file, contents_free, c}, &err) : NULL;
    if (!a || !list_members(a, c, http_app(r)->catalog, &query.q, &err)) {
        http_reply_error(r, &err);
        return;
    }
    if (c->n_left_out > 0) {
        char left_out[24];
        snprintf(left_out, sizeof left_out, "%zu", c->n_left_out);
        http_add_header(r, "X-Left-Out", left_out);
    }
    tar_archive_reply(r, TAKE(a), ARCHIVE_TAR, "recordings.tar");
}
