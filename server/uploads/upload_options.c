/* See upload_options.h. An option is validated when it is set. */
#include "uploads/upload_options.h"

#include <string.h>

#include "base/ascii.h"
#include "base/heap.h"
#include "json_whole.h"

void upload_options_done(struct upload_options *w) {
    catalog_annotations_done(&w->annotations);
    *w = (struct upload_options){0};
}

static bool upload_options_read_text(char out[UPLOAD_OPTION_TEXT], const char *key, const json_t *value,
                                     struct reel_error *err) {
    const char *text = json_string_value(value);
    if (!text || json_string_length(value) != strlen(text) || strlen(text) >= UPLOAD_OPTION_TEXT) {
        return reel_fail(err, REEL_ARGUMENT, "%s must be a text of at most %d bytes", key, UPLOAD_OPTION_TEXT - 1);
    }
    if (!out[0]) {
        memcpy(out, text, strlen(text) + 1);
    }
    return true;
}

static bool read_bool(bool *out, const char *key, const json_t *value, struct reel_error *err) {
    const char *text = json_string_value(value);
    bool yes = json_is_true(value) || (text && (ascii_casecmp(text, "true") == 0 || strcmp(text, "1") == 0));
    bool no = json_is_false(value) || (text && (ascii_casecmp(text, "false") == 0 || strcmp(text, "0") == 0));
    *out = *out || yes;
    return yes || no || reel_fail(err, REEL_ARGUMENT, "%s must be true or false", key);
}

static bool read_sha256(struct upload_options *w, const json_t *value, struct reel_error *err) {
    const char *text = json_string_value(value);
    if (!text || strspn(text, "0123456789abcdefABCDEF") != 64 || text[64]) {
        return reel_fail(err, REEL_ARGUMENT, "sha256 must be 64 hex digits");
    }
    for (unsigned i = 0; i <= 64; i++) {
        w->sha256[i] = (char)(text[i] | (text[i] >= 'A' && text[i] <= 'F' ? 0x20 : 0));
    }
    return true;
}

static bool upload_options_read_tags(struct upload_options *w, const json_t *value, struct reel_error *err) {
    const char *text = json_string_value(value), *key;
    json_t *parsed = text ? json_loadb(text, strlen(text), JSON_REJECT_DUPLICATES, NULL) : NULL, *item;
    const json_t *tags = text ? parsed : value;
    bool good =
        json_is_object(tags) || reel_fail(err, REEL_ARGUMENT, "tags must be an object of texts: {\"robot\": \"r1\"}");
    json_object_foreach((json_t *)tags, key, item) {
        const char *of = json_string_value(item);
        good = good && (of || reel_fail(err, REEL_ARGUMENT, "tags: %.64s must be a text", key)) &&
               catalog_tag_check(key, of, err) &&
               (catalog_annotations_tag(&w->annotations, key) ||
                catalog_annotations_set_tag(&w->annotations, key, of, err));
    }
    json_decref(parsed);
    return good;
}

static bool read_description(struct upload_options *w, const json_t *value, struct reel_error *err) {
    const char *text = json_string_value(value);
    if (!text) {
        return reel_fail(err, REEL_ARGUMENT, "description must be a text");
    }
    if (!catalog_text_check("description", text, DESCRIPTION_MAX, err)) {
        return false;
    }
    w->annotations.description = w->annotations.description ? w->annotations.description : strdup(text);
    return w->annotations.description || reel_fail_memory(err);
}

bool upload_options_set(struct upload_options *w, const char *key, const json_t *value, bool *known,
                        struct reel_error *err) {
    const struct {
        const char *name;
        char *to;
    } texts[] = {{"collection", w->collection}, {"name", w->name},   {"format", w->format},
                 {"part_of", w->part_of},       {"group", w->group}, {"file_name", w->file_name}};
    *known = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(key, texts[i].name) == 0) {
            return upload_options_read_text(texts[i].to, key, value, err);
        }
    }
    if (strcmp(key, "replace") == 0 || strcmp(key, "keep") == 0) {
        return read_bool(key[0] == 'r' ? &w->replace : &w->keep, key, value, err);
    }
    if (strcmp(key, "sha256") == 0) {
        return read_sha256(w, value, err);
    }
    if (strcmp(key, "tags") == 0) {
        return upload_options_read_tags(w, value, err);
    }
    if (strcmp(key, "description") == 0) {
        return read_description(w, value, err);
    }
    *known = false;
    return true;
}

/* All members of an object; an unknown option is an error. */
static bool upload_options_set_all(struct upload_options *w, const json_t *object, struct reel_error *err) {
    const char *key;
    json_t *value;
    if (!json_is_object(object)) {
        return reel_fail(err, REEL_ARGUMENT, "meta must be a JSON object");
    }
    json_object_foreach((json_t *)object, key, value) {
        bool known;
        if (!upload_options_set(w, key, value, &known, err)) {
            return false;
        }
        if (!known) {
            return reel_fail(
                err, REEL_ARGUMENT,
                "\"%.40s\" is none of collection, name, file_name, format, part_of, group, replace, keep, sha256, "
                "tags, description",
                key);
        }
    }
    return true;
}

bool upload_options_parse(struct upload_options *w, const char *text, struct reel_error *err) {
    uint64_t failures = heap_failures();
    json_t *object = strlen(text) <= UPLOAD_OPTIONS_JSON_MAX ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    bool good =
        object ? upload_options_set_all(w, object, err)
        : heap_failures() != failures
            ? reel_fail_memory(err) /* an upload in progress is kept */
            : reel_fail(err, REEL_ARGUMENT, "meta must be a JSON object of at most %d bytes", UPLOAD_OPTIONS_JSON_MAX);
    json_decref(object);
    return good;
}

char *upload_options_print(const struct upload_options *w, struct reel_error *err) {
    const struct {
        const char *name, *text;
    } texts[] = {{"collection", w->collection}, {"name", w->name},
                 {"format", w->format},         {"part_of", w->part_of},
                 {"group", w->group},           {"file_name", w->file_name},
                 {"sha256", w->sha256},         {"description", w->annotations.description}};
    json_t *object = json_object();
    bool good = object;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        good = good && (!texts[i].text || !texts[i].text[0] ||
                        json_object_set_new(object, texts[i].name, json_string(texts[i].text)) == 0);
    }
    good = good && (!w->replace || json_object_set_new(object, "replace", json_true()) == 0) &&
           (!w->keep || json_object_set_new(object, "keep", json_true()) == 0);
    json_t *tags = w->annotations.n_tags > 0 ? json_object() : NULL;
    for (uint32_t i = 0; i < w->annotations.n_tags; i++) {
        good = good &&
               json_object_set_new(tags, w->annotations.tags[i].key, json_string(w->annotations.tags[i].value)) == 0;
    }
    good = (!tags || json_object_set_new(object, "tags", tags) == 0) && good;
    char *text = good ? json_whole_text(object, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(object);
    if (!text) {
        reel_fail(err, REEL_ARGUMENT, "the upload options are not UTF-8");
    }
    return text;
}

static const char *annotations(const char *text) {
    return text[0] ? text : NULL;
}

struct ingest_request upload_options_request(const struct upload_options *w) {
    return (struct ingest_request){.collection = w->collection[0] ? w->collection : "default",
                                   .name = w->name,
                                   .file_name = annotations(w->file_name),
                                   .format = annotations(w->format),
                                   .part_of = annotations(w->part_of),
                                   .group = annotations(w->group),
                                   .annotations = &w->annotations,
                                   .replace = w->replace,
                                   .keep = w->keep,
                                   .absent = w->absent};
}
