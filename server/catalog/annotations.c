/* See annotations.h. Tags are sorted by key, each key once. */
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/annotations.h"
#include "syntax/utf8.h"

static void drop_tags(struct catalog_tag *tags, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        free(tags[i].key);
        free(tags[i].value);
    }
    free(tags);
}

void catalog_annotations_done(struct catalog_annotations *annotations) {
    drop_tags(annotations->tags, annotations->n_tags);
    free(annotations->description);
    free(annotations->custom);
    *annotations = (struct catalog_annotations){0};
}

static char *copy_text(const char *text, bool *good) {
    char *copy = text ? strdup(text) : NULL;
    *good = *good && (copy || !text);
    return copy;
}

bool annotations_copy_tags(const struct catalog_annotations *from, struct catalog_annotations *to) {
    bool good = true;
    to->tags = from->n_tags > 0 ? calloc(from->n_tags, sizeof *to->tags) : NULL;
    to->n_tags = to->tags ? from->n_tags : 0;
    good = to->tags || from->n_tags == 0;
    for (uint32_t i = 0; i < to->n_tags; i++) {
        to->tags[i].key = copy_text(from->tags[i].key, &good);
        to->tags[i].value = copy_text(from->tags[i].value, &good);
    }
    return good;
}

bool catalog_annotations_copy(const struct catalog_annotations *from, struct catalog_annotations *to) {
    bool good = true;
    *to = *from;
    to->description = copy_text(from->description, &good);
    to->custom = copy_text(from->custom, &good);
    good = annotations_copy_tags(from, to) && good;
    if (!good) {
        catalog_annotations_done(to);
    }
    return good;
}

const char *clock_name(enum reel_clock clock) {
    return clock == REEL_CLOCK_RELATIVE ? "relative" : "wall";
}

bool clock_named(const char *name, enum reel_clock *out) {
    *out = strcmp(name, "relative") == 0 ? REEL_CLOCK_RELATIVE : REEL_CLOCK_WALL;
    return strcmp(name, clock_name(*out)) == 0;
}

/* Where the key is, or belongs. */
static uint32_t annotations_position_of(const struct catalog_annotations *annotations, const char *key, bool *there) {
    uint32_t low = 0, high = annotations->n_tags;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(annotations->tags[middle].key, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *there = low < annotations->n_tags && strcmp(annotations->tags[low].key, key) == 0;
    return low;
}

const char *catalog_annotations_tag(const struct catalog_annotations *annotations, const char *key) {
    bool there;
    uint32_t at = annotations_position_of(annotations, key, &there);
    return there ? annotations->tags[at].value : NULL;
}

bool catalog_annotations_set_tag(struct catalog_annotations *annotations, const char *key, const char *value,
                                 struct reel_error *err) {
    bool there;
    uint32_t at = annotations_position_of(annotations, key, &there);
    AUTO_MEM char *value_copy = strdup(value);
    if (!value_copy) {
        return reel_fail_memory(err);
    }
    if (there) {
        free(annotations->tags[at].value);
        annotations->tags[at].value = TAKE(value_copy);
        return true;
    }
    if (annotations->n_tags == TAGS_MAX) {
        return reel_fail(err, REEL_LIMIT, "at most %d tags", TAGS_MAX);
    }
    AUTO_MEM char *key_copy = strdup(key);
    struct catalog_tag *tags = realloc(annotations->tags, (annotations->n_tags + 1) * sizeof *tags);
    annotations->tags = tags ? tags : annotations->tags;
    if (!tags || !key_copy) {
        return reel_fail_memory(err);
    }
    memmove(tags + at + 1, tags + at, (annotations->n_tags++ - at) * sizeof *tags);
    tags[at] = (struct catalog_tag){.key = TAKE(key_copy), .value = TAKE(value_copy)};
    return true;
}

bool catalog_annotations_inherit(struct catalog_annotations *to, const struct catalog_annotations *from,
                                 struct reel_error *err) {
    bool good = true;
    for (uint32_t i = 0; i < from->n_tags; i++) {
        bool own = catalog_annotations_tag(to, from->tags[i].key) || to->n_tags == TAGS_MAX;
        if (!own && !catalog_annotations_set_tag(to, from->tags[i].key, from->tags[i].value, err)) {
            return false;
        }
    }
    to->description = to->description && to->description[0]
                          ? to->description
                          : (free(to->description), copy_text(from->description, &good));
    to->custom = to->custom && to->custom[0] ? to->custom : (free(to->custom), copy_text(from->custom, &good));
    return good || reel_fail_memory(err);
}

void annotations_shorten(struct catalog_annotations *annotations) {
    size_t size = annotations->description ? strlen(annotations->description) : 0;
    if (size > LIST_DESCRIPTION_MAX) {
        for (size = LIST_DESCRIPTION_MAX; size > 0 && ((unsigned char)annotations->description[size] & 0xc0) == 0x80;) {
            size--; /* not within a character */
        }
        annotations->description[size] = '\0';
        annotations->cut_description = true;
    }
    if (annotations->custom && strlen(annotations->custom) > LIST_CUSTOM_MAX) {
        annotations->custom[0] = '\0';
        annotations->cut_custom = true;
    }
}

/* ---- validation */

bool catalog_text_check(const char *what, const char *text, size_t bytes_max, struct reel_error *err) {
    if (strlen(text) > bytes_max) {
        return reel_fail(err, REEL_LIMIT, "%s has %zu bytes, at most %zu are kept", what, strlen(text), bytes_max);
    }
    json_t *j = json_string(text); /* it refuses what is no UTF-8 */
    json_decref(j);
    return j || reel_fail(err, REEL_ARGUMENT, "%s is not UTF-8", what);
}

bool catalog_tag_check(const char *key, const char *value, struct reel_error *err) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-";
    size_t size = strlen(key);
    if (size == 0 || size > TAG_KEY_MAX || strspn(key, letters) != size) {
        return reel_fail(err, REEL_ARGUMENT, "a tag's key is 1 to %d of A-Z, a-z, 0-9, \"_\", \".\", \":\" and \"-\"",
                         TAG_KEY_MAX);
    }
    if (!value) {
        return true;
    }
    if (!catalog_text_check("a tag's value", value, TAG_VALUE_MAX, err)) {
        return false;
    }
    return !utf8_has_control(value) || reel_fail(err, REEL_ARGUMENT, "a tag's value has no control characters");
}
