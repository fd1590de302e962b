/* What a viewer gets of the recorded channels themselves: those that it decodes as they are, other decodable ones as
 * JSON, the rest not. Channels that the feed draws are left out too. Values that are no objects become {"value": …},
 * because a JSON Schema needs an object. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "formats/foxglove/view.h"
#include "stream/stream.h"
#include "syntax/json_out.h"

enum {
    PLAIN_VERSION = 1,     /* part of every ETag: raise it when any output byte changes */
    TEXT_MAX = 256 << 20,  /* of one message */
    FIELDS_MAX = 4096,     /* of one schema */
    BYTES_SHOWN = 1 << 20, /* a payload that cannot be decoded is written as bytes up to this size */
    LEVELS_MAX = 32,       /* of a field's path; deeper ones are left out of the schema */
};
static const uint32_t DROPPED = UINT32_MAX;

struct plain {
    struct reel_stream base;
    struct reel_stream *below;
    struct arena arena;
    const struct reel_channel **channels;
    uint32_t *channel_source;
    uint32_t *own;                  /* by channel of `below`: its position here, or DROPPED */
    uint32_t *theirs;               /* the reverse */
    struct reel_decoder **decoders; /* by channel here; NULL: as it is */
    struct grow text;               /* of the message at `of` */
    struct reel_position of;
    bool has;
};

/* ---- schemas */

struct schema_maker {
    struct grow text;
    char open[LEVELS_MAX][64]; /* the objects around the last field */
    unsigned depth, fields;
    bool follows; /* a property came before, at this level */
};

static void foxglove_put(struct grow *g, const char *text) {
    grow_put(g, text, strlen(text));
}

static void begin_property(struct schema_maker *s, struct reel_bytes name) {
    foxglove_put(&s->text, s->follows ? "," : "");
    json_put_string(&s->text, name);
    foxglove_put(&s->text, ":");
    s->follows = true;
}

static void close_levels(struct schema_maker *s, unsigned depth) {
    for (; s->depth > depth; s->depth--) {
        foxglove_put(&s->text, "}}");
        s->follows = true;
    }
}

static const char *leaf_of(const struct reel_field *f) {
    size_t size = strlen(f->type);
    bool list = size > 2 && strcmp(f->type + size - 2, "[]") == 0;
    bool number =
        strncmp(f->type, "float", 5) == 0 || strncmp(f->type, "int", 3) == 0 || strncmp(f->type, "uint", 4) == 0;
    if (list) {
        bool bytes = strncmp(f->type, "uint8", 5) == 0;
        return bytes    ? "{\"type\":\"object\"}"
               : number ? "{\"type\":\"array\",\"items\":{\"type\":\"number\"}}"
                        : "{\"type\":\"array\",\"items\":{\"type\":\"object\"}}";
    }
    return strncmp(f->type, "bool", 4) == 0 ? "{\"type\":\"boolean\"}"
           : f->numeric                     ? "{\"type\":\"number\"}"
                                            : "{\"type\":\"string\"}";
}

/* One property, inside of the objects that its path names. Elements of arrays of fixed length are left out. */
static bool foxglove_add_field(void *context, const struct reel_field *f) {
    struct schema_maker *s = context;
    unsigned level = 0;
    const char *at = f->path, *dot;
    for (const char *p = at; *p; p++) {
        if (*p >= '0' && *p <= '9' && (p == at || p[-1] == '.')) {
            return true;
        }
    }
    for (; (dot = strchr(at, '.')); at = dot + 1, level++) {
        size_t size = (size_t)(dot - at);
        if (level == LEVELS_MAX || size >= sizeof s->open[0]) {
            return true;
        }
        if (level < s->depth && strlen(s->open[level]) == size && memcmp(s->open[level], at, size) == 0) {
            continue;
        }
        close_levels(s, level);
        begin_property(s, bytes_of((const uint8_t *)at, size));
        foxglove_put(&s->text, "{\"type\":\"object\",\"properties\":{");
        memcpy(s->open[level], at, size);
        s->open[level][size] = '\0';
        s->depth = level + 1;
        s->follows = false;
    }
    close_levels(s, level);
    begin_property(s, bytes_text(at));
    foxglove_put(&s->text, leaf_of(f));
    return ++s->fields < FIELDS_MAX;
}

