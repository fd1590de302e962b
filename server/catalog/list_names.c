/* See list_names.h. The number of names compared and the time are bounded for each query. */
#include "catalog/list_names.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "base/text_stream.h"
#include "reel/time.h"
#include "stream/stream.h"

enum { IDS_MAX = 20000, NAMES_MAX = 300000, TEXT_MAX = 8192 };
static const char last_character[] = "\xf4\x8f\xbf\xbf";

/* ---- names that match */

static bool matches(const struct list_matcher *w, const char *name, bool *yes, struct reel_error *err) {
    if (w->pattern) {
        return pattern_match(w->pattern, name, yes, err);
    }
    if (w->exact) {
        *yes = strcmp(w->text + (w->slashes && w->text[0] == '/'), name + (w->slashes && name[0] == '/')) == 0;
    } else {
        *yes = w->slashes ? reel_topic_match(w->text, name) : reel_glob_match(w->text, name);
    }
    return true;
}

/* Where fitting names lie in the order of bytes. */
struct range {
    char from[TEXT_MAX], end[TEXT_MAX + 4];
};

static bool list_names_find_range(const struct list_matcher *w, const char *prefix, struct range *out,
                                  struct reel_error *err) {
    const char *text = w->pattern ? "" : w->text + (w->slashes && w->text[0] == '/');
    size_t fixed = w->exact ? strlen(text) : strcspn(text, "*?");
    if (fixed + strlen(prefix) >= TEXT_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "a name of more than %d bytes", TEXT_MAX);
    }
    snprintf(out->from, sizeof out->from, "%s%.*s", prefix, (int)fixed, text);
    bool whole = !w->pattern && text[fixed] == '\0'; /* no glob in it */
    snprintf(out->end, sizeof out->end, "%s%s", out->from, whole ? "" : last_character);
    return true;
}

static bool count_name(struct list_query *query, struct reel_error *err) {
    if (++query->names_read > NAMES_MAX || (query->names_read % 256 == 0 && reel_now_ns() > query->deadline_ns)) {
        return reel_fail(err, REEL_ARGUMENT, "too many names to search; begin the pattern with fixed characters");
    }
    return true;
}

/* ---- ids */

bool list_ids_open(struct list_ids *ids, struct reel_error *err) {
    *ids = (struct list_ids){.out = NULL};
    ids->out = open_memstream(&ids->text, &ids->size);
    return ids->out || reel_fail_memory(err);
}

static bool ids_add(struct list_ids *ids, int64_t id, struct reel_error *err) {
    if (ids->n >= IDS_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "the pattern matches more than %d names; make it more specific", IDS_MAX);
    }
    fprintf(ids->out, "%c%lld", ids->n++ == 0 ? '[' : ',', (long long)id);
    return true;
}

bool list_ids_close(struct list_ids *ids, bool good, struct list_query *query, uint32_t parent,
                    enum condition_kind kind, const char *column, bool negated, struct reel_error *err) {
    if (!ids->out) {
        return false;
    }
    fputs(ids->n == 0 ? "[]" : "]", ids->out);
    good = (text_stream_close(ids->out, &ids->text) || reel_fail_memory(err)) && good;
    struct condition *c = good ? list_add(query, parent, kind, err) : NULL;
    if (!c) {
        free(ids->text);
        return false;
    }
    c->column = column;
    c->negated = negated;
    c->text = ids->text;
    return true;
}

/* The names that a statement returns in a range; for a tag's value its key must match too. */
static bool add_between(struct db_statement *s, struct list_query *query, const struct list_matcher *w,
                        const struct list_matcher *key, struct list_ids *ids, struct reel_error *err) {
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW) {
        bool yes = true;
        if (!count_name(query, err) || !matches(w, db_text(s, 1), &yes, err) ||
            (yes && key && !matches(key, db_text(s, 2), &yes, err)) || (yes && !ids_add(ids, db_int(s, 0), err))) {
            return false;
        }
    }
    return step == DB_END;
}

static bool add_range(struct db_handle *h, struct list_query *query, enum label_kind kind, const char *prefix,
                      const struct list_matcher *w, struct list_ids *ids, struct reel_error *err) {
    AUTO_MEM struct range *range = malloc(sizeof *range);
    AUTO(db_done) struct db_statement *s = range ? db_statement(h, "labels_between", err) : NULL;
    if (!s) {
        return range ? false : reel_fail_memory(err);
    }
    if (!list_names_find_range(w, prefix, range, err)) {
        return false;
    }
    db_set_int(s, ":kind", kind);
    db_set_text(s, ":from", range->from);
    db_set_text(s, ":end", range->end);
    return add_between(s, query, w, NULL, ids, err);
}

bool list_add_labels(struct db_handle *h, struct list_query *query, enum label_kind kind, struct list_matcher w,
                     struct list_ids *ids, struct reel_error *err) {
    w.slashes = kind != KIND_META;
    const char *text = w.pattern ? "" : w.text + (w.slashes && w.text[0] == '/');
    bool open =
        !w.exact && (*text == '\0' || *text == '*' || *text == '?') && (w.pattern || *text != '\0'); /* nothing
                                                                                                        is known
                                                                                                        of the
                                                                                                        beginning
                                                                                                      */
    if (!add_range(h, query, kind, "", &w, ids, err)) {
        return false;
    }
    return !w.slashes || open || add_range(h, query, kind, "/", &w, ids, err);
}

bool list_add_tags(struct db_handle *h, struct list_query *query, const struct list_matcher *key,
                   const struct list_matcher *value, struct list_ids *ids, struct reel_error *err) {
    AUTO_MEM struct range *keys = malloc(sizeof *keys);
    AUTO_MEM struct range *values = malloc(sizeof *values);
    AUTO(db_done)
    struct db_statement *s =
        keys && values ? db_statement(h, value ? "tag_values_between" : "tag_keys_between", err) : NULL;
    if (!s) {
        return keys && values ? false : reel_fail_memory(err);
    }
    if (!list_names_find_range(key, "", keys, err) || (value && !list_names_find_range(value, "", values, err))) {
        return false;
    }
    db_set_text(s, ":key_from", keys->from);
    db_set_text(s, ":key_end", keys->end);
    db_set_text(s, ":from", value ? values->from : keys->from);
    db_set_text(s, ":end", value ? values->end : keys->end);
    return add_between(s, query, value ? value : key, value ? key : NULL, ids, err);
}
