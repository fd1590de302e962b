/* q=, the line of a search box: for any text the query is bounded and FTS5 accepts it. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/pattern.h"
#include "catalog/search.h"
#include "wire/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) {
        abort();
    }
}

static sqlite3_stmt *words_statement(void) {
    static sqlite3 *db;
    static sqlite3_stmt *s;
    if (!s) {
        must(sqlite3_open(":memory:", &db) == SQLITE_OK);
        must(sqlite3_exec(db, "CREATE VIRTUAL TABLE search USING fts5 (a, b, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3 4')",
                          NULL, NULL, NULL) == SQLITE_OK);
        must(sqlite3_prepare_v2(db, "SELECT 1 FROM search WHERE search MATCH ?", -1, &s, NULL) == SQLITE_OK);
    }
    return s;
}

static void must_be_words(const char *words) {
    sqlite3_stmt *s = words_statement();
    if (words) {
        must(words[0]);
        sqlite3_bind_text(s, 1, words, -1, SQLITE_STATIC);
        must(sqlite3_step(s) == SQLITE_DONE);
        sqlite3_reset(s);
    }
}

static void try_search(const char *q) {
    struct search search;
    struct reel_error err = {0};
    if (search_parse(q, &search, &err)) {
        must(strlen(q) <= SEARCH_BYTES_MAX && search.n_terms <= SEARCH_TERMS_MAX);
        uint32_t n = 0;
        for (uint32_t i = 0; i < search.n_terms; i++) {
            const struct search_term *t = &search.terms[i];
            must(t->n_values > 0 && (t->kind != SEARCH_TAG || t->key.text));
            for (uint32_t k = 0; k < t->n_values; k++, n++) {
                must(t->values[k].text && strlen(t->values[k].text) <= 2 * strlen(q));
            }
        }
        must(n <= SEARCH_VALUES_MAX);
        must_be_words(search.words);
        must_be_words(search.without);
    } else {
        must(err.code == REEL_ARGUMENT && err.text[0]);
    }
    search_done(&search);
}

static void try_pattern(const char *text) {
    struct reel_error err = {0};
    AUTO(pattern_free) struct pattern *pattern = pattern_new(text, &err);
    bool yes;
    if (pattern) {
        pattern_match(pattern, "/camera/front/image_raw/compressed", &yes, &err);
        pattern_match(pattern, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", &yes, &err);
    } else {
        must(err.text[0]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = strndup((const char *)data, size);
    must(text);
    try_search(text);
    if (strlen(text) <= 2 * PATTERN_BYTES_MAX) {
        try_pattern(text);
    }
    free(text);
    return 0;
}
