/* Finds the encoding of a channel and decodes payloads with it. */
#include "decode/decoder.h"

#include "base/ascii.h"
#include "base/bytes.h"
#include "base/cancel.h"
#include "base/error.h"
#include "decode/own_definitions.h"
#include "syntax/visitor.h"

#include <stdlib.h>
#include <string.h>

const struct reel_encoding *reel_encoding_of(const struct reel_channel *channel) {
    for (size_t i = 0; reel_encodings[i]; i++) {
        if (strcmp(reel_encodings[i]->name, channel->encoding) == 0) {
            return reel_encodings[i];
        }
    }
    return NULL;
}

uint32_t reel_channel_least_filled(const struct reel_channel *channel) {
    const struct reel_encoding *encoding = reel_encoding_of(channel);
    return encoding && encoding->least_filled ? encoding->least_filled(channel) : 0;
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
            if (size > longest && language.size >= size && ascii_ncasecmp((const char *)language.data, *l, size) == 0) {
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
    if (!cancel_check(err)) { /* a recording may have 65,535 definitions */
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
    struct reel_error own, *why = err ? err : &own;
    reel_error_clear(why);
    return d->how->decode(d->state, payload, v, why);
}

bool decoder_try(const struct reel_channel *channel, struct reel_decoder **out, struct reel_error *err) {
    struct reel_error why = {0};
    *out = reel_decoder_open(channel, &why);
    return reel_error_ignore(err, &why);
}

bool decode_try(const struct reel_decoder *d, struct reel_bytes payload, struct reel_visitor *v, bool *whole,
                struct reel_error *err) {
    struct reel_error why;
    bool good = reel_decode(d, payload, v, &why);
    if (whole) {
        *whole = good;
    }
    return good || reel_error_ignore(err, &why);
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

unsigned reel_decoders_version(void) {
    unsigned sum = 1;
    for (const struct reel_encoding *const *how = reel_encodings; *how; how++) {
        sum = sum * 31 + (*how)->version;
    }
    return sum;
}

unsigned reel_encodings_version(void) {
    return reel_decoders_version() + own_definitions_version();
}