/* The JSON Schema of what the decoder gives; in `out`, as text. */
static bool make_schema(struct plain *v, struct reel_decoder *decoder, struct reel_bytes *out) {
    struct schema_maker s = {.fields = 0};
    foxglove_put(&s.text, "{\"type\":\"object\",\"properties\":{");
    reel_decoder_fields(decoder, foxglove_add_field, &s);
    close_levels(&s, 0);
    foxglove_put(&s.text, "}}");
    const uint8_t *copy = s.text.failed ? NULL : arena_copy(&v->arena, s.text.data, s.text.size);
    *out = bytes_of(copy, s.text.size);
    free(s.text.data);
    return copy;
}

/* ---- messages */

/* The payload of `m`, a message of `below`, as JSON in v->text. */
static bool make_text(struct plain *v, const struct reel_message *m, const struct reel_decoder *decoder,
                      struct reel_error *err) {
    struct reel_error why = {0};
    struct reel_bytes payload;
    if (!stream_decodable(v->below, m, &payload, &why)) {
        if (why.code != REEL_LIMIT) {
            return reel_error_pass(err, &why);
        }
        payload = (struct reel_bytes){0};
    }
    const char wrap[] = "{\"value\":";
    v->text.size = 0;
    foxglove_put(&v->text, wrap);
    struct json_out json = json_out_to(&v->text, TEXT_MAX);
    bool good = why.code == REEL_OK && reel_decode(decoder, payload, &json.visitor, &why) && !json.too_long;
    if (!good && why.code == REEL_NO_MEMORY) {
        return reel_error_pass(err, &why);
    }
    if (!good) {
        v->text.size = sizeof wrap - 1;
        foxglove_put(&v->text, "{\"$base64\":\"");
        json_put_base64(&v->text, payload.size <= BYTES_SHOWN ? payload : (struct reel_bytes){0});
        foxglove_put(&v->text, "\"}");
    }
    if (v->text.size > sizeof wrap - 1 && v->text.data[sizeof wrap - 1] == '{') {
        v->text.size -= sizeof wrap - 1;
        memmove(v->text.data, v->text.data + sizeof wrap - 1, v->text.size);
    } else {
        foxglove_put(&v->text, "}");
    }
    v->of = reel_position_of(m);
    v->has = !v->text.failed;
    return v->has || reel_fail_memory(err);
}

static enum reel_step plain_next(struct reel_stream *base, struct reel_message *m, struct reel_error *err) {
    struct plain *v = (struct plain *)base;
    enum reel_step step;
    while ((step = stream_next(v->below, m, err)) == REEL_STEP_MESSAGE) {
        uint32_t channel = v->own[m->channel];
        if (channel == DROPPED || (v->decoders[channel] && m->owned)) {
            continue;
        }
        if (v->decoders[channel]) {
            if (!make_text(v, m, v->decoders[channel], err)) {
                return REEL_STEP_ERROR;
            }
            m->size = (uint32_t)v->text.size;
        }
        m->channel = channel;
        break;
    }
    return step;
}

static bool plain_seek(struct reel_stream *base, const struct reel_position *mark, struct reel_error *err) {
    return stream_seek(((struct plain *)base)->below, mark, err);
}

static bool foxglove_same(const struct reel_position *a, const struct reel_position *b) {
    return view_compare(a, b) == 0 && a->again == b->again && a->initial == b->initial;
}

static bool plain_payload(struct reel_stream *base, const struct reel_message *m, struct reel_bytes *out,
                          struct reel_error *err) {
    struct plain *v = (struct plain *)base;
    struct reel_message below = *m;
    struct reel_position mark = reel_position_of(m);
    below.channel = v->theirs[m->channel];
    if (!v->decoders[m->channel]) {
        return reel_stream_payload(v->below, &below, out, err);
    }
    below.size = m->entry.size;
    if (!(v->has && foxglove_same(&v->of, &mark)) && !make_text(v, &below, v->decoders[m->channel], err)) {
        return false;
    }
    *out = bytes_of(v->text.data, v->text.size);
    return v->text.size == m->size ||
           reel_fail(err, REEL_CHANGED, "the message at %llu is another now", (unsigned long long)m->entry.offset);
}

