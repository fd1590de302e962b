/* Converts the fields of a TIDE channel to a channel of the model. fields.c does the reverse; the writer uses that
 * result only if it converts to the same channel again, so the original fields need not be stored.
 *
 * Metadata keys: tide.id · tide.type (old: the type string) · tide.source · tide.source_config, or
 * tide.source_config.base64 if it is not text · rsb.scope · tide.hashes (new: how many of the schemas the channel
 * itself refers to; the others are needed by those; always for frames) · and for schema N tide.schema.N.version,
 * tide.schema.N.source (may repeat), tide.schema.N.needs (hashes). */
#include "base/ascii.h"
#include "base/bytes.h"
#include "decode/encoding.h"
#include "formats/tide/container.h"
#include "formats/tide/rsb_names.h"

#include <stdio.h>

#define NOTIFICATION "rsb.protocol.Notification"
#define EVENT "rsb.serialization.Event"
enum { PAIRS_PLAIN = 7 }; /* metadata of a channel that does not belong to a schema */

/* ---- texts ---- */

const char *tide_metadata_of(const struct reel_channel *c, const char *key) {
    for (size_t i = 0; i < c->metadata.count; i++) {
        if (strcmp(c->metadata.items[i].key, key) == 0) {
            return c->metadata.items[i].value;
        }
    }
    return NULL;
}

/* ---- types ---- */

