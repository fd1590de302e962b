/* Finds the encoding of a channel and decodes payloads with it. */
#include "reel/encoding.h"
#include "wire/bytes.h"
#include "wire/visit.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct reel_encoding *reel_encoding_of(const struct reel_channel *channel) {
    for (size_t i = 0; reel_encodings[i]; i++) {
        if (strcmp(reel_encodings[i]->name, channel->encoding) == 0) {
            return reel_encodings[i];
        }
    }
    return NULL;
}

bool reel_channel_has_profile(const struct reel_channel *channel, const char *profile) {
    const struct reel_encoding *encoding = reel_encoding_of(channel);
    return encoding && encoding->profile && strcmp(encoding->profile, profile) == 0;
}

static const struct reel_encoding *of_language(struct reel_bytes language) {
    const struct reel_encoding *found = NULL;
    size_t longest = 0;
    for (size_t i = 0; reel_encodings[i]; i++) {
        for (const char *const *l = reel_encodings[i]->languages; l && *l; l++) {
            size_t size = strlen(*l);
            if (size > longest && language.size >= size && strncasecmp((const char *)language.data, *l, size) == 0) {
                longest = size;
                found = reel_encodings[i];
            }
        }
    }
    return found;
}

const char *reel_language_encoding(struct reel_bytes language) {
    const struct reel_encoding *found = of_language(language);
    return found ? found->name : NULL;
}

bool reel_language_is_delimited(struct reel_bytes language) {
    const struct reel_encoding *found = of_language(language);
    return found && found->extent;
}

struct reel_decoder {
    const struct reel_encoding *how;
    void *state;
};

struct reel_decoder *reel_decoder_open(const struct reel_channel *channel, struct reel_error *err) {
    const struct reel_encoding *how = reel_encoding_of(channel);
    if (!how) {
        reel_fail(err, REEL_UNSUPPORTED, "%s: the encoding \"%.64s\" is not decoded", channel->name, channel->encoding);
        return NULL;
    }
    struct reel_decoder *d = calloc(1, sizeof *d);
    if (!d) {
        reel_fail_memory(err);
        return NULL;
    }
    d->how = how;
    if (!how->open(channel, &d->state, err)) {
        free(d);
        reel_error_at(err, "%.128s", channel->name);
        return NULL;
    }
    return d;
}

void reel_decoder_free(struct reel_decoder *d) {
    if (d) {
        d->how->close(d->state);
        free(d);
    }
}

bool reel_decode(const struct reel_decoder *d, struct reel_bytes payload, struct reel_visitor *v,
                 struct reel_error *err) {
    struct reel_error own = {0};
    bool whole = d->how->decode(d->state, payload, v, &own);
    reel_error_pass(err, &own);
    return whole;
}

bool reel_decode_extent(const struct reel_decoder *d, struct reel_bytes payload, size_t *size, struct reel_error *err) {
    return d->how->extent
               ? d->how->extent(d->state, payload, size, err)
               : reel_fail(err, REEL_UNSUPPORTED, "where a message in %s encoding ends is not known", d->how->name);
}

bool reel_decoder_fields(const struct reel_decoder *d, reel_field_visit visit, void *context) {
    return !d->how->fields || d->how->fields(d->state, visit, context);
}

bool reel_decoder_shape(const struct reel_decoder *d, reel_shape_visit visit, void *context, bool *exact) {
    if (exact) {
        *exact = d->how->shape && d->how->is_exact;
    }
    return !d->how->shape || d->how->shape(d->state, visit, context);
}

/* ---- packed arrays */

bool reel_number_visit(struct reel_visitor *v, enum reel_number type, const uint8_t *at) {
    switch (type) {
    case REEL_BOOL:
        return visit_boolean(v, *at != 0);
    case REEL_I8:
        return visit_integer(v, (int8_t)*at);
    case REEL_U8:
        return visit_natural(v, *at);
    case REEL_I16:
        return visit_integer(v, (int16_t)load_u16le(at));
    case REEL_U16:
        return visit_natural(v, load_u16le(at));
    case REEL_I32:
        return visit_integer(v, (int32_t)load_u32le(at));
    case REEL_U32:
        return visit_natural(v, load_u32le(at));
    case REEL_I64:
        return visit_integer(v, (int64_t)load_u64le(at));
    case REEL_U64:
        return visit_natural(v, load_u64le(at));
    case REEL_F32:
        return visit_real32(v, load_f32le(at));
    case REEL_F64:
        return visit_real(v, load_f64le(at));
    }
    return false;
}

bool reel_numbers_expand(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns) {
    size_t size = reel_number_size(type), n = data.size / size;
    bool rows = columns > 1, goes_on = visit_begin_list(v);
    for (size_t i = 0; goes_on && i < n; i++) {
        bool first = rows && i % columns == 0, last = rows && (i % columns == columns - 1 || i == n - 1);
        goes_on = (!first || visit_begin_list(v)) && reel_number_visit(v, type, data.data + i * size) &&
                  (!last || visit_end_list(v));
    }
    return goes_on && visit_end_list(v);
}

static bool visit_part(struct reel_visitor *v, int64_t value) {
    return value < 0 ? visit_integer(v, value) : visit_natural(v, (uint64_t)value);
}

bool reel_stamp_expand(struct reel_visitor *v, const struct reel_stamp *value) {
    return visit_begin_map(v) && visit_key_text(v, "sec") && visit_part(v, value->seconds) &&
           visit_key_text(v, value->nanoseconds_name) && visit_part(v, value->nanoseconds) && visit_end_map(v);
}

unsigned reel_encodings_version(void) {
    unsigned sum = 1;
    for (const struct reel_encoding *const *how = reel_encodings; *how; how++) {
        sum = sum * 31 + (*how)->version;
    }
    return sum;
}
