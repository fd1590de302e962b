/* What is said of one recording, in memory: copied, checked, merged. Its one rule: tags are in the order of their keys, each key once. */
#include <jansson.h>
#include <string.h>

#include "catalog/annotations.h"
#include "wire/cleanup.h"

static void drop_tags(struct catalog_tag *tags, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        free(tags[i].key);
        free(tags[i].value);
    }
    free(tags);
}

void catalog_said_done(struct catalog_said *said) {
    drop_tags(said->tags, said->n_tags);
    free(said->description);
    free(said->custom);
    *said = (struct catalog_said){0};
}

static char *copy_text(const char *text, bool *good) {
    char *copy = text ? strdup(text) : NULL;
    *good = *good && (copy || !text);
    return copy;
}

bool catalog_said_copy(const struct catalog_said *from, struct catalog_said *to) {
    bool good = true;
    *to = *from;
    to->description = copy_text(from->description, &good);
    to->custom = copy_text(from->custom, &good);
    to->tags = from->n_tags > 0 ? calloc(from->n_tags, sizeof *to->tags) : NULL;
    to->n_tags = to->tags ? from->n_tags : 0;
    good = good && (to->tags || from->n_tags == 0);
    for (uint32_t i = 0; i < to->n_tags; i++) {
        to->tags[i].key = copy_text(from->tags[i].key, &good);
        to->tags[i].value = copy_text(from->tags[i].value, &good);
    }
    if (!good) {
        catalog_said_done(to);
    }
    return good;
}

/* Where the key is, or belongs. */
static uint32_t place_of(const struct catalog_said *said, const char *key, bool *there) {
    uint32_t low = 0, high = said->n_tags;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(said->tags[middle].key, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *there = low < said->n_tags && strcmp(said->tags[low].key, key) == 0;
    return low;
}

const char *catalog_said_tag(const struct catalog_said *said, const char *key) {
    bool there;
    uint32_t at = place_of(said, key, &there);
    return there ? said->tags[at].value : NULL;
}

bool catalog_said_set_tag(struct catalog_said *said, const char *key, const char *value, struct reel_error *err) {
    bool there;
    uint32_t at = place_of(said, key, &there);
    AUTO_MEM char *value_copy = strdup(value);
    if (!value_copy) {
        return reel_fail_memory(err);
    }
    if (there) {
        free(said->tags[at].value);
        said->tags[at].value = TAKE(value_copy);
        return true;
    }
    if (said->n_tags == TAGS_MAX) {
        return reel_fail(err, REEL_LIMIT, "at most %d tags", TAGS_MAX);
    }
    AUTO_MEM char *key_copy = strdup(key);
    struct catalog_tag *tags = realloc(said->tags, (said->n_tags + 1) * sizeof *tags);
    said->tags = tags ? tags : said->tags;
    if (!tags || !key_copy) {
        return reel_fail_memory(err);
    }
    memmove(tags + at + 1, tags + at, (said->n_tags++ - at) * sizeof *tags);
    tags[at] = (struct catalog_tag){.key = TAKE(key_copy), .value = TAKE(value_copy)};
    return true;
}

bool catalog_said_inherit(struct catalog_said *to, const struct catalog_said *from, struct reel_error *err) {
    bool good = true;
    for (uint32_t i = 0; i < from->n_tags; i++) {
        bool own = catalog_said_tag(to, from->tags[i].key) || to->n_tags == TAGS_MAX;
        if (!own && !catalog_said_set_tag(to, from->tags[i].key, from->tags[i].value, err)) {
            return false;
        }
    }
    to->description =
        to->description && to->description[0] ? to->description : (free(to->description), copy_text(from->description, &good));
    to->custom = to->custom && to->custom[0] ? to->custom : (free(to->custom), copy_text(from->custom, &good));
    return good || reel_fail_memory(err);
}

bool catalog_on_calendar(const struct catalog_recording *r, int64_t own_ns, int64_t *ns) {
    int64_t shift = r->clock == REEL_CLOCK_RELATIVE ? r->said.epoch_ns : 0; /* never negative */
    if (r->clock == REEL_CLOCK_RELATIVE && !r->said.has_epoch) {
        return false;
    }
    *ns = own_ns > INT64_MAX - shift ? INT64_MAX : own_ns + shift;
    return true;
}

void said_shorten(struct catalog_said *said) {
    size_t size = said->description ? strlen(said->description) : 0;
    if (size > LIST_DESCRIPTION_MAX) {
        for (size = LIST_DESCRIPTION_MAX; size > 0 && ((unsigned char)said->description[size] & 0xc0) == 0x80;) {
            size--; /* not within a character */
        }
        said->description[size] = '\0';
        said->cut_description = true;
    }
    if (said->custom && strlen(said->custom) > LIST_CUSTOM_MAX) {
        said->custom[0] = '\0';
        said->cut_custom = true;
    }
}

/* ---- what may be said */

bool catalog_text_check(const char *what, const char *text, size_t bytes_max, struct reel_error *err) {
    if (strlen(text) > bytes_max) {
        return reel_fail(err, REEL_LIMIT, "%s has %zu bytes, at most %zu are kept", what, strlen(text), bytes_max);
    }
    json_t *j = json_string(text); /* it refuses what is no UTF-8 */
    json_decref(j);
    return j || reel_fail(err, REEL_ARGUMENT, "%s is not UTF-8", what);
}

static bool has_control(const char *text) {
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)) {
            return true;
        }
    }
    return false;
}

bool catalog_tag_check(const char *key, const char *value, struct reel_error *err) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-";
    size_t size = strlen(key);
    if (size == 0 || size > TAG_KEY_MAX || strspn(key, letters) != size) {
        return reel_fail(err, REEL_ARGUMENT, "a tag's key is 1 to %d of A-Z, a-z, 0-9, \"_\", \".\", \":\" and \"-\"", TAG_KEY_MAX);
    }
    if (!value) {
        return true;
    }
    if (!catalog_text_check("a tag's value", value, TAG_VALUE_MAX, err)) {
        return false;
    }
    return !has_control(value) || reel_fail(err, REEL_ARGUMENT, "a tag's value has no control characters");
}
