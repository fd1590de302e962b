/* See bag.h. The RO-Crate's root is the payload's folder, not the bag's: so its file is listed in the payload manifest
 * as its data are, and whoever takes the payload out of the bag has a crate that is complete (RO-Crate 1.2, appendix
 * "Adding RO-Crate to BagIt"). */
#include "api/export/bag.h"

#include <stdlib.h>
#include <string.h>

#include "api/export/crate.h"
#include "api/export/deposit.h"
#include "base/cleanup.h"
#include "base/text_stream.h"
#include "http/json_text.h"
#include "reel/version.h"
#include "views/views.h"

#define BAG_ROOT "export/"
#define REPORTS "conversion-reports.json"

struct bag {
    json_t *deposit;
    struct crate *crate;
    struct zip_items *items;   /* that own it */
    struct reel_loss **losses; /* of each item that is converted */
    json_t *reports;           /* of the conversions: file, recording and target */
    uint32_t n;                /* members */
};

void bag_free(struct bag *b) {
    if (!b) {
        return;
    }
    for (uint32_t i = 0; b->losses && i < b->n; i++) {
        reel_loss_free(b->losses[i]);
    }
    free(b->losses);
    crate_free(b->crate);
    json_decref(b->reports);
    json_decref(b->deposit);
    free(b);
}

struct bag *bag_new(struct http_request *r) {
    json_t *deposit = deposit_read(r);
    AUTO(bag_free) struct bag *b = deposit ? calloc(1, sizeof *b) : NULL;
    if (!b) {
        if (deposit) {
            http_reply_no_memory(r);
        }
        json_decref(deposit);
        return NULL;
    }
    b->deposit = deposit;
    if (!(b->crate = crate_new(deposit)) || !(b->reports = json_array())) {
        http_reply_no_memory(r);
        return NULL;
    }
    return TAKE(b);
}

static bool is_payload(const char *name) {
    return strncmp(name, BAG_DATA, strlen(BAG_DATA)) == 0;
}
static const char *path_in_payload(const char *name) {
    return name + strlen(BAG_DATA);
}

/* ---- late texts */

static char *text_of_reports(struct bag *b) {
    size_t at = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        if (b->losses[i] &&
            json_object_set_new(json_array_get(b->reports, at++), "report", view_loss(b->losses[i])) != 0) {
            return NULL;
        }
    }
    return json_text(b->reports);
}

static char *text_of_crate(struct bag *b, uint32_t n, const struct zip_sum *sums) {
    for (uint32_t i = 0; i < n; i++) {
        crate_set_sum(b->crate, path_in_payload(b->items->items[i].name), sums[i].size, sums[i].sha256);
    }
    return crate_text(b->crate);
}

/* The lines of bag-info.txt end at the line, so those of a description become one. */
static void put_info(FILE *out, const char *label, const char *value) {
    if (!value) {
        return;
    }
    fprintf(out, "%s: ", label);
    for (; *value; value++) {
        fputc(*value == '\n' ? ' ' : *value, out);
    }
    fputc('\n', out);
}

static void put_contact(FILE *out, const json_t *authors) {
    char name[PERSON_ROOM];
    size_t i;
    json_t *author;
    json_array_foreach(authors, i, author) {
        if (deposit_text(author, "email")) {
            put_info(out, "Contact-Name", deposit_person(author, name));
            put_info(out, "Contact-Email", deposit_text(author, "email"));
            return;
        }
    }
}

static void put_bag_info(FILE *out, const struct bag *b, uint32_t n, const struct zip_sum *sums) {
    uint64_t bytes = 0, files = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool counts = is_payload(b->items->items[i].name);
        bytes += counts ? sums[i].size : 0;
        files += counts;
    }
    put_info(out, "Source-Organization", deposit_text(b->deposit, "publisher"));
    put_contact(out, json_object_get(b->deposit, "authors"));
    put_info(out, "External-Description", deposit_text(b->deposit, "title"));
    put_info(out, "External-Identifier", deposit_text(b->deposit, "doi"));
    put_info(out, "Bagging-Date", deposit_text(b->deposit, "date"));
    fprintf(out, "Payload-Oxum: %llu.%llu\nBag-Software-Agent: Reel %s\n", (unsigned long long)bytes,
            (unsigned long long)files, reel_version());
}

/* Of the payload, or of the files beside it. */
static void put_manifest(FILE *out, const struct bag *b, uint32_t n, const struct zip_sum *sums, bool payload) {
    for (uint32_t i = 0; i < n; i++) {
        const char *name = b->items->items[i].name;
        if (is_payload(name) == payload) {
            fprintf(out, "%s  %s\n", sums[i].sha256, name + strlen(BAG_ROOT));
        }
    }
}

static char *text_of_tag_file(const struct bag *b, const char *name, uint32_t n, const struct zip_sum *sums) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out && strcmp(name, BAG_ROOT "bag-info.txt") == 0) {
        put_bag_info(out, b, n, sums);
    } else if (out) {
        put_manifest(out, b, n, sums, strcmp(name, BAG_ROOT "manifest-sha256.txt") == 0);
    }
    return text_stream_close(out, &text) ? text : NULL;
}

