/* JSON of the topics of a recording. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/grow.h"
#include "decode/encoding.h"
#include "http/json_text.h"
#include "index/index.h"
#include "values/schema_source.h"
#include "views/views_internal.h"

enum {
    GAP_ENTRIES_MAX = 1000000,
    DEFINITIONS_MAX = 16 << 20, /* bytes of definitions that an answer reads for reasons */
};

struct topic_row {
    const char *name;
    uint32_t channel;
};

static int views_by_name(const void *a, const void *b) {
    const struct topic_row *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->channel > y->channel) - (x->channel < y->channel);
}

/* One row per channel and topic, sorted. NULL: no memory. */
static struct topic_row *list_topics(const struct reel_index *index, size_t *count) {
    uint32_t n_channels = reel_index_info(index)->n_channels;
    size_t n = 0;
    for (uint32_t id = 0; id < n_channels; id++) {
        n += reel_index_channel(index, id)->n_topics;
    }
    struct topic_row *rows = malloc((n ? n : 1) * sizeof *rows);
    *count = n;
    for (uint32_t id = 0, at = 0; rows && id < n_channels; id++) {
        const struct reel_channel *c = reel_index_channel(index, id);
        for (uint32_t t = 0; t < c->n_topics; t++) {
            rows[at++] = (struct topic_row){.name = c->topics[t], .channel = id};
        }
    }
    if (rows) {
        qsort(rows, n, sizeof *rows, views_by_name);
    }
    return rows;
}

/* {"key": "value"}; a key that repeats gets an array. */
static json_t *view_pairs(struct reel_pairs pairs) {
    struct object o = views_object();
    for (size_t i = 0; i < pairs.count && !o.failed; i++) {
        json_t *before = json_object_get(o.json, pairs.items[i].key), *value = json_string(pairs.items[i].value);
        if (!before) {
            views_put(&o, pairs.items[i].key, value);
        } else if (json_is_array(before)) {
            o.failed = json_array_append_new(before, value) != 0;
        } else {
            views_put(&o, pairs.items[i].key, json_pack("[O,o]", before, value));
        }
    }
    return views_end(&o);
}

/* Of the channel's own schema: "7" of channel 7 with one schema, "7.1" when it is the second of several. */
static json_t *view_schema_id(const struct reel_channel *c) {
    char text[32];
    if (c->n_schemas == 0) {
        return json_null();
    }
    snprintf(text, sizeof text, c->n_schemas > 1 ? "%u.%u" : "%u", c->id,
             (unsigned)(reel_channel_schema(c) - c->schemas));
    return json_string(text);
}

/* What an answer with topics shows, and may still use. */
struct topics_limits {
    bool filled;
    uint64_t gap_entries;
    size_t channels, text, definitions;
    struct schema_sources sources;
};

/* Of a definition that is assumed. */
static void put_schema_source(struct object *o, struct schema_sources *sources, const struct reel_channel *c) {
    char text[SCHEMA_SOURCE_ROOM];
    if (schema_source(sources, c, text)) {
        views_put(o, "schema_source", json_string(text));
    }
}

static uint64_t count_all(const struct reel_index *index, const struct topic_row *rows, size_t n) {
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += reel_index_stats(index, rows[i].channel)->count;
    }
    return count;
}

/* The longest time without a message, in seconds. If it is not in the index, it is computed from the entries, up to a
 * limit per answer; beyond that `note` gives the reason. */
static void put_gap(struct object *o, const struct reel_index *index, const struct topic_row *rows, size_t n,
                    const struct reel_channel_stats *stats, uint64_t *budget) {
    uint64_t gap_ns = stats->max_gap_ns, count = stats->count;
    const char *note = NULL;
    bool known = count > 1 && n == 1 && stats->knows_gap, filled = count != count_all(index, rows, n);
    if (count > 1 && !known && reel_index_info(index)->is_summary) {
        note = "unknown until the scan has finished";
    } else if (count > 1 && !known && filled) {
        note = "unknown without the empty messages";
    } else if (count > 1 && !known && count > *budget) {
        note = "too many messages in interleaved channels; coverage shows the gaps";
    } else if (count > 1 && !known) {
        AUTO_MEM uint32_t *channels = calloc(n, sizeof *channels);
        for (size_t i = 0; channels && i < n; i++) {
            channels[i] = rows[i].channel;
        }
        *budget -= count;
        known = channels && reel_index_gap(index, channels, (uint32_t)n, &gap_ns, NULL);
        note = known ? NULL : "the index could not be read";
    }
    views_put(o, "max_gap", known ? json_real((double)gap_ns / 1e9) : json_null());
    if (note) {
        views_put(o, "max_gap_note", json_string(note));
    }
}