static void plain_free(struct reel_stream *base) {
    struct plain *v = (struct plain *)base;
    for (uint32_t i = 0; v->decoders && i < v->base.n_channels; i++) {
        reel_decoder_free(v->decoders[i]);
    }
    reel_stream_free(v->below);
    arena_free(&v->arena);
    free(v->channels);
    free(v->channel_source);
    free(v->own);
    free(v->theirs);
    free(v->decoders);
    free(v->text.data);
    free(v);
}

/* ---- opening */

static bool foxglove_is_read(const struct reel_channel *c) {
    const struct reel_encoding *encoding = reel_encoding_of(c);
    return encoding && encoding->is_viewable;
}

static const struct reel_channel *as_json(struct plain *v, const struct reel_channel *c, struct reel_decoder *decoder) {
    struct reel_channel *channel = arena_copy(&v->arena, c, sizeof *c);
    struct reel_schema *schema = arena_alloc(&v->arena, sizeof *schema);
    if (!channel || !schema || !make_schema(v, decoder, &schema->data)) {
        return NULL;
    }
    schema->name = c->type[0] ? c->type : c->name;
    schema->encoding = "jsonschema";
    schema->hash = "";
    channel->encoding = "json";
    channel->schemas = schema;
    channel->n_schemas = 1;
    return channel;
}

static bool foxglove_add_channel(struct plain *v, uint32_t theirs, struct reel_error *err) {
    const struct reel_channel *c = v->below->channels[theirs];
    struct reel_error why = {0};
    bool plain = foxglove_is_read(c);
    v->own[theirs] = DROPPED;
    AUTO(reel_decoder_free) struct reel_decoder *decoder = plain || view_draws(c) ? NULL : reel_decoder_open(c, &why);
    if (!plain && !decoder) {
        return why.code != REEL_NO_MEMORY || reel_error_pass(err, &why);
    }
    const struct reel_channel *own = plain ? c : as_json(v, c, decoder);
    if (!own) {
        return reel_fail_memory(err);
    }
    uint32_t n = v->base.n_channels++;
    v->channels[n] = own;
    v->channel_source[n] = v->below->channel_source[theirs];
    v->theirs[n] = theirs;
    v->own[theirs] = n;
    v->decoders[n] = TAKE(decoder);
    return true;
}

struct reel_stream *view_plain(struct reel_stream *below, struct reel_error *err) {
    static const struct reel_stream_ops ops = {
        .next = plain_next, .seek = plain_seek, .free = plain_free, .payload = plain_payload};
    struct plain *v = calloc(1, sizeof *v);
    if (!v) {
        reel_stream_free(below);
        reel_fail_memory(err);
        return NULL;
    }
    uint32_t n = below->n_channels;
    v->base = *below; /* sources, readers and the initial state belong to the source stream */
    v->base.ops = &ops;
    v->base.view_version = (below->view_version * 16 + PLAIN_VERSION) ^ (reel_encodings_version() << 8);
    v->base.n_channels = 0;
    v->below = below;
    v->channels = calloc((size_t)n + 1, sizeof *v->channels);
    v->channel_source = calloc((size_t)n + 1, sizeof *v->channel_source);
    v->own = calloc((size_t)n + 1, sizeof *v->own);
    v->theirs = calloc((size_t)n + 1, sizeof *v->theirs);
    v->decoders = calloc((size_t)n + 1, sizeof *v->decoders);
    bool good = (v->channels && v->channel_source && v->own && v->theirs && v->decoders) || reel_fail_memory(err);
    for (uint32_t i = 0; good && i < n; i++) {
        good = foxglove_add_channel(v, i, err);
    }
    v->base.channels = v->channels;
    v->base.channel_source = v->channel_source;
    if (!good) {
        plain_free(&v->base);
        return NULL;
    }
    return &v->base;
}
