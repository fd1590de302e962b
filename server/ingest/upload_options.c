/* See wishes.h. Its one rule: a wish is checked when it is taken, so that what is kept is good. */
#include "ingest/upload_options.h"

#include <string.h>
#include <strings.h>

void wishes_done(struct wishes *w) {
    catalog_said_done(&w->said);
    *w = (struct wishes){0};
}

static bool take_text(char out[WISH_TEXT], const char *key, const json_t *value, struct reel_error *err) {
    const char *text = json_string_value(value);
    if (!text || json_string_length(value) != strlen(text) || strlen(text) >= WISH_TEXT) {
        return reel_fail(err, REEL_ARGUMENT, "%s must be a text of at most %d bytes", key, WISH_TEXT - 1);
    }
    if (!out[0]) {
        memcpy(out, text, strlen(text) + 1);
    }
    return true;
}

static bool take_bool(bool *out, const char *key, const json_t *value, struct reel_error *err) {
    const char *text = json_string_value(value);
    bool yes = json_is_true(value) || (text && (strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0));
    bool no = json_is_false(value) || (text && (strcasecmp(text, "false") == 0 || strcmp(text, "0") == 0));
    *out = *out || yes;
    return yes || no || reel_fail(err, REEL_ARGUMENT, "%s must be true or false", key);
}

static bool take_sha256(struct wishes *w, const json_t *value, struct reel_error *err) {
    const char *text = json_string_value(value);
    if (!text || strspn(text, "0123456789abcdefABCDEF") != 64 || text[64]) {
        return reel_fail(err, REEL_ARGUMENT, "sha256 must be 64 hex digits");
    }
    for (unsigned i = 0; i <= 64; i++) {
        w->sha256[i] = (char)(text[i] | (text[i] >= 'A' && text[i] <= 'F' ? 0x20 : 0));
    }
    return true;
}

static bool take_tags(struct wishes *w, const json_t *value, struct reel_error *err) {
    const char *text = json_string_value(value), *key;
    json_t *parsed = text ? json_loadb(text, strlen(text), JSON_REJECT_DUPLICATES, NULL) : NULL, *item;
    const json_t *tags = text ? parsed : value;
    bool good = json_is_object(tags) || reel_fail(err, REEL_ARGUMENT, "tags must be an object of texts: {\"robot\": \"r1\"}");
    json_object_foreach((json_t *)tags, key, item) {
        const char *of = json_string_value(item);
        good = good && (of || reel_fail(err, REEL_ARGUMENT, "tags: %.64s must be a text", key)) && catalog_tag_check(key, of, err) &&
               (catalog_said_tag(&w->said, key) || catalog_said_set_tag(&w->said, key, of, err));
    }
    json_decref(parsed);
    return good;
}

static bool take_description(struct wishes *w, const json_t *value, struct reel_error *err) {
    const char *text = json_string_value(value);
    if (!text) {
        return reel_fail(err, REEL_ARGUMENT, "description must be a text");
    }
    if (!catalog_text_check("description", text, DESCRIPTION_MAX, err)) {
        return false;
    }
    w->said.description = w->said.description ? w->said.description : strdup(text);
    return w->said.description || reel_fail_memory(err);
}

bool wishes_take(struct wishes *w, const char *key, const json_t *value, bool *known, struct reel_error *err) {
    const struct {
        const char *name;
        char *to;
    } texts[] = {{"collection", w->collection}, {"name", w->name}, {"format", w->format}, {"part_of", w->part_of}, {"group", w->group}};
    *known = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(key, texts[i].name) == 0) {
            return take_text(texts[i].to, key, value, err);
        }
    }
    if (strcmp(key, "replace") == 0 || strcmp(key, "keep") == 0) {
        return take_bool(key[0] == 'r' ? &w->replace : &w->keep, key, value, err);
    }
    if (strcmp(key, "sha256") == 0) {
        return take_sha256(w, value, err);
    }
    if (strcmp(key, "tags") == 0) {
        return take_tags(w, value, err);
    }
    if (strcmp(key, "description") == 0) {
        return take_description(w, value, err);
    }
    *known = false;
    return true;
}

/* All members of an object; one that is no wish is an error. */
static bool wishes_take_all(struct wishes *w, const json_t *object, struct reel_error *err) {
    const char *key;
    json_t *value;
    if (!json_is_object(object)) {
        return reel_fail(err, REEL_ARGUMENT, "meta must be a JSON object");
    }
    json_object_foreach((json_t *)object, key, value) {
        bool known;
        if (!wishes_take(w, key, value, &known, err)) {
            return false;
        }
        if (!known) {
            return reel_fail(err, REEL_ARGUMENT,
                             "\"%.40s\" is none of collection, name, format, part_of, group, replace, keep, sha256, tags, description",
                             key);
        }
    }
    return true;
}

bool wishes_load(struct wishes *w, const char *text, struct reel_error *err) {
    json_t *object = strlen(text) <= WISHES_JSON_MAX ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    bool good = object ? wishes_take_all(w, object, err)
                       : reel_fail(err, REEL_ARGUMENT, "meta must be a JSON object of at most %d bytes", WISHES_JSON_MAX);
    json_decref(object);
    return good;
}

char *wishes_save(const struct wishes *w, struct reel_error *err) {
    const struct {
        const char *name, *text;
    } texts[] = {{"collection", w->collection},
                 {"name", w->name},
                 {"format", w->format},
                 {"part_of", w->part_of},
                 {"group", w->group},
                 {"sha256", w->sha256},
                 {"description", w->said.description}};
    json_t *object = json_object();
    bool good = object;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        good = good && (!texts[i].text || !texts[i].text[0] || json_object_set_new(object, texts[i].name, json_string(texts[i].text)) == 0);
    }
    good = good && (!w->replace || json_object_set_new(object, "replace", json_true()) == 0) &&
           (!w->keep || json_object_set_new(object, "keep", json_true()) == 0);
    json_t *tags = w->said.n_tags > 0 ? json_object() : NULL;
    for (uint32_t i = 0; i < w->said.n_tags; i++) {
        good = good && json_object_set_new(tags, w->said.tags[i].key, json_string(w->said.tags[i].value)) == 0;
    }
    good = (!tags || json_object_set_new(object, "tags", tags) == 0) && good;
    char *text = good ? json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(object);
    if (!text) {
        reel_fail(err, REEL_ARGUMENT, "what is wished for the upload is not UTF-8");
    }
    return text;
}

static const char *said(const char *text) {
    return text[0] ? text : NULL;
}

struct ingest_request wishes_request(const struct wishes *w) {
    return (struct ingest_request){.collection = w->collection[0] ? w->collection : "default",
                                   .name = w->name,
                                   .format = said(w->format),
                                   .part_of = said(w->part_of),
                                   .group = said(w->group),
                                   .said = &w->said,
                                   .replace = w->replace,
                                   .keep = w->keep};
}
