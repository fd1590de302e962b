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

static bool has_definition(const struct reel_channel *c) {
    return c->n_schemas == 1 && c->schemas[0].data.size > 0;
}

/* Of one definition, or of one type whose definition comes from elsewhere. Decoders of several schemas, and others
 * without one, also depend on a channel's metadata. */
static bool is_shareable(const struct reel_channel *c) {
    const struct reel_encoding *encoding = reel_encoding_of(c);
    return has_definition(c) || (c->n_schemas <= 1 && encoding && encoding->source);
}

/* A definition that the recording lacks is chosen by its hash, which ROS 2 has in the metadata. */
static const char *type_hash(const struct reel_channel *c) {
    for (size_t i = 0; i < c->metadata.count; i++) {
        if (strcmp(c->metadata.items[i].key, "topic_type_hash") == 0) {
            return c->metadata.items[i].value;
        }
    }
    return "";
}

static bool is_alike(const struct reel_channel *a, const struct reel_channel *b) {
    const struct reel_schema *x = a->schemas, *y = b->schemas;
    if (a->n_schemas != b->n_schemas || strcmp(a->encoding, b->encoding) != 0 ||
        (a->n_schemas == 1 && (x->data.size != y->data.size || strcmp(x->name, y->name) != 0 ||
                               strcmp(x->encoding, y->encoding) != 0 || strcmp(x->hash, y->hash) != 0))) {
        return false;
    }
    return strcmp(type_hash(a), type_hash(b)) == 0;
}

static struct hash_key key_of(const struct reel_channel *c) {
    return (struct hash_key){.number = has_definition(c) ? (uintptr_t)c->schemas[0].data.data : 0,
                             .bytes = bytes_text(c->type)};
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

bool channels_decode_alike(const struct reel_channel *a, const struct reel_channel *b) {
    return is_shareable(a) && is_shareable(b) && has_definition(a) == has_definition(b) &&
           (!has_definition(a) || a->schemas[0].data.data == b->schemas[0].data.data) &&
           strcmp(a->type, b->type) == 0 && is_alike(a, b);
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
