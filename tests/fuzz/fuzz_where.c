/* Fuzzes conditions on values, as where= has them: lines up to a NUL, then a payload in JSON. Whatever a text is, its
 * tree is bounded and whole, and it holds or does not for any payload and any range. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "decode/condition.h"
#include "fuzz_decode.h"
#include "reel/values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES_MAX = 4 };

static void check_tree(const struct conditions *c) {
    fuzz_must(c->n <= CONDITIONS_MAX && c->n_nodes <= CONDITION_NODES_MAX && c->root < c->n_nodes, "it is bounded");
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        const struct condition_node *node = &c->nodes[i];
        bool leaf = node->kind == NODE_CONDITION;
        fuzz_must(leaf ? node->left < c->n : node->left < c->n_nodes && node->right < c->n_nodes, "it is whole");
        fuzz_must(leaf || (node->left != i && node->right != i), "no node is below itself");
    }
    for (uint32_t i = 0; i < c->n; i++) {
        fuzz_must(c->items[i].field && c->items[i].value, "a condition has a field and a value");
    }
}

static void try_ranges(const struct conditions *c) {
    static const struct value_range ranges[] = {
        {.min = -1, .max = 1, .numbers = 3},
        {.min = 5, .max = 5, .numbers = 1, .nans = 1, .missing = 2},
        {.missing = 4},
        {.has_texts = true},
        {.min = 0, .max = 1e18, .numbers = 2, .are_times = true},
    };
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        enum truth each[CONDITIONS_MAX];
        for (uint32_t i = 0; i < CONDITIONS_MAX; i++) {
            each[i] = i < c->n ? condition_truth(&c->items[i], &ranges[r]) : TRUTH_NONE;
        }
        fuzz_must(conditions_truth(c, each) <= TRUTH_NONE, "the whole holds or does not");
    }
}

static void try_payload(const struct conditions *c, struct reel_bytes payload) {
    static const struct reel_channel channel = {.name = "/a", .type = "", .encoding = "json"};
    struct reel_error err = {0};
    struct condition_reader reader = {.decoder = reel_decoder_open(&channel, &err)};
    struct value values[CONDITIONS_MAX];
    enum truth each[CONDITIONS_MAX];
    fuzz_must(reader.decoder, "JSON is decoded");
    for (uint32_t i = 0; i < c->n; i++) {
        each[i] = TRUTH_NONE;
        if (!condition_reader_add(&reader, i, c->items[i].field, &err)) {
            fuzz_must(err.code != REEL_OK, "a path that is refused says why");
        }
    }
    if (reader.conditions != 0 && condition_reader_read(&reader, c, &payload, values, &err)) {
        condition_reader_truths(&reader, c, values, each);
        fuzz_must(conditions_truth(c, each) <= TRUTH_NONE, "the whole holds or does not");
    }
    condition_reader_done(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *nul = memchr(data, '\0', size);
    size_t length = nul ? (size_t)(nul - data) : size;
    AUTO_EXACT struct reel_bytes payload = exact_copy(nul ? bytes_of(nul + 1, size - length - 1) : bytes_of(NULL, 0));
    AUTO_MEM char *text = strndup((const char *)data, length);
    char *copies[LINES_MAX] = {NULL}; /* each in memory of its own size */
    uint32_t n = 0;
    for (char *rest = text, *line; n < LINES_MAX && (line = strsep(&rest, "\n"));) {
        copies[n++] = strdup(line);
    }
    struct reel_error err = {0};
    struct conditions c = {0};
    bool good = conditions_parse((const char *const *)copies, n, &c, &err);
    fuzz_must(good == (err.code == REEL_OK) && (good || err.text[0]), "what is no condition says why");
    if (good) {
        check_tree(&c);
        try_ranges(&c);
        try_payload(&c, payload);
    }
    conditions_done(&c);
    for (uint32_t i = 0; i < n; i++) {
        free(copies[i]);
    }
    return 0;
}