static char *late_text(void *context, uint32_t i, const struct zip_sum *sums, struct reel_error *err) {
    struct bag *b = context;
    const char *name = b->items->items[i].name;
    char *text = strcmp(name, BAG_DATA REPORTS) == 0                    ? text_of_reports(b)
                 : strcmp(name, BAG_DATA "ro-crate-metadata.json") == 0 ? text_of_crate(b, i, sums)
                                                                        : text_of_tag_file(b, name, i, sums);
    if (!text) {
        reel_fail_memory(err);
    }
    return text;
}

static void late_planned(void *context, uint32_t i, const struct reel_plan *plan) {
    const struct bag *b = context;
    reel_plan_report(plan, b->losses[i]);
}

static void late_free(void *context) {
    bag_free(context);
}

/* ---- describing the members */

static bool describe_conversion(struct bag *b, uint32_t i, const struct bag_member *member,
                                const struct catalog_recording *row, struct reel_error *err) {
    const struct zip_item *item = &b->items->items[i];
    const char *path = path_in_payload(item->name);
    struct reel_stream *stream = reel_conversion_stream(item->conversion, false, err);
    if (!stream) {
        return false;
    }
    if (!(b->losses[i] = reel_loss_new())) {
        return reel_fail_memory(err);
    }
    json_t *about = json_pack("{s:s, s:s, s:s}", "file", path, "recording", row->id, "as", member->as);
    if (json_array_append_new(b->reports, about) != 0) {
        return reel_fail_memory(err);
    }
    crate_add_conversion(b->crate, path, row, REPORTS);
    return reel_writer_accepts(item->conversion->writer, stream, b->losses[i], err);
}

static bool describe_member(struct bag *b, const struct inputs *in, const struct bag_member *member, uint32_t i,
                            struct reel_error *err) {
    const struct api_recording *a = &in->items[member->input];
    const struct zip_item *item = &b->items->items[i];
    const char *path = path_in_payload(item->name);
    crate_add_recording(b->crate, a);
    crate_add_file(b->crate, path, item->conversion ? item->conversion->writer->media_type : "application/octet-stream",
                   item->conversion ? NULL : &a->row);
    return !item->conversion || describe_conversion(b, i, member, &a->row, err);
}

/* `text`: owned; NULL: a late one. */
static bool add_text(struct bag *b, const char *name, char *text) {
    struct zip_item *item = &b->items->items[b->items->n++];
    item->text = text;
    return (item->name = strdup(name));
}

static bool add_payload_text(struct bag *b, const char *name, const char *media_type, char *text) {
    crate_add_file(b->crate, path_in_payload(name), media_type, NULL);
    return add_text(b, name, text);
}

static bool add_texts(struct bag *b, struct reel_error *err) {
    bool cited = json_array_size(json_object_get(b->deposit, "authors")) > 0;
    char *citation = cited ? deposit_citation(b->deposit) : NULL;
    char *declaration = strdup("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n");
    bool good = (citation || !cited) && declaration;
    good = (!cited || add_payload_text(b, BAG_DATA "CITATION.cff", "application/yaml", citation)) && good;
    if (json_array_size(b->reports) > 0) {
        good = add_payload_text(b, BAG_DATA REPORTS, "application/json", NULL) && good;
    }
    good = add_text(b, BAG_DATA "ro-crate-metadata.json", NULL) && good;
    good = add_text(b, BAG_ROOT "bagit.txt", declaration) && good;
    static const char *const late[] = {"bag-info.txt", "manifest-sha256.txt", "tagmanifest-sha256.txt"};
    for (size_t i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, BAG_ROOT "%s", late[i]);
        good = add_text(b, name, NULL) && good;
    }
    return good || reel_fail_memory(err);
}

bool bag_add_texts(struct bag *b, const struct inputs *in, const struct bag_member *members, uint32_t n,
                   struct zip_items *items, FILE *identity, struct reel_error *err) {
    static const struct zip_late late = {.planned = late_planned, .text = late_text, .free = late_free};
    items->late = &late;
    items->context = b;
    b->items = items;
    b->n = n;
    if (!(b->losses = calloc((size_t)n + 1, sizeof *b->losses))) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!describe_member(b, in, &members[i], i, err)) {
            return false;
        }
    }
    for (uint32_t i = n; i < items->n; i++) {
        crate_add_file(b->crate, path_in_payload(items->items[i].name), "text/plain", NULL);
    }
    if (!add_texts(b, err)) {
        return false;
    }
    AUTO_MEM char *crate = crate_text(b->crate), *citation = deposit_citation(b->deposit);
    if (!crate || !citation) {
        return reel_fail_memory(err);
    }
    fprintf(identity, "bag 1 %s\n%s\n%s\n", reel_version(), crate, citation);
    return true;
}
