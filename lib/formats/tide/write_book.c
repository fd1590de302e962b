/* Channels, types and metadata for a TIDE log to be written. See write.h. */
#include "formats/tide/write.h"

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "stream/merge_names.h"

#include <stdio.h>

struct written { /* a channel */
    struct tide_fields fields;
    struct tide_types types; /* native, new layout */
    bool native;
};

struct stored_type { /* a type that some channel has */
    struct tide_type type;
    uint32_t channel;
    bool native;
};

struct tide_book {
    struct arena arena;
    const struct reel_stream *stream;
    bool is_new, relative;
    struct written *channels;  /* by position in the stream */
    struct stored_type *types; /* each hash once */
    /* the first n_native are those of channels written with their original fields */
    size_t n_types, cap_types, n_native;
    struct hash_table foreign; /* hashes of the others */
    uint64_t added;
};

/* ---- numbers and names ---- */

struct numbered {
    uint32_t id, position;
};
static int compare_numbered(const void *a, const void *b) {
    const struct numbered *x = a, *y = b;
    int order = (x->id > y->id) - (x->id < y->id);
    return order ? order : (x->position > y->position) - (x->position < y->position);
}

static bool own_id(const struct reel_channel *c, uint32_t *id) {
    const char *text = tide_metadata_of(c, "tide.id");
    char *end = NULL;
    unsigned long number = text ? strtoul(text, &end, 10) : 0;
    *id = (uint32_t)number;
    return text && end != text && *end == '\0' && number <= UINT32_MAX;
}

