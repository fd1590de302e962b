/* Converts a channel of the model back to the fields of the TIDE channel it came from. See model.c for the metadata
 * that is read here. */
#include "base/bytes.h"
#include "base/channel.h"
#include "formats/tide/container.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT8_MAX = 255, TEXT16_MAX = 65535 };

struct back {
    struct arena *arena;
    const struct reel_channel *c;
    bool good;
};

/* The text as bytes; fails if the field cannot hold that many. */
static struct reel_bytes field(struct back *b, const char *text, size_t max) {
    struct reel_bytes out = bytes_text(text ? text : "");
    b->good &= out.size <= max;
    return out;
}

static struct reel_bytes config_of(struct back *b) {
    const char *coded = tide_metadata_of(b->c, "tide.source_config.base64");
    if (!coded) {
        return field(b, tide_metadata_of(b->c, "tide.source_config"), UINT32_MAX);
    }
    struct reel_bytes config = tide_base64_back(b->arena, coded);
    b->good &= config.data != NULL;
    return config;
}

/* The definitions, separated by colons. */
static struct reel_bytes tide_format_of(struct back *b) {
    const struct reel_channel *c = b->c;
    size_t size = 0;
    for (uint32_t i = 0; i < c->n_schemas; i++) {
        size += c->schemas[i].data.size + (i > 0);
    }
    uint8_t *format = arena_alloc(b->arena, size + 1);
    b->good &= format && c->n_schemas <= 2;
    for (uint32_t i = 0, at = 0; b->good && i < c->n_schemas; i++) {
        struct reel_bytes data = c->schemas[i].data;
        if (i > 0) {
            format[at++] = ':';
        }
        if (data.size > 0) {
            memcpy(format + at, data.data, data.size);
        }
        at += (uint32_t)data.size;
    }
    return bytes_of(format, size);
}

/* ---- types ---- */

static const char *schema_metadata(const struct back *b, uint32_t schema, const char *what) {
    char key[64];
    snprintf(key, sizeof key, "tide.schema.%u.%s", schema, what);
    return tide_metadata_of(b->c, key);
}

static void read_sources(struct back *b, uint32_t schema, struct tide_type *type) {
    struct reel_bytes *sources = arena_alloc(b->arena, TEXT8_MAX * sizeof *sources);
    char key[64];
    snprintf(key, sizeof key, "tide.schema.%u.source", schema);
    for (size_t i = 0; sources && i < b->c->metadata.count; i++) {
        if (strcmp(b->c->metadata.items[i].key, key) == 0 && type->n_sources < TEXT8_MAX) {
            sources[type->n_sources++] = field(b, b->c->metadata.items[i].value, TEXT16_MAX);
        }
    }
    type->sources = sources;
    b->good &= sources != NULL;
}

static void read_needs(struct back *b, const char *text, struct tide_type *type) {
    size_t words = 1;
    for (const char *p = text; *p; p++) {
        words += *p == ' ';
    }
    struct reel_bytes *needs = arena_alloc(b->arena, words * sizeof *needs);
    b->good &= needs && words <= TEXT16_MAX;
    for (size_t i = 0; b->good && i < words; i++) {
        size_t size = strcspn(text, " ");
        needs[i] = tide_hex_back(b->arena, text, size);
        b->good &= needs[i].data && needs[i].size <= TEXT16_MAX;
        text += size + 1;
    }
    type->needs = needs;
    type->n_needs = (uint32_t)words;
}

