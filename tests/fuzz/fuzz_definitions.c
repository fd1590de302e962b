/* Fuzzes definitions without any payload: u8 which encoding and language, then the definition. What is opened has
 * fields with paths and types, a well-nested shape, and columns. */
#include "base/arena.h"
#include "fuzz_decode.h"
#include "tables/columns/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
    const char *encoding, *language, *type;
} kinds[] = {{"ros1", "ros1msg", "p/T"},       {"cdr", "ros2msg", "p/msg/T"},     {"cdr", "ros2idl", "p/msg/T"},
             {"cdr", "omgidl", "p::T"},        {"protobuf", "protobuf", "p.M"},   {"json", "jsonschema", "p.M"},
             {"msgpack", "jsonschema", "p.M"}, {"rsb", "proto", ".p.M"},          {"ros1", "", "p/T"},
             {"flatbuffer", "flatbuffer", ""}, {"capnproto", "capnproto", "Root"}};

enum { PARTS_MAX = 1 << 14 };

struct walk {
    uint32_t depth, parts;
    bool skip;
};
/* A shape may be endless: types in types multiply it. */
static enum reel_shape_next walk_part(void *context, const struct reel_shape *part) {
    struct walk *w = context;
    static volatile uint8_t seen; /* reads every byte of the name */
    for (size_t i = 0; i < part->name.size; i++) {
        seen = part->name.data[i];
    }
    fuzz_must(part->kind <= REEL_SHAPE_ANY && seen + 1 > 0, "a part is of a kind");
    fuzz_must(part->kind != REEL_SHAPE_END || w->depth > 0, "what ends has begun");
    if (++w->parts >= PARTS_MAX) {
        return REEL_SHAPE_STOP;
    }
    bool skips = w->skip && part->kind == REEL_SHAPE_STRUCT && w->depth > 0;
    w->depth += part->kind == REEL_SHAPE_STRUCT && !skips;
    w->depth -= part->kind == REEL_SHAPE_END;
    return skips ? REEL_SHAPE_SKIP : REEL_SHAPE_ENTER;
}

static void *take(void *arena, size_t size) {
    return arena_alloc(arena, size);
}

static void make_columns(const struct reel_decoder *d) {
    struct arena arena = {0};
    struct columns c;
    bool exact;
    fuzz_must(columns_init(&c, take, &arena), "memory");
    columns_shape(&c, d, &exact);
    fuzz_must(columns_settle(&c, &(struct columns_fixed){0}), "memory");
    for (uint32_t i = 0; i < c.n; i++) {
        fuzz_must(c.all[i]->name[0] != '\0' && c.all[i]->index == i, "a column has a name and a number");
    }
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    AUTO_EXACT struct reel_bytes definition = exact_copy(bytes_of(data + 1, size - 1));
    const unsigned kind = data[0] % (sizeof kinds / sizeof *kinds);
    const struct reel_schema schema = {
        .name = kinds[kind].type, .encoding = kinds[kind].language, .hash = "", .data = definition};
    const struct reel_channel channel = {
        .name = "/a", .type = kinds[kind].type, .encoding = kinds[kind].encoding, .schemas = &schema, .n_schemas = 1};
    struct reel_error err = {0};
    AUTO(reel_decoder_free) struct reel_decoder *d = reel_decoder_open(&channel, &err);
    fuzz_must((d != NULL) == (err.code == REEL_OK), "what is not opened says why");
    if (!d) {
        return 0;
    }
    fuzz_must(reel_decoder_fields(d, fuzz_field, NULL), "a field has a path and a type");
    for (int skip = 0; skip < 2; skip++) {
        struct walk w = {.skip = skip};
        bool whole = reel_decoder_shape(d, walk_part, &w, NULL);
        fuzz_must(whole ? w.depth == 0 : w.parts == PARTS_MAX, "what begins ends");
    }
    make_columns(d);
    return 0;
}