uint32_t *tide_ids_new(const struct reel_stream *stream, struct reel_error *err) {
    uint32_t n = stream->n_channels, owned = 0, taken = 0, next = 0;
    AUTO_MEM uint32_t *ids = calloc((size_t)n + 1, sizeof *ids);
    AUTO_MEM struct numbered *own = malloc(((size_t)n + 1) * sizeof *own);
    AUTO_MEM bool *has = calloc((size_t)n + 1, sizeof *has);
    if (!ids || !own || !has) {
        reel_fail_memory(err);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        own[owned].position = i;
        owned += own_id(stream->channels[i], &own[owned].id);
    }
    qsort(own, owned, sizeof *own, compare_numbered);
    for (uint32_t i = 0; i < owned; i++) {
        if (i == 0 || own[i - 1].id != own[i].id) {
            ids[own[i].position] = own[i].id;
            has[own[i].position] = true;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        while (!has[i] && taken < owned && own[taken].id <= next) {
            next += own[taken].id == next;
            taken++;
        }
        ids[i] = has[i] ? ids[i] : next++;
    }
    return TAKE(ids);
}

static bool name_channels(struct tide_book *book) {
    uint32_t n = book->stream->n_channels;
    AUTO_MEM const char **names = malloc(((size_t)n + 1) * sizeof *names);
    bool good = names && naming_unique(&book->arena, book->stream, TIDE_NAME_MAX, names, NULL);
    for (uint32_t i = 0; i < n && good; i++) {
        book->channels[i].fields.name = bytes_text(names[i]);
    }
    return good;
}

/* ---- types ---- */

static bool same_texts(const struct reel_bytes *a, uint32_t n_a, const struct reel_bytes *b, uint32_t n_b) {
    for (uint32_t i = 0; i < n_a && n_a == n_b; i++) {
        if (!bytes_equal(a[i], b[i])) {
            return false;
        }
    }
    return n_a == n_b;
}

static bool same_type(const struct tide_type *a, const struct tide_type *b) {
    return bytes_equal(a->definition, b->definition) && bytes_equal(a->syntax, b->syntax) &&
           bytes_equal(a->name, b->name) && bytes_equal(a->version, b->version) &&
           same_texts(a->sources, a->n_sources, b->sources, b->n_sources) &&
           same_texts(a->needs, a->n_needs, b->needs, b->n_needs);
}

static bool tide_add_type(struct tide_book *book, const struct tide_type *type, uint32_t channel, bool native) {
    if (!GROW_ARRAY(book->types, book->n_types, book->cap_types)) {
        return false;
    }
    struct stored_type *p = &book->types[book->n_types];
    *p = (struct stored_type){.type = *type, .channel = channel, .native = native};
    p->type.at = book->added++; /* of equal hashes the first one is used */
    book->n_types++;
    return true;
}

/* Keeps each hash once. A channel whose type differs from the one kept cannot be written with its original fields. */
static void unite_types(struct tide_book *book) {
    size_t kept = 0;
    if (book->n_types > 0) {
        /* a stored_type begins with its type */
        qsort(book->types, book->n_types, sizeof *book->types, tide_type_compare);
    }
    for (size_t i = 0; i < book->n_types; i++) {
        struct stored_type *p = &book->types[i], *before = kept > 0 ? &book->types[kept - 1] : NULL;
        if (!before || !bytes_equal(before->type.hash, p->type.hash)) {
            book->types[kept++] = *p;
        } else if (p->native && !same_type(&before->type, &p->type)) {
            book->channels[p->channel].native = false;
        }
    }
    book->n_types = kept;
}

/* ---- blocks ---- */

static void put8(struct reel_sink *out, struct reel_bytes b) {
    reel_sink_u8(out, (uint8_t)b.size);
    reel_sink_put_bytes(out, b);
}
static void put16(struct reel_sink *out, struct reel_bytes b) {
    reel_sink_u16le(out, (uint16_t)b.size);
    reel_sink_put_bytes(out, b);
}

static void type_body(struct reel_sink *out, const struct tide_type *type) {
    put16(out, type->hash);
    put8(out, type->syntax);
    put16(out, type->name);
    put16(out, type->version);
    reel_sink_string32(out, type->definition);
    reel_sink_u8(out, (uint8_t)type->n_sources);
    for (uint32_t i = 0; i < type->n_sources; i++) {
        put16(out, type->sources[i]);
    }
    reel_sink_u16le(out, (uint16_t)type->n_needs);
    for (uint32_t i = 0; i < type->n_needs; i++) {
        put16(out, type->needs[i]);
    }
}

/* ---- channels ---- */

/* Fills `w` with the original fields of the channel; false: reading them would not restore the channel. */
static bool try_native(struct arena *arena, bool is_new, const struct reel_channel *c, struct written *w) {
    struct tide_fields fields;
    struct arena scratch = {.max = REEL_MODEL_MAX};
    struct reel_channel back;
    bool relative, native = tide_channel_fields(arena, is_new, c, &fields, &w->types) &&
                            bytes_equal(fields.name, w->fields.name) &&
                            tide_channel_model(&scratch, is_new, &fields, &w->types, &back, &relative) &&
                            tide_channel_same(c, &back);
    arena->no_memory |= scratch.no_memory; /* then the result is unknown */
    arena_free(&scratch);
    if (native) {
        w->fields = fields;
    }
    return native;
}

static struct reel_bytes tide_cut(const char *text, size_t max) {
    return bytes_of(text, naming_cut(text, max));
}

static int compare_hash(const void *key, const void *item) {
    struct tide_type key_type = {.hash = *(const struct reel_bytes *)key,
                                 .at = ((const struct stored_type *)item)->type.at};
    return tide_type_compare(&key_type, &((const struct stored_type *)item)->type);
}

/* Names a version, where the language of a definition has one. */
static struct reel_bytes syntax_of(const struct reel_schema *s) {
    static const struct {
        const char *encoding, *holds, *syntax;
    } known[] = {{"ros1msg", "", "ros-msg-1.0"},
                 {"ros2msg", "", "ros2-msg-1.0"},
                 {"ros2idl", "", "ros2-idl-4.2"},
                 {"protobuf", "\x62\x06proto3", "protobuf-3"}, /* field 12 of a file */
                 {"protobuf", "", "protobuf-2"},
                 {"jsonschema", "draft/2020-12/schema", "jsonschema-2020-12"},
                 {"jsonschema", "draft-07/schema", "jsonschema-draft-07"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct reel_bytes mark = bytes_text(known[i].holds);
        if (strcmp(s->encoding, known[i].encoding) == 0 &&
            (mark.size == 0 || (s->data.size > 0 && memmem(s->data.data, s->data.size, mark.data, mark.size)))) {
            return bytes_text(known[i].syntax);
        }
    }
    return tide_cut(s->encoding, TIDE_SYNTAX_MAX);
}

/* Sets the SHA-1 of all else in the type, extended by a byte as long as another type has that hash. False: no memory.
 */
static bool set_hash(struct tide_book *book, struct tide_type *type) {
    enum { ROOM = DIGEST_SHA1 + 8 };
    uint8_t *sum = arena_alloc(&book->arena, ROOM);
    struct reel_sink size = {0};
    type->hash = bytes_of("", 0);
    type_body(&size, type);
    AUTO_MEM uint8_t *body = malloc((size_t)size.pos);
    if (!sum || !body) {
        return false;
    }
    type_body(&(struct reel_sink){.hi = size.pos, .buffer = body}, type);
    digest_of(DIGEST_SHA1, bytes_of(body, (size_t)size.pos), sum);
    type->hash = bytes_of(sum, DIGEST_SHA1);
    while (type->hash.size < ROOM) {
        const struct stored_type *p =
            book->n_native > 0 ? bsearch(&type->hash, book->types, book->n_native, sizeof *p, compare_hash) : NULL;
        if (!p || same_type(&p->type, type)) {
            break;
        }
        type->hash.size++;
    }
    return true;
}

/* Adds the type of a channel of another format, unless there is one with its hash. */
static bool add_foreign_type(struct tide_book *book, struct tide_type *type, uint32_t channel) {
    if (!set_hash(book, type)) {
        return false;
    }
    struct hash_key key = hash_key_bytes(type->hash);
    return hash_table_get(&book->foreign, key) > 0 ||
           (tide_add_type(book, type, channel, false) && hash_table_set(&book->foreign, key, 1, NULL));
}

/* A type for each that the definition lists. */
static bool add_sections(struct tide_book *book, uint32_t channel, const struct reel_schema *s,
                         const struct tide_split *split, struct reel_bytes *hash, struct tide_parts *parts) {
    struct tide_part *items = arena_alloc(&book->arena, split->count * sizeof *items);
    *parts = (struct tide_parts){.items = items, .count = split->count};
    for (uint32_t i = 0; items && i < split->count; i++) {
        const struct tide_section *section = &split->sections[split->order[i]];
        struct reel_bytes *needs = arena_alloc(&book->arena, (section->n_needs + 1) * sizeof *needs);
        for (uint32_t k = 0; needs && k < section->n_needs; k++) {
            needs[k] = items[section->needs[k]].hash;
        }
        struct tide_type type = {
            .definition = section->text, .name = section->name, .syntax = syntax_of(s), .version = bytes_of("", 0)};
        type.needs = needs;
        type.n_needs = section->n_needs;
        if (!needs || !add_foreign_type(book, &type, channel)) {
            return false;
        }
        items[split->order[i]] = (struct tide_part){.hash = type.hash, .after = section->after};
    }
    *hash = items ? items[0].hash : *hash;
    return items != NULL;
}

/* Adds the types of a channel of another format: one for each definition, or for each type that a definition lists. */
static bool add_foreign_types(struct tide_book *book, uint32_t position, struct tide_fields *f,
                              struct tide_parts *parts) {
    const struct reel_channel *c = book->stream->channels[position];
    struct reel_bytes *hashes = arena_alloc(&book->arena, (c->n_schemas + 1) * sizeof *hashes);
    for (uint32_t i = 0; hashes && i < c->n_schemas; i++) {
        const struct reel_schema *s = &c->schemas[i];
        AUTO_STRUCT(tide_split_free) struct tide_split split;
        struct tide_type type = {.definition = s->data, .version = bytes_of("", 0), .syntax = syntax_of(s)};
        type.name = tide_cut(s->name, TIDE_TYPE_NAME_MAX);
        if (!tide_split(&book->arena, c, s, &split) ||
            !(split.count > 0 ? add_sections(book, position, s, &split, &hashes[i], &parts[i])
                              : add_foreign_type(book, &type, position))) {
            return false;
        }
        hashes[i] = split.count > 0 ? hashes[i] : type.hash;
    }
    f->hashes = hashes;
    f->n_hashes = c->n_schemas;
    return hashes != NULL;
}

static bool join_definitions(struct arena *arena, const struct reel_channel *c, struct reel_bytes *out) {
    size_t size = 0;
    for (uint32_t i = 0; i < c->n_schemas; i++) {
        size += c->schemas[i].data.size;
    }
    uint8_t *data = arena_alloc(arena, size + 1);
    *out = bytes_of(data, size);
    for (uint32_t i = 0; data && i < c->n_schemas; i++) {
        struct reel_bytes one = c->schemas[i].data;
        if (one.size > 0) {
            memcpy(data, one.data, one.size);
        }
        data += one.size;
    }
    return out->data != NULL;
}

static bool make_foreign(struct tide_book *book, uint32_t position) {
    const struct reel_channel *c = book->stream->channels[position];
    struct tide_fields *f = &book->channels[position].fields;
    *f = (struct tide_fields){.name = f->name,
                              .type = tide_cut(c->type, REEL_TEXT_MAX),
                              .source = bytes_of("", 0),
                              .format = bytes_of("", 0)};
    struct tide_parts *parts = arena_alloc(&book->arena, (c->n_schemas + 1) * sizeof *parts);
    return parts &&
           (book->is_new ? add_foreign_types(book, position, f, parts)
                         : join_definitions(&book->arena, c, &f->format)) &&
           tide_reel_write(&book->arena, c, parts, book->relative, &f->config);
}

static bool tide_build(struct tide_book *book, const uint32_t *ids) {
    uint32_t n = book->stream->n_channels;
    book->channels = arena_alloc(&book->arena, ((size_t)n + 1) * sizeof *book->channels);
    if (!book->channels || !name_channels(book)) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct written *w = &book->channels[i];
        w->native = try_native(&book->arena, book->is_new, book->stream->channels[i], w);
        for (size_t k = 0; w->native && k < w->types.count; k++) {
            if (!tide_add_type(book, &w->types.items[k], i, true)) {
                return false;
            }
        }
    }
    unite_types(book);
    book->n_native = book->n_types;
    for (uint32_t i = 0; i < n; i++) {
        if (!book->channels[i].native && !make_foreign(book, i)) {
            return false;
        }
        book->channels[i].fields.id = ids[i];
    }
    unite_types(book);
    return !book->arena.no_memory;
}

struct tide_book *tide_book_new(const struct reel_stream *stream, const uint32_t *ids, bool is_new,
                                struct reel_error *err) {
    AUTO(tide_book_free) struct tide_book *book = calloc(1, sizeof *book);
    if (!book) {
        reel_fail_memory(err);
        return NULL;
    }
    book->stream = stream;
    book->is_new = is_new;
    book->relative = stream->n_sources > 0;
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        book->relative = book->relative && stream->clocks[i] == REEL_CLOCK_RELATIVE;
    }
    if (!tide_build(book, ids)) {
        (void)(cancel_check(err) && reel_fail_memory(err));
        return NULL;
    }
    return TAKE(book);
}

