/* How a recording is found: its topics, types and the file's metadata, as labels (for globs) and as words (for the full-text index). The
 * text of one recording is bounded, whatever its file contains. */
#include <stdio.h>
#include <string.h>

#include "catalog/catalog_internal.h"
#include "wire/cleanup.h"

enum {
    LABEL_BYTES_MAX = 4096,    /* longer topics and types are not indexed */
    WORDS_BYTES_MAX = 1 << 20, /* of all topics, or all types, of one recording */
    META_PAIRS_MAX = 200,      /* of the file's metadata, the first ones */
    META_BYTES_MAX = 256,      /* of a key, and of a value; longer ones are cut */
};
enum label_kind { LABEL_TOPIC, LABEL_TYPE, LABEL_META, LABEL_KINDS };

struct labels { /* being written */
    struct db_statement *insert, *link;
    int64_t row;
    FILE *words[LABEL_KINDS];
    size_t n_words[LABEL_KINDS];
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

/* At most so many bytes of it, not in the middle of a character; control characters as blanks. */
static void put_short(FILE *out, const char *text) {
    size_t size = strnlen(text, META_BYTES_MAX + 1);
    if (size > META_BYTES_MAX) {
        for (size = META_BYTES_MAX; size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80; size--) {
        }
    }
    for (size_t i = 0; i < size; i++) {
        fputc((unsigned char)text[i] < ' ' ? ' ' : text[i], out);
    }
}

/* As KEY:value. */
static bool add_pair(struct labels *l, const struct reel_pair *pair, struct reel_error *err) {
    char name[2 * META_BYTES_MAX + 2] = "";
    FILE *out = fmemopen(name, sizeof name, "w");
    if (!out) {
        return reel_fail_memory(err);
    }
    put_short(out, pair->key);
    fputc(':', out);
    put_short(out, pair->value);
    fclose(out);
    return add(l, LABEL_META, name, err);
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
    const struct reel_pairs *pairs = index ? reel_index_metadata(index) : &(struct reel_pairs){0};
    for (size_t i = 0; i < pairs->count && i < META_PAIRS_MAX; i++) {
        if (!add_pair(l, &pairs->items[i], err)) {
            return false;
        }
    }
    return true;
}

static bool link_labels(struct db_handle *h, int64_t row, const struct reel_index *index, FILE *const words[LABEL_KINDS],
                        struct reel_error *err) {
    AUTO(db_done) struct db_statement *insert = db_statement(h, "label_insert", err);
    AUTO(db_done) struct db_statement *link = insert ? db_statement(h, "label_link", err) : NULL;
    struct labels l = {.insert = insert, .link = link, .row = row, .words = {words[0], words[1], words[2]}};
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

static bool write_words(struct db_handle *h, const struct catalog_recording *r, char *const texts[LABEL_KINDS], bool fresh,
                        struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, fresh ? "search_insert" : "search_update", err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", r->row);
    db_set_text(s, ":name", r->name);
    db_set_text(s, ":collection", r->collection);
    db_set_text(s, ":topics", texts[LABEL_TOPIC]);
    db_set_text(s, ":types", texts[LABEL_TYPE]);
    db_set_text(s, ":metadata", texts[LABEL_META]);
    return db_run(s, err);
}

bool catalog_label(struct db_handle *h, const struct catalog_recording *r, const struct reel_index *index, bool fresh,
                   struct reel_error *err) {
    char *texts[LABEL_KINDS] = {NULL};
    size_t sizes[LABEL_KINDS];
    FILE *words[LABEL_KINDS];
    bool ok = true;
    for (int i = 0; i < LABEL_KINDS; i++) {
        words[i] = open_memstream(&texts[i], &sizes[i]);
        ok = ok && words[i];
    }
    ok = ok ? (fresh || unlink_labels(h, r->row, err)) && link_labels(h, r->row, index, words, err) : reel_fail_memory(err);
    for (int i = 0; i < LABEL_KINDS; i++) {
        ok = (!words[i] || fclose(words[i]) == 0) && ok;
    }
    ok = ok && write_words(h, r, texts, fresh, err);
    for (int i = 0; i < LABEL_KINDS; i++) {
        free(texts[i]);
    }
    return ok;
}