static int compare_hashes(struct reel_bytes a, struct reel_bytes b) {
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size > 0 ? memcmp(a.data, b.data, size) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

int tide_type_compare(const void *a, const void *b) {
    const struct tide_type *x = a, *y = b;
    int order = compare_hashes(x->hash, y->hash);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

const struct tide_type *tide_type_find(const struct tide_types *types, struct reel_bytes hash) {
    size_t low = 0, high = types->count; /* finds the first one with that hash */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_hashes(types->items[middle].hash, hash) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < types->count && bytes_equal(types->items[low].hash, hash) ? &types->items[low] : NULL;
}

void tide_type_used(const struct tide_types *types, const struct tide_type *type) {
    if (type && types->used) {
        types->used[type - types->items] = true;
    }
}

/* The types of one channel: those it refers to, then all that these need. */
struct chosen {
    struct reel_bytes hashes[REEL_SCHEMAS_PER_CHANNEL_MAX];
    const struct tide_type *types[REEL_SCHEMAS_PER_CHANNEL_MAX]; /* NULL: not in the file */
    uint32_t count;
    bool cut;
};

static void choose(struct chosen *chosen, struct tide_types *types, struct reel_bytes hash, bool again) {
    for (uint32_t i = 0; i < chosen->count && !again; i++) {
        if (bytes_equal(chosen->hashes[i], hash)) {
            return;
        }
    }
    if (chosen->count == REEL_SCHEMAS_PER_CHANNEL_MAX || types->lookups_left == 0) {
        chosen->cut = true;
        return;
    }
    const struct tide_type *type = tide_type_find(types, hash);
    tide_type_used(types, type);
    chosen->types[chosen->count] = type;
    chosen->hashes[chosen->count++] = hash;
}

static void choose_all(struct chosen *chosen, const struct tide_fields *f, struct tide_types *types) {
    for (uint32_t i = 0; i < f->n_hashes && !chosen->cut; i++) {
        choose(chosen, types, f->hashes[i], true);
    }
    for (uint32_t i = 0; i < chosen->count; i++) {
        const struct tide_type *type = chosen->types[i];
        for (uint32_t n = 0; type && n < type->n_needs && !chosen->cut; n++) {
            choose(chosen, types, type->needs[n], false);
            types->lookups_left -= types->lookups_left > 0;
        }
    }
    types->cut += chosen->cut;
}

/* ---- the model ---- */

struct making {
    struct arena *arena;
    struct reel_channel *out;
    struct reel_pair *pairs;
    bool no_room;
};

static const char *tide_text_of(struct making *m, struct reel_bytes b) {
    const char *text = arena_utf8(m->arena, b);
    m->no_room |= !text;
    return text ? text : "";
}

static void tide_add_pair(struct making *m, const char *key, const char *value) {
    m->pairs[m->out->metadata.count++] = (struct reel_pair){.key = key, .value = value};
}

static void add_schema_pair(struct making *m, uint32_t schema, const char *what, const char *value) {
    char key[64];
    snprintf(key, sizeof key, "tide.schema.%u.%s", schema, what);
    const char *kept = arena_text(m->arena, key);
    m->no_room |= !kept;
    tide_add_pair(m, kept ? kept : "", value);
}

/* "rsb-event-0.9:uint64": the wire schema follows the colon. False: not such a type. */
static bool rsb_type(struct reel_bytes type, struct reel_bytes *wire) {
    struct cursor c = cursor_of(type);
    if (type.size > 0 && type.data[0] == ':') {
        cursor_u8(&c);
    }
    const uint8_t *p = cursor_take(&c, 9);
    if (!p || ascii_ncasecmp((const char *)p, "rsb-event", 9) != 0) {
        return false;
    }
    const uint8_t *colon = memchr(c.at, ':', cursor_left(&c));
    *wire = colon ? bytes_of(colon + 1, (size_t)(c.end - colon) - 1) : bytes_of("", 0);
    return true;
}

/* "/foo/bar/:uint64": the end of the scope; 0: not such a name. */
static size_t scope_size(struct reel_bytes name) {
    const uint8_t *colon = name.size > 0 && name.data[0] == '/' ? memmem(name.data, name.size, "/:", 2) : NULL;
    return colon ? (size_t)(colon - name.data) + 1 : 0;
}

static bool tide_holds(struct reel_bytes b, const char *text) {
    return b.size > 0 && memmem(b.data, b.size, text, strlen(text)) != NULL;
}

/* The format of an RSB channel is the definition of the envelope, followed, after a colon at the end of a line, by that
 * of the payload. */
static uint32_t split_format(struct reel_bytes format, struct reel_bytes wire, struct reel_bytes parts[2]) {
    parts[0] = format;
    for (size_t i = 1; i + 1 < format.size && wire.size > 0 && wire.data[0] == '.'; i++) {
        if (format.data[i] == ':' && (format.data[i - 1] == '\n' || format.data[i - 1] == '}')) {
            parts[0] = bytes_of(format.data, i);
            parts[1] = bytes_of(format.data + i + 1, format.size - i - 1);
            return 2;
        }
    }
    return format.size > 0;
}

static void make_format(struct making *m, const struct tide_fields *f, bool rsb, struct reel_bytes wire) {
    struct reel_bytes parts[2];
    uint32_t count = rsb ? split_format(f->format, wire, parts) : f->format.size > 0;
    struct reel_schema *schemas = arena_alloc(m->arena, 2 * sizeof *schemas);
    m->no_room |= !schemas;
    if (!schemas) {
        return;
    }
    struct reel_bytes payload = wire.size > 0 && wire.data[0] == '.' ? bytes_of(wire.data + 1, wire.size - 1) : wire;
    if (!rsb) {
        schemas[0] = (struct reel_schema){.name = m->out->type, .encoding = "", .hash = "", .data = f->format};
    } else if (count > 0) {
        bool envelope =
            count == 2 || tide_holds(parts[0], "message Notification") || tide_holds(parts[0], "message Event");
        const char *name = !envelope                                      ? tide_text_of(m, payload)
                           : tide_holds(parts[0], "message Notification") ? NOTIFICATION
                                                                          : EVENT;
        schemas[0] = (struct reel_schema){.name = name, .encoding = "proto", .hash = "", .data = parts[0]};
        schemas[1] =
            (struct reel_schema){.name = tide_text_of(m, payload), .encoding = "proto", .hash = "", .data = parts[1]};
    }
    m->out->schemas = schemas;
    m->out->n_schemas = count;
}

static void make_plain_pairs(struct making *m, const struct tide_fields *f, bool rsb) {
    char id[16];
    snprintf(id, sizeof id, "%u", f->id);
    tide_add_pair(m, "tide.id", tide_text_of(m, bytes_text(id)));
    if (f->type.size > 0) {
        tide_add_pair(m, "tide.type", tide_text_of(m, f->type));
    }
    if (f->source.size > 0) {
        tide_add_pair(m, "tide.source", tide_text_of(m, f->source));
    }
    if (f->config.size > 0) {
        bool text = tide_is_text(f->config);
        struct reel_bytes value = text ? f->config : tide_base64(m->arena, f->config);
        m->no_room |= !value.data;
        tide_add_pair(m, text ? "tide.source_config" : "tide.source_config.base64",
                      value.data ? tide_text_of(m, value) : "");
    }
    size_t scope = rsb ? scope_size(f->name) : 0;
    if (scope > 0) {
        tide_add_pair(m, "rsb.scope", tide_text_of(m, bytes_of(f->name.data, scope)));
    }
    if (rsb && m->out->type[0] != '\0') {
        tide_add_pair(m, "rsb.wire_schema", m->out->type);
    }
}

static void make_old(struct making *m, const struct tide_fields *f) {
    struct reel_bytes wire = f->type;
    bool rsb = rsb_type(f->type, &wire);
    m->out->type = tide_text_of(m, wire);
    m->out->encoding = rsb ? RSB_ENCODING : RSB_PLAIN_ENCODING;
    make_format(m, f, rsb, wire);
    make_plain_pairs(m, f, rsb);
}

/* The encoding of payloads whose definitions have this syntax. */
static const char *tide_encoding_of(struct reel_bytes syntax) {
    static const char flatbuffer[] = "flatbuffer"; /* not decoded */
    bool flat = syntax.size >= strlen(flatbuffer) &&
                ascii_ncasecmp((const char *)syntax.data, flatbuffer, strlen(flatbuffer)) == 0;
    const char *found = reel_language_encoding(syntax);
    return flat ? flatbuffer : found ? found : RSB_PLAIN_ENCODING;
}

static bool is_envelope(const struct tide_type *type) {
    return type && (bytes_is(type->name, NOTIFICATION) || bytes_is(type->name, "." NOTIFICATION) ||
                    bytes_is(type->name, EVENT) || bytes_is(type->name, "." EVENT));
}

/* Are messages frames back to back, one of each type that the channel refers to? */
static bool has_frames(const struct tide_fields *f, const struct chosen *chosen) {
    bool frames = f->n_hashes > 1 && chosen->count >= f->n_hashes && !is_envelope(chosen->types[0]);
    for (uint32_t i = 0; frames && i < f->n_hashes; i++) {
        frames = chosen->types[i] && (i + 1 == f->n_hashes || reel_language_is_delimited(chosen->types[i]->syntax));
    }
    return frames;
}

static void make_schema(struct making *m, uint32_t i, struct reel_bytes hash, const struct tide_type *type,
                        struct reel_schema *s) {
    static const struct tide_type none = {.syntax = {(const uint8_t *)"", 0}, .name = {(const uint8_t *)"", 0}};
    const char *hash_text = tide_hex(m->arena, hash);
    m->no_room |= !hash_text;
    *s = (struct reel_schema){.name = "", .encoding = "", .hash = hash_text ? hash_text : "", .data = bytes_of("", 0)};
    if (!type) {
        type = &none;
    } else {
        s->name = tide_text_of(m, type->name);
        s->encoding = tide_text_of(m, type->syntax);
        s->data = type->definition;
    }
    if (type->version.size > 0) {
        add_schema_pair(m, i, "version", tide_text_of(m, type->version));
    }
    for (uint32_t n = 0; n < type->n_sources; n++) {
        add_schema_pair(m, i, "source", tide_text_of(m, type->sources[n]));
    }
    size_t size = 1;
    for (uint32_t n = 0; n < type->n_needs; n++) {
        size += 2 * type->needs[n].size + 1;
    }
    char *needs = type->n_needs > 0 ? arena_alloc(m->arena, size) : NULL;
    m->no_room |= type->n_needs > 0 && !needs;
    for (uint32_t n = 0, at = 0; needs && n < type->n_needs; n++) {
        const char *one = tide_hex(m->arena, type->needs[n]);
        m->no_room |= !one;
        at += (uint32_t)sprintf(needs + at, n > 0 ? " %s" : "%s", one ? one : "");
    }
    if (needs) {
        add_schema_pair(m, i, "needs", needs);
    }
}

static void make_new(struct making *m, const struct tide_fields *f, const struct chosen *chosen) {
    struct reel_schema *schemas = arena_alloc(m->arena, (chosen->count + 1) * sizeof *schemas);
    bool rsb = chosen->count > 0 && is_envelope(chosen->types[0]);
    m->no_room |= !schemas;
    size_t scope = scope_size(f->name);
    struct reel_bytes type = bytes_of("", 0);
    if (rsb && scope > 0) {
        type = bytes_of(f->name.data + scope + 1, f->name.size - scope - 1);
    } else if (chosen->count > rsb && chosen->types[rsb]) { /* the payload's follows the envelope's */
        type = chosen->types[rsb]->name;
    }
    m->out->type = tide_text_of(m, type);
    bool frames = has_frames(f, chosen);
    m->out->encoding = rsb                                     ? RSB_ENCODING
                       : frames                                ? FRAMES_ENCODING
                       : chosen->count > 0 && chosen->types[0] ? tide_encoding_of(chosen->types[0]->syntax)
                                                               : RSB_PLAIN_ENCODING;
    make_plain_pairs(m, f, rsb);
    if (f->n_hashes != chosen->count || frames) {
        char count[16];
        snprintf(count, sizeof count, "%u", f->n_hashes);
        tide_add_pair(m, "tide.hashes", tide_text_of(m, bytes_text(count)));
    }
    for (uint32_t i = 0; schemas && i < chosen->count; i++) {
        make_schema(m, i, chosen->hashes[i], chosen->types[i], &schemas[i]);
    }
    m->out->schemas = schemas;
    m->out->n_schemas = chosen->count;
}

bool tide_channel_model(struct arena *arena, bool is_new, const struct tide_fields *f, struct tide_types *types,
                        struct reel_channel *out, bool *relative) {
    enum tide_reel reel = tide_reel_read(arena, is_new, f, types, out, relative);
    if (reel != TIDE_REEL_OTHER) {
        return reel == TIDE_REEL_READ;
    }
    struct chosen chosen = {0};
    if (is_new) {
        choose_all(&chosen, f, types);
    }
    size_t pairs = PAIRS_PLAIN;
    for (uint32_t i = 0; i < chosen.count; i++) {
        pairs += chosen.types[i] ? 2 + chosen.types[i]->n_sources : 0;
    }
    *out = (struct reel_channel){0};
    struct making m = {.arena = arena, .out = out, .pairs = arena_alloc(arena, pairs * sizeof *m.pairs)};
    if (!m.pairs) {
        return false;
    }
    out->name = tide_text_of(&m, f->name);
    out->metadata.items = m.pairs;
    if (is_new) {
        make_new(&m, f, &chosen);
    } else {
        make_old(&m, f);
    }
    return !m.no_room;
}