void tide_book_free(struct tide_book *book) {
    if (book) {
        arena_free(&book->arena);
        hash_table_free(&book->foreign);
        free(book->types);
        free(book);
    }
}

/* ---- blocks ---- */

void tide_put_head(struct reel_sink *out, const char *tag, uint64_t size) {
    reel_sink_put(out, tag, 4);
    reel_sink_u64le(out, size);
}

void tide_put_types(const struct tide_book *book, struct reel_sink *out) {
    for (size_t i = 0; i < book->n_types; i++) {
        struct reel_sink size = {0};
        type_body(&size, &book->types[i].type);
        tide_put_head(out, "TYPE", size.pos);
        type_body(out, &book->types[i].type);
    }
}

static void channel_body(struct reel_sink *out, const struct tide_fields *f, bool is_new) {
    reel_sink_u32le(out, f->id);
    put8(out, f->name);
    if (!is_new) {
        reel_sink_string32(out, f->type);
    }
    reel_sink_string32(out, f->source);
    reel_sink_string32(out, f->config);
    if (!is_new) {
        reel_sink_string32(out, f->format);
        return;
    }
    reel_sink_u8(out, (uint8_t)f->n_hashes);
    for (uint32_t i = 0; i < f->n_hashes; i++) {
        put16(out, f->hashes[i]);
    }
}

