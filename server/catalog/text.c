/* See text.h. The words are those of FTS5's tokenizer unicode61. */
#include "catalog/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct words { /* of one connection; FTS5 owns the tokenizer's functions */
    fts5_tokenizer ops;
    Fts5Tokenizer *tokenizer;
    char *text; /* being written */
    size_t size, room;
    bool full;
};

static void text_put(struct words *w, const char *text, size_t size) {
    if (w->size + size + 1 > w->room) {
        size_t room = 2 * (w->size + size + 1);
        char *grown = realloc(w->text, room);
        w->full = w->full || !grown;
        w->text = grown ? grown : w->text;
        w->room = grown ? room : w->room;
    }
    if (!w->full) {
        memcpy(w->text + w->size, text, size);
        w->size += size;
        w->text[w->size] = '\0';
    }
}

static int on_word(void *context, int flags, const char *word, int size, int start, int end) {
    (void)flags;
    (void)start;
    (void)end;
    struct words *w = context;
    text_put(w, word, (size_t)size);
    text_put(w, "  ", 2);
    return w->full ? SQLITE_NOMEM : SQLITE_OK;
}

static int add_words(struct words *w, sqlite3_value *value) {
    const char *text = (const char *)sqlite3_value_text(value);
    text_put(w, "  ", 2);
    return text ? w->ops.xTokenize(w->tokenizer, w, FTS5_TOKENIZE_DOCUMENT, text, sqlite3_value_bytes(value), on_word)
                : SQLITE_OK;
}

/* The words of the values into w->text. */
static int text_write_text(struct words *w, int n, sqlite3_value **values) {
    w->size = 0;
    w->full = false;
    int rc = SQLITE_OK;
    for (int i = 0; i < n && rc == SQLITE_OK; i++) {
        text_put(w, "\n", i > 0);
        rc = add_words(w, values[i]);
    }
    return w->full ? SQLITE_NOMEM : rc;
}

static void search_text(sqlite3_context *context, int n, sqlite3_value **values) {
    struct words *w = sqlite3_user_data(context);
    int rc = text_write_text(w, n, values);
    if (rc != SQLITE_OK) {
        sqlite3_result_error_code(context, rc);
    } else {
        sqlite3_result_text(context, w->text, (int)w->size, SQLITE_TRANSIENT);
    }
}

static unsigned characters(const char *text) {
    unsigned n = 0;
    for (; *text; text++) {
        n += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return n;
}

static void search_needle(sqlite3_context *context, int n, sqlite3_value **values) {
    struct words *w = sqlite3_user_data(context);
    (void)n;
    int rc = text_write_text(w, 1, values);
    if (rc != SQLITE_OK) {
        sqlite3_result_error_code(context, rc);
        return;
    }
    bool phrase = sqlite3_value_int(values[1]) != 0;
    if (w->size <= 2) { /* the blanks */
        sqlite3_result_text(context, "", 0, SQLITE_STATIC);
        return;
    }
    char *from = w->text, *end = w->text + w->size;
    if (!phrase) {
        end -= 2;
        *end = '\0';
        unsigned n_characters = characters(from + 2);
        from += n_characters >= 3 ? 2 : n_characters - 1; /* "  x", " xy", "xyz" */
    }
    sqlite3_result_text(context, from, (int)(end - from), SQLITE_TRANSIENT);
}

static void search_has(sqlite3_context *context, int n, sqlite3_value **values) {
    struct words *w = sqlite3_user_data(context);
    const char *needle = (const char *)sqlite3_value_text(values[0]);
    int rc = text_write_text(w, n - 1, values + 1);
    if (rc != SQLITE_OK) {
        sqlite3_result_error_code(context, rc);
    } else {
        sqlite3_result_int(context, needle && strstr(w->text, needle) != NULL);
    }
}

static void words_free(void *p) {
    struct words *w = p;
    if (w->tokenizer) {
        w->ops.xDelete(w->tokenizer);
    }
    free(w->text);
    free(w);
}

static fts5_api *find_fts5(sqlite3 *sqlite) {
    fts5_api *api = NULL;
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(sqlite, "SELECT fts5(?)", -1, &s, NULL) == SQLITE_OK) {
        sqlite3_bind_pointer(s, 1, &api, "fts5_api_ptr", NULL);
        sqlite3_step(s);
    }
    sqlite3_finalize(s);
    return api;
}

static int open_tokenizer(sqlite3 *sqlite, struct words *w) {
    const char *options[] = {"remove_diacritics", "2"};
    void *context = NULL;
    fts5_api *api = find_fts5(sqlite);
    int rc = api ? api->xFindTokenizer(api, "unicode61", &context, &w->ops) : SQLITE_ERROR;
    return rc == SQLITE_OK ? w->ops.xCreate(context, options, 2, &w->tokenizer) : rc;
}

int text_register(sqlite3 *sqlite) {
    static const int what = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    struct words *w = calloc(1, sizeof *w);
    if (!w) {
        return SQLITE_NOMEM;
    }
    int rc = open_tokenizer(sqlite, w);
    if (rc != SQLITE_OK) {
        words_free(w);
        return rc;
    }
    rc = sqlite3_create_function_v2(sqlite, "search_text", -1, what, w, search_text, NULL, NULL, words_free); /* frees,
                                                                                                                 if it
                                                                                                                 fails
                                                                                                                 too */
    rc = rc == SQLITE_OK
             ? sqlite3_create_function_v2(sqlite, "search_needle", 2, what, w, search_needle, NULL, NULL, NULL)
             : rc;
    return rc == SQLITE_OK ? sqlite3_create_function_v2(sqlite, "search_has", 3, what, w, search_has, NULL, NULL, NULL)
                           : rc;
}
