/* Whether a selection has any message, and what a topic that does not exist may have meant. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "base/suggest.h"
#include "read/reader.h"
#include "reel/model.h"
#include "stream/selection.h"

enum { CHANNELS_MAX = 10000 }; /* compared with a topic for similar names */

static bool is_name(const char *glob) {
    return glob[strcspn(glob, "*?")] == '\0';
}

/* False: a channel has this topic. */
static bool is_unknown(struct reel_recording *const *recordings, uint32_t n, const char *topic,
                       struct suggestions *suggestions) {
    for (uint32_t i = 0; i < n; i++) {
        const struct reel_index *index = reel_recording_index(recordings[i]);
        uint32_t n_channels = reel_index_info(index)->n_channels;
        for (uint32_t k = 0; k < n_channels; k++) {
            const struct reel_channel *channel = reel_index_channel(index, k);
            for (uint32_t t = 0; t < channel->n_topics; t++) {
                if (reel_topic_match(topic, channel->topics[t])) {
                    return false;
                }
                if (k < CHANNELS_MAX) {
                    suggest_add(suggestions, topic, channel->topics[t]);
                }
            }
        }
    }
    return true;
}

bool selection_matches(const struct opened_selection *o, struct reel_stream *stream, bool *any,
                       char why[REEL_MATCHES_TEXT], struct reel_error *err) {
    const struct reel_selection *q = &o->selection;
    struct reel_message m;
    char list[REEL_MATCHES_TEXT / 2];
    enum reel_step step = stream_next(stream, &m, err);
    *any = step != REEL_STEP_END;
    why[0] = '\0';
    if (step != REEL_STEP_END) {
        return step != REEL_STEP_ERROR;
    }
    snprintf(why, REEL_MATCHES_TEXT, "nothing is selected");
    for (uint32_t i = 0; i < q->n_topics; i++) {
        struct suggestions suggestions = {0};
        if (is_name(q->topics[i]) && is_unknown(o->recordings, o->n_recordings, q->topics[i], &suggestions)) {
            snprintf(why, REEL_MATCHES_TEXT, "there is no topic %.100s%s", q->topics[i],
                     suggest_text(&suggestions, "; similar ones are ", list, sizeof list));
            break;
        }
    }
    return true;
}

bool reel_selection_matches(struct reel_recording *const *recordings, uint32_t n, const struct reel_selection *given,
                            bool *any, char why[REEL_MATCHES_TEXT], struct reel_error *err) {
    struct reel_selection selection;
    *any = true;
    why[0] = '\0';
    if (!selection_read(&selection, given, err)) {
        return false;
    }
    AUTO(selection_free) struct opened_selection *o = selection_open(recordings, n, &selection, err);
    AUTO(reel_stream_free)
    struct reel_stream *stream =
        o && selection_make_initial_state(o, selection.initial, err) ? selection_stream(o, true, err) : NULL;
    return stream && selection_matches(o, stream, any, why, err);
}
