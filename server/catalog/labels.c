/* What a recording is found by: its topics and types as labels (for globs) and as words (for the full-text index).
 * Its one rule: one recording adds a bounded amount of text, whatever its file says. */
#include <stdio.h>
#include <string.h>

#include "catalog/own.h"

enum {
    LABEL_BYTES_MAX = 4096,    /* a longer topic or type is not searched for by anybody */
    WORDS_BYTES_MAX = 1 << 20, /* of all topics, or all types, of one recording */
};
enum label_kind { LABEL_TOPIC, LABEL_TYPE };

struct labels { /* being written */
    struct db_statement *insert, *link;
    int64_t row;
    FILE *words[2]; /* by kind */
    size_t n_words[2];
};

/* Links the label, once, and takes its words. */
static bool add(struct labels *l, enum label_kind kind, const char *name, struct reel_error *err) {
    size_t size = strlen(name);
    if (size == 0 || size > LABEL_BYTES_MAX) {
        return true;
    }
    struct db_statement *both[] = {l->insert, l->link};
    for (size_t i = 0; i < 2; i++) {
        db_set_int(both[i], ":row", l->row);
        db_set_int(both[i], ":kind", kind);
        db_set_text(both[i], ":name", name);
        if (!db_run(both[i], err)) {
            return false;
        }
    }
    if (db_changes(l->link) > 0 && l->n_words[kind] + size < WORDS_BYTES_MAX) {
        l->n_words[kind] += size + 1;
        return fprintf(l->words[kind], "%s ", name) > 0 || reel_fail_memory(err);
    }
    return true;
}

static bool add_all(struct labels *l, const struct reel_index *index, struct reel_error *err) {
    uint32_t n = index ? reel_index_info(index)->n_channels : 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct reel_channel *channel = reel_index_channel(index, i);
        for (uint32_t t = 0; t < channel->n_topics; t++) {
            if (!add(l, LABEL_TOPIC, channel->topics[t], err)) {
                return false;
            }
        }
        if (!add(l, LABEL_TYPE, channel->type, err)) {
            return false;
        }
    }
    return true;
}

static bool link_labels(struct db_handle *h, int64_t row, const struct reel_index *index, FILE *topics, FILE *types,
                        struct reel_error *err) {
    AUTO(db_done) struct db_statement *insert = db_statement(h, "label_insert", err);
    AUTO(db_done) struct db_statement *link = insert ? db_statement(h, "label_link", err) : NULL;
    struct labels l = {.insert = insert, .link = link, .row = row, .words = {topics, types}};
    return link && add_all(&l, index, err);
}

static bool unlink_labels(struct db_handle *h, int64_t row, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "labels_unlink", err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row);
    return db_run(s, err);
}

static bool write_words(struct db_handle *h, const struct catalog_recording *r, const char *topics, const char *types, bool fresh,
                        struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, fresh ? "search_insert" : "search_update", err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", r->row);
    db_set_text(s, ":name", r->name);
    db_set_text(s, ":collection", r->collection);
    db_set_text(s, ":topics", topics);
    db_set_text(s, ":types", types);
    return db_run(s, err);
}

static void close_stream(FILE *f) {
    if (f) {
        fclose(f);
    }
}

bool catalog_label(struct db_handle *h, const struct catalog_recording *r, const struct reel_index *index, bool fresh,
                   struct reel_error *err) {
    AUTO_MEM char *topics = NULL;
    AUTO_MEM char *types = NULL;
    size_t n_topics = 0, n_types = 0;
    FILE *topic_words = open_memstream(&topics, &n_topics), *type_words = open_memstream(&types, &n_types);
    bool ok = topic_words && type_words
                  ? (fresh || unlink_labels(h, r->row, err)) && link_labels(h, r->row, index, topic_words, type_words, err)
                  : reel_fail_memory(err);
    close_stream(topic_words);
    close_stream(type_words);
    return ok && write_words(h, r, topics, types, fresh, err);
}
