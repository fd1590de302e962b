/* Comparing channels. */
#ifndef REEL_BASE_CHANNEL_H
#define REEL_BASE_CHANNEL_H

#include <string.h>

#include "reel/model.h"

/* The same name, type and encoding: messages of both can stand in one channel. */
static inline bool channel_same(const struct reel_channel *a, const struct reel_channel *b) {
    return strcmp(a->name, b->name) == 0 && strcmp(a->type, b->type) == 0 && strcmp(a->encoding, b->encoding) == 0;
}

/* Whether its name is its only topic. */
static inline bool channel_is_one_topic(const struct reel_channel *c) {
    return c->n_topics == 0 || (c->n_topics == 1 && strcmp(c->topics[0], c->name) == 0);
}

#endif
