/* See decoder_set.h. */
#include "decode/decoder_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"

struct opened_decoder {
    struct opened_decoder *next;
    const struct reel_channel *channel;
    struct reel_decoder *decoder;
};

/* Of one schema: decoders of several also depend on a channel's metadata. */
static bool is_shareable(const struct reel_channel *c) {
    return c->n_schemas == 1 && c->schemas[0].data.size > 0;
}

static bool is_alike(const struct reel_channel *a, const struct reel_channel *b) {
    const struct reel_schema *x = a->schemas, *y = b->schemas;
    return x->data.size == y->data.size && strcmp(x->name, y->name) == 0 && strcmp(x->encoding, y->encoding) == 0 &&
           strcmp(a->encoding, b->encoding) == 0;
}

static struct hash_key key_of(const struct reel_channel *c) {
    return (struct hash_key){.number = (uintptr_t)c->schemas[0].data.data, .bytes = bytes_text(c->type)};
}

static const struct reel_decoder *open_new(struct decoder_set *set, const struct reel_channel *channel, bool is_first,
                                           struct reel_error *err) {
    struct opened_decoder *o = calloc(1, sizeof *o);
    if (!o) {
        reel_fail_memory(err);
        return NULL;
    }
    o->channel = channel;
    if (!(o->decoder = reel_decoder_open(channel, err))) {
        free(o);
        return NULL;
    }
    o->next = set->first;
    set->first = o;
    return !is_first || hash_table_set(&set->known, key_of(channel), (uintptr_t)o, err) ? o->decoder : NULL;
}

const struct reel_decoder *decoder_set_open(struct decoder_set *set, const struct reel_channel *channel,
                                            struct reel_error *err) {
    bool shareable = is_shareable(channel);
    const struct opened_decoder *known =
        shareable ? (const struct opened_decoder *)hash_table_get(&set->known, key_of(channel)) : NULL;
    return known && is_alike(known->channel, channel) ? known->decoder
                                                      : open_new(set, channel, shareable && !known, err);
}

bool decoder_set_try(struct decoder_set *set, const struct reel_channel *channel, const struct reel_decoder **out,
                     struct reel_error *err) {
    struct reel_error why = {0};
    *out = decoder_set_open(set, channel, &why);
    return reel_error_ignore(err, &why);
}

void decoder_set_free(struct decoder_set *set) {
    for (struct opened_decoder *o = set->first, *next; o; o = next) {
        next = o->next;
        reel_decoder_free(o->decoder);
        free(o);
    }
    hash_table_free(&set->known);
    *set = (struct decoder_set){0};
}