static json_t *view_channel(const struct reel_index *index, const struct topic_row *row,
                            const struct reel_channel_stats *stats, struct topics_limits *left) {
    const struct reel_channel *c = reel_index_channel(index, row->channel);
    const struct reel_schema *schema = reel_channel_schema(c);
    struct object o = views_object();
    views_put(&o, "id", json_integer(c->id));
    views_put(&o, "name", json_string(c->name));
    views_put(&o, "type", json_string(c->type));
    views_put(&o, "encoding", json_string(c->encoding));
    views_put(&o, "schema_id", view_schema_id(c));
    views_put(&o, "schema_name", schema ? json_string(schema->name) : json_null());
    views_put(&o, "schema_encoding", schema ? json_string(schema->encoding) : json_null());
    views_put(&o, "schema_hash", schema && schema->hash[0] ? json_string(schema->hash) : json_null());
    put_schema_source(&o, &left->sources, c);
    views_put(&o, "messages", view_u64(stats->count));
    views_put(&o, "payload_bytes", views_known_bytes(stats->bytes, stats->count, reel_index_info(index)->is_summary));
    put_gap(&o, index, row, 1, stats, &left->gap_entries);
    views_put_span(&o, "start", "end", stats->count > 0, stats->first_ns, stats->last_ns,
                   reel_index_info(index)->clock);
    views_put(&o, "latched", json_boolean(c->latched));
    views_put(&o, "metadata", view_pairs(c->metadata));
    return views_end(&o);
}

static void add_stats(struct reel_channel_stats *sum, const struct reel_channel_stats *more) {
    if (sum->count == 0) {
        *sum = *more;
        return;
    }
    if (more->count > 0) {
        sum->first_ns = more->first_ns < sum->first_ns ? more->first_ns : sum->first_ns;
        sum->last_ns = more->last_ns > sum->last_ns ? more->last_ns : sum->last_ns;
    }
    sum->count += more->count;
    sum->bytes += more->bytes;
}

/* About the bytes of the channel's text in the answer. */
static size_t channel_text(const struct reel_channel *c) {
    const struct reel_schema *schema = reel_channel_schema(c);
    size_t size = 700 + strlen(c->name) + 2 * strlen(c->type) + 2 * strlen(c->encoding);
    size += schema ? strlen(schema->name) + strlen(schema->encoding) : 0;
    for (size_t i = 0; i < c->metadata.count; i++) {
        size += strlen(c->metadata.items[i].key) + strlen(c->metadata.items[i].value);
    }
    return size;
}

static bool topics_take(struct topics_limits *left, const struct reel_channel *c) {
    size_t text = channel_text(c);
    if (left->channels == 0 || left->text == 0) {
        return false;
    }
    left->channels--;
    left->text -= text < left->text ? text : left->text;
    return true;
}

static struct reel_channel_stats stats_of(const struct reel_index *index, const struct reel_channel *c, bool filled) {
    struct reel_channel_stats stats;
    uint32_t least = filled ? reel_channel_least_filled(c) : 0;
    return index_stats_from(index, c->id, least, &stats, NULL) ? stats : *reel_index_stats(index, c->id);
}

/* Why its messages are bytes, as far as the definition says. Many channels may have one, of any size. */
static void put_reason(struct object *o, const struct reel_channel *c, struct topics_limits *left) {
    const struct reel_schema *schema = reel_channel_schema(c);
    size_t size = schema ? schema->data.size : 0;
    char source[SCHEMA_SOURCE_ROOM];
    if (size > left->definitions || schema_source(&left->sources, c, source)) {
        return;
    }
    struct reel_error why = {0};
    AUTO(reel_decoder_free) struct reel_decoder *decoder = reel_decoder_open(c, &why);
    left->definitions -= size;
    if (!decoder && !reel_is_transient(why.code)) {
        views_put(o, "undecoded", view_text(why.text));
    }
}

/* The rows of one topic. Type, encoding and schema are those of the channel with only this topic, or else of the first;
 * `channels` shows where they differ. */
