/* See schema_source.h. */
#include "values/schema_source.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "decode/decoder.h"

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
    return n > 0 && n <= 32 && text[n] == '\0' && strcmp(text, "unknown") != 0;
}

/* The distribution of ROS 2 that made the recording; NULL: not known. */
static const char *distribution_of(const struct reel_index *index) {
    enum { SEARCHED_MAX = 1000 };
    const struct reel_pairs *pairs = reel_index_metadata(index);
    const char *by_version = NULL;
    for (size_t i = 0; i < pairs->count && i < SEARCHED_MAX; i++) {
        const struct reel_pair *p = &pairs->items[i];
        if (ascii_casecmp(p->key, "ros_distro") == 0 && is_distribution(p->value)) {
            return p->value;
        }
        by_version = strcmp(p->key, "metadata_version") == 0 ? of_metadata_version(p->value) : by_version;
    }
    return by_version;
}

/* ---- sources */

const char *schema_source(const struct reel_index *index, const struct reel_channel *c, char out[SCHEMA_SOURCE_ROOM]) {
    enum { SMALL = 16 << 10 }; /* recorders that leave types out write short definitions; longer ones are not parsed */
    const struct reel_encoding *encoding = reel_encoding_of(c);
    const struct reel_schema *own = reel_channel_schema(c);
    const char *source = encoding && encoding->source && (!own || own->data.size <= SMALL) ? encoding->source(c) : NULL;
    const char *distribution = source && strcmp(source, "built-in") == 0 ? distribution_of(index) : NULL;
    if (source) {
        snprintf(out, SCHEMA_SOURCE_ROOM, "%s%s%s", source, distribution ? " " : "", distribution ? distribution : "");
    }
    return source ? out : NULL;
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
