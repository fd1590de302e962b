/* q=, the line of a search box: for any text the tree is bounded and whole. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/pattern.h"
#include "catalog/search.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) {
        abort();
    }
}

static void try_search(const char *q) {
    struct search search;
    struct reel_error err = {0};
    if (search_parse(q, &search, &err)) {
        must(strlen(q) <= SEARCH_BYTES_MAX && search.n_nodes <= SEARCH_NODES_MAX &&
             search.n_values <= SEARCH_VALUES_MAX);
        for (uint32_t i = 0; i < search.n_nodes; i++) {
            const struct search_node *t = &search.nodes[i];
            must(t->next == 0 || (t->next > i && t->next < search.n_nodes));
            must(t->first == 0 || (t->kind <= SEARCH_ANY && t->first > i && t->first < search.n_nodes));
            must(t->kind <= SEARCH_ANY || t->n_values > 0 || t->has_range);
            must(t->kind != SEARCH_TAG || t->key.text);
            must(!t->has_range || t->min <= t->max || t->kind >= SEARCH_SIZE);
            for (uint32_t k = 0; k < t->n_values; k++) {
                must(t->values[k].text && strlen(t->values[k].text) <= 2 * strlen(q));
            }
        }
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
