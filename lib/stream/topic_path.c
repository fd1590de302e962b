/* A topic and the path of a field in its messages, written as one: "/topic.path". */
#include <string.h>

#include "read/reader.h"
#include "reel/values.h"

bool reel_series_split(const struct reel_recording *recording, const char *text, const char **topic, const char **path,
                       struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(recording);
    size_t best = 0;
    const char *bare = text + (text[0] == '/');
    *topic = NULL;
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels; i++) {
        const struct reel_channel *c = reel_index_channel(index, i);
        for (uint32_t t = 0; t < c->n_topics; t++) {
            const char *name = c->topics[t] + (c->topics[t][0] == '/');
            size_t size = strlen(name);
            if (size > best && strncmp(bare, name, size) == 0 && (bare[size] == '.' || bare[size] == '\0')) {
                best = size;
                *topic = c->topics[t];
            }
        }
    }
    if (!*topic) {
        return reel_fail(err, REEL_NOT_FOUND, "\"%.200s\" begins with no topic of this recording", text);
    }
    *path = bare + best + (bare[best] == '.');
    return true;
}