void tide_put_channels(const struct tide_book *book, struct reel_sink *out) {
    for (uint32_t i = 0; i < book->stream->n_channels; i++) {
        const struct tide_fields *f = &book->channels[i].fields;
        struct reel_sink size = {0};
        channel_body(&size, f, book->is_new);
        tide_put_head(out, "CHAN", size.pos);
        channel_body(out, f, book->is_new);
    }
}

/* As many pairs as a block can count; written, or only measured. */
static bool tide_put_pairs(const struct reel_pair *items, size_t count, struct reel_sink *out, struct reel_error *err) {
    struct arena arena = {0};
    bool good = true;
    reel_sink_u16le(out, (uint16_t)count);
    for (size_t i = 0; i < count && good; i++) {
        struct reel_bytes key = bytes_text(items[i].key), value = bytes_text(items[i].value);
        good = tide_kept_value(&arena, &key, &value) || reel_fail_memory(err);
        size_t most = naming_cut(items[i].key, TIDE_TYPE_NAME_MAX);
        put16(out, bytes_of(key.data, key.size < most ? key.size : most));
        reel_sink_string32(out, value);
        arena_free(&arena);
    }
    return good;
}

bool tide_put_metadata(const struct reel_stream *stream, struct reel_sink *out, struct reel_error *err) {
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        const struct reel_pairs *pairs =
            reel_index_metadata(reel_recording_index(reel_reader_recording(stream->readers[i])));
        for (size_t at = 0; at < pairs->count;) {
            size_t count = pairs->count - at < UINT16_MAX ? pairs->count - at : UINT16_MAX;
            struct reel_sink size = {0};
            if (!tide_put_pairs(pairs->items + at, count, &size, err)) {
                return false;
            }
            tide_put_head(out, "META", size.pos);
            if (!tide_put_pairs(pairs->items + at, count, out, err)) {
                return false;
            }
            at += count;
        }
    }
    return true;
}