static void read_types(struct back *b, struct tide_fields *f, struct tide_types *types) {
    const struct reel_channel *c = b->c;
    struct reel_bytes *hashes = arena_alloc(b->arena, (c->n_schemas + 1) * sizeof *hashes);
    struct tide_type *items = arena_alloc(b->arena, (c->n_schemas + 1) * sizeof *items);
    b->good &= hashes && items;
    for (uint32_t i = 0; b->good && i < c->n_schemas; i++) {
        const struct reel_schema *s = &c->schemas[i];
        hashes[i] = tide_hex_back(b->arena, s->hash, strlen(s->hash));
        b->good &= hashes[i].data && hashes[i].size <= TEXT16_MAX;
        struct tide_type *type = &items[types->count];
        *type = (struct tide_type){.hash = hashes[i], .definition = s->data, .at = i};
        type->syntax = field(b, s->encoding, TEXT8_MAX);
        type->name = field(b, s->name, TEXT16_MAX);
        type->version = field(b, schema_metadata(b, i, "version"), TEXT16_MAX);
        const char *needs = schema_metadata(b, i, "needs");
        if (schema_metadata(b, i, "source")) {
            read_sources(b, i, type);
        }
        if (needs) {
            read_needs(b, needs, type);
        }
        bool there = type->syntax.size > 0 || type->name.size > 0 || s->data.size > 0 || needs; /* otherwise the file
                                                                                                   did not contain it */
        b->good &= !there || hashes[i].size > 0; /* it came through something that has no hashes */
        types->count += there;
    }
    const char *named = tide_metadata_of(c, "tide.hashes");
    f->n_hashes = named ? (uint32_t)strtoul(named, NULL, 10) : c->n_schemas;
    b->good &= f->n_hashes <= c->n_schemas && f->n_hashes <= TEXT8_MAX;
    f->hashes = hashes;
    if (b->good) {
        qsort(items, types->count, sizeof *items, tide_type_compare);
    }
    types->items = items;
    types->lookups_left = TIDE_LOOKUPS_MAX;
}

bool tide_channel_fields(struct arena *arena, bool is_new, const struct reel_channel *c, struct tide_fields *f,
                         struct tide_types *types) {
    struct back b = {.arena = arena, .c = c, .good = true};
    const char *id = tide_metadata_of(c, "tide.id");
    char *end = NULL;
    unsigned long number = id ? strtoul(id, &end, 10) : 0;
    *types = (struct tide_types){0};
    *f = (struct tide_fields){.id = (uint32_t)number, .type = bytes_of("", 0), .format = bytes_of("", 0)};
    if (!id || *end != '\0' || number > UINT32_MAX) {
        return false;
    }
    f->name = field(&b, c->name, TEXT8_MAX);
    f->source = field(&b, tide_metadata_of(c, "tide.source"), UINT32_MAX);
    f->config = config_of(&b);
    if (is_new) {
        read_types(&b, f, types);
    } else {
        f->type = field(&b, tide_metadata_of(c, "tide.type"), UINT32_MAX);
        f->format = tide_format_of(&b);
    }
    return b.good;
}

/* ---- comparing ---- */

static bool not_compared(const char *key) {
    return strcmp(key, "tide.id") == 0 || strcmp(key, "rsb.scope") == 0;
}

static bool same_pairs(const struct reel_pairs *a, const struct reel_pairs *b) {
    size_t i = 0, k = 0;
    for (;;) {
        while (i < a->count && not_compared(a->items[i].key)) {
            i++;
        }
        while (k < b->count && not_compared(b->items[k].key)) {
            k++;
        }
        if (i == a->count || k == b->count) {
            return i == a->count && k == b->count;
        }
        if (strcmp(a->items[i].key, b->items[k].key) != 0 || strcmp(a->items[i].value, b->items[k].value) != 0) {
            return false;
        }
        i++;
        k++;
    }
}

static bool same_topics(const struct reel_channel *a, const struct reel_channel *b) {
    uint32_t n_a = a->n_topics ? a->n_topics : 1, n_b = b->n_topics ? b->n_topics : 1;
    for (uint32_t i = 0; i < n_a && n_a == n_b; i++) {
        if (strcmp(a->n_topics ? a->topics[i] : a->name, b->n_topics ? b->topics[i] : b->name) != 0) {
            return false;
        }
    }
    return n_a == n_b;
}

bool tide_channel_same(const struct reel_channel *a, const struct reel_channel *b) {
    bool same = channel_same(a, b) && a->latched == b->latched && a->n_schemas == b->n_schemas && same_topics(a, b) &&
                same_pairs(&a->metadata, &b->metadata);
    for (uint32_t i = 0; same && i < a->n_schemas; i++) {
        const struct reel_schema *x = &a->schemas[i], *y = &b->schemas[i];
        same = strcmp(x->name, y->name) == 0 && strcmp(x->encoding, y->encoding) == 0 &&
               strcmp(x->hash, y->hash) == 0 && bytes_equal(x->data, y->data);
    }
    return same;
}
