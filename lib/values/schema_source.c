/* See schema_source.h. */
#include "values/schema_source.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "decode/decoder_set.h"

/* ---- distributions */

/* The first that wrote this version of metadata.yaml. */
static const char *of_metadata_version(const char *version) {
    static const struct {
        const char *version, *distribution;
    } known[] = {{"4", "foxy"}, {"5", "humble"}, {"6", "iron"}, {"7", "iron"}, {"8", "jazzy"}, {"9", "jazzy"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(version, known[i].version) == 0) {
            return known[i].distribution;
        }
    }
    return NULL;
}

static bool is_distribution(const char *text) {
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    return n > 0 && n + 1 < SCHEMA_DISTRIBUTION_ROOM && text[n] == '\0' && strcmp(text, "unknown") != 0;
}

static bool has_key(const char *key, const char *wanted) {
    const char *colon = strrchr(key, ':'); /* MCAP has the name of the metadata record before it */
    return ascii_casecmp(colon ? colon + 1 : key, wanted) == 0;
}

/* The value of ros_distro in a metadata.yaml; "": none. */
static void find_in_yaml(const char *yaml, char out[SCHEMA_DISTRIBUTION_ROOM]) {
    const char *found = strstr(yaml, "ros_distro:");
    const char *value = found ? found + strlen("ros_distro:") : "";
    value += strspn(value, " \"'");
    snprintf(out, SCHEMA_DISTRIBUTION_ROOM, "%.*s", (int)strspn(value, "abcdefghijklmnopqrstuvwxyz"), value);
}

/* The distribution of ROS 2 that made the recording; "": not known. */
static void find_distribution(const struct reel_index *index, char out[SCHEMA_DISTRIBUTION_ROOM]) {
    enum { SEARCHED_MAX = 1000 };
    const struct reel_pairs *pairs = reel_index_metadata(index);
    const char *by_version = NULL;
    out[0] = '\0';
    for (size_t i = 0; i < pairs->count && i < SEARCHED_MAX && !is_distribution(out); i++) {
        const struct reel_pair *p = &pairs->items[i];
        if (has_key(p->key, "ros_distro")) {
            snprintf(out, SCHEMA_DISTRIBUTION_ROOM, "%.*s", SCHEMA_DISTRIBUTION_ROOM - 1, p->value);
        } else if (has_key(p->key, "serialized_metadata")) {
            find_in_yaml(p->value, out);
        } else if (strcmp(p->key, "metadata_version") == 0) {
            by_version = of_metadata_version(p->value);
        }
    }
    if (!is_distribution(out)) {
        snprintf(out, SCHEMA_DISTRIBUTION_ROOM, "%s", by_version ? by_version : "");
    }
}

/* ---- sources */

struct looked_up {
    const struct reel_channel *channel;
    const char *source; /* static; NULL: none */
};

void schema_sources_done(struct schema_sources *sources) {
    hash_table_free(&sources->known);
    arena_free(&sources->arena);
}

static const char *look_up(const struct reel_channel *c) {
    enum { SMALL = 16 << 10 }; /* recorders that leave types out write short definitions; longer ones are not parsed */
    const struct reel_encoding *encoding = reel_encoding_of(c);
    const struct reel_schema *own = reel_channel_schema(c);
    return encoding && encoding->source && (!own || own->data.size <= SMALL) ? encoding->source(c) : NULL;
}

/* Without memory it is looked up each time. */
static const char *source_of(struct schema_sources *s, const struct reel_channel *c) {
    const struct hash_key key = {.number = c->n_schemas > 0 ? c->schemas[0].data.size : 0,
                                 .bytes = bytes_text(c->type)};
    const struct looked_up *known = (const struct looked_up *)hash_table_get(&s->known, key);
    if (known && channels_decode_alike(known->channel, c)) {
        return known->source;
    }
    const struct looked_up is = {.channel = c, .source = look_up(c)};
    const struct looked_up *kept = known ? NULL : arena_copy(&s->arena, &is, sizeof is);
    if (kept) {
        (void)hash_table_set(&s->known, key, (uintptr_t)kept, NULL);
    }
    return is.source;
}

const char *schema_source(struct schema_sources *s, const struct reel_channel *c, char out[SCHEMA_SOURCE_ROOM]) {
    const char *source = source_of(s, c);
    bool is_ros2 = source && strcmp(source, "built-in") == 0;
    if (!source) {
        return NULL;
    }
    if (is_ros2 && !s->distribution[0]) {
        find_distribution(s->index, s->distribution);
    }
    bool is_named = is_ros2 && s->distribution[0];
    snprintf(out, SCHEMA_SOURCE_ROOM, "%s%s%s", source, is_named ? " " : "", is_named ? s->distribution : "");
    return out;
}

bool schema_sources_lack(const struct reel_index *index) {
    enum { NAME_ONLY = 512 }; /* some writers store the name of the type instead of a definition */
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels; i++) {
        const struct reel_channel *c = reel_index_channel(index, i);
        const struct reel_encoding *encoding = reel_encoding_of(c);
        const struct reel_schema *own = reel_channel_schema(c);
        if (encoding && encoding->source && (!own || own->data.size <= NAME_ONLY) && encoding->source(c)) {
            return true;
        }
    }
    return false;
}

static bool varies(const struct reel_channel *c) {
    const struct reel_encoding *encoding = reel_encoding_of(c);
    struct reel_error ignored = {0};
    if (!encoding || !encoding->source) {
        return encoding && encoding->is_envelope;
    }
    AUTO(reel_decoder_free) struct reel_decoder *decoder = reel_decoder_open(c, &ignored);
    return !decoder || encoding->source(c);
}

bool schema_sources_vary(const struct reel_index *index) {
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels; i++) {
        if (varies(reel_index_channel(index, i))) {
            return true;
        }
    }
    return false;
}