static json_t *view_topic(const struct reel_index *index, const struct topic_row *rows, size_t n,
                          struct topics_limits *left) {
    size_t chief = 0;
    while (chief < n && strcmp(reel_index_channel(index, rows[chief].channel)->name, rows[0].name) != 0) {
        chief++;
    }
    const struct reel_channel *first = reel_index_channel(index, rows[chief < n ? chief : 0].channel);
    struct reel_channel_stats sum = {0};
    bool latched = false;
    json_t *channels = json_array();
    size_t listed = 0;
    for (size_t i = 0; i < n && channels; i++) {
        const struct reel_channel *c = reel_index_channel(index, rows[i].channel);
        const struct reel_channel_stats stats = stats_of(index, c, left->filled);
        add_stats(&sum, &stats);
        latched = latched || c->latched;
        if (i == listed && (topics_take(left, c) || i == 0)) {
            channels = views_append(channels, view_channel(index, &rows[i], &stats, left));
            listed++;
        }
    }
    double seconds = (double)((uint64_t)sum.last_ns - (uint64_t)sum.first_ns) / 1e9;
    struct object o = views_object();
    views_put(&o, "name", json_string(rows[0].name));
    views_put(&o, "type", json_string(first->type));
    views_put(&o, "encoding", json_string(first->encoding));
    views_put(&o, "schema_id", view_schema_id(first));
    put_schema_source(&o, &left->sources, first);
    views_put(&o, "messages", view_u64(sum.count));
    views_put(&o, "payload_bytes", views_known_bytes(sum.bytes, sum.count, reel_index_info(index)->is_summary));
    views_put(&o, "rate", sum.count > 1 && seconds > 0 ? json_real((double)(sum.count - 1) / seconds) : json_null());
    put_gap(&o, index, rows, n, &sum, &left->gap_entries);
    views_put_span(&o, "start", "end", sum.count > 0, sum.first_ns, sum.last_ns, reel_index_info(index)->clock);
    views_put(&o, "latched", json_boolean(latched));
    views_put(&o, "channels", channels);
    put_reason(&o, first, left);
    if (listed < n) {
        views_put(&o, "more_channels", json_integer((json_int_t)(n - listed)));
    }
    return views_end(&o);
}

/* A walk over the topics of a slice, by name. */
struct topics_walk {
    const struct reel_index *index;
    struct view_slice *slice; /* NULL: all */
    struct topic_row *rows;
    size_t n, at, count;
    struct topics_limits left;
};

static bool walk_begin(struct topics_walk *w, const struct reel_index *index, struct view_slice *slice) {
    const size_t channels = slice ? VIEW_ITEMS_MAX : SIZE_MAX, text = slice ? VIEW_TEXT_MAX : SIZE_MAX;
    *w = (struct topics_walk){.index = index,
                              .slice = slice,
                              .at = slice ? slice->from : 0,
                              .left = {.filled = slice && slice->filled,
                                       .gap_entries = GAP_ENTRIES_MAX,
                                       .channels = channels,
                                       .text = text,
                                       .definitions = DEFINITIONS_MAX,
                                       .sources = {.index = index}}};
    return (w->rows = list_topics(index, &w->n)) != NULL;
}

static bool walk_has_more(const struct topics_walk *w) {
    return w->at < w->n && w->left.channels > 0 && w->left.text > 0 && !(w->slice && w->count == w->slice->limit);
}

static json_t *walk_next(struct topics_walk *w) {
    const struct topic_row *first = &w->rows[w->at];
    size_t n = 1;
    while (w->at + n < w->n && strcmp(first[n].name, first->name) == 0) {
        n++;
    }
    w->at += n;
    w->count++;
    return view_topic(w->index, first, n, &w->left);
}

static void walk_end(struct topics_walk *w) {
    if (w->slice) {
        w->slice->next = w->at < w->n ? w->at : 0;
    }
    schema_sources_done(&w->left.sources);
    free(w->rows);
}

json_t *view_topics(const struct reel_index *index, struct view_slice *slice) {
    struct topics_walk w;
    json_t *topics = walk_begin(&w, index, slice) ? json_array() : NULL;
    while (topics && walk_has_more(&w)) {
        topics = views_append(topics, walk_next(&w));
    }
    walk_end(&w);
    return topics;
}

static int put_piece(const char *data, size_t size, void *context) {
    struct grow *out = context;
    grow_put(out, data, size);
    return out->failed ? -1 : 0;
}

bool view_topics_text(const struct reel_index *index, struct view_slice *slice, struct grow *out) {
    struct topics_walk w;
    bool good = walk_begin(&w, index, slice);
    grow_put(out, "[", 1);
    for (bool first = true; good && walk_has_more(&w); first = false) {
        json_t *topic = walk_next(&w);
        grow_put(out, ",", !first);
        good = topic && json_text_write(topic, 0, put_piece, out);
        json_decref(topic);
    }
    grow_put(out, "]", 1);
    walk_end(&w);
    return good && !out->failed;
}
