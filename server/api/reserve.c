/* See reserve.h. */
#include "api/reserve.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "base/limits.h"

/* Bytes for which memory is reserved, as measured. */
enum {
    REQUEST_MEMORY = 16 << 10,
    WALK_MEMORY = 40,        /* of a channel, to list them */
    STREAM_MEMORY = 2 << 20, /* buffers of a stream and of its response */
    CHANNEL_MEMORY = 350,    /* of a channel of a stream and its writer */
    SEGMENT_MEMORY = 100,    /* of an index segment of a stream */
    BLOCK_MEMORY = 8 << 20,  /* of a payload that is copied: at most this much is held at once */
    THREAD_MEMORY = 8 << 20, /* of a thread that renders ahead */
    CLIENT_ROOM = 192,
    DECODED_MEMORY = 4, /* times the size of a payload: its values or their text */
};

bool api_reserve_open(struct http_request *r, struct reel_recording *const *recordings, uint32_t n) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct reel_index_info *info = reel_index_info(reel_recording_index(recordings[i]));
        bytes += REQUEST_MEMORY + (uint64_t)info->n_channels * WALK_MEMORY +
                 (n > 1 ? reel_recording_index(recordings[i])->memory : 0);
    }
    return http_reserve(r, bytes);
}

static uint64_t stream_memory(struct reel_recording *const *recordings, uint32_t n, bool decodes) {
    uint64_t bytes = STREAM_MEMORY, payloads = 0, one = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct reel_index_info *info = reel_index_info(reel_recording_index(recordings[i]));
        uint64_t largest = info->largest_payload, most = decodes ? REEL_DECODED_MAX : BLOCK_MEMORY;
        largest = largest < most ? largest : most;
        bytes += info->n_channels * CHANNEL_MEMORY + info->messages / REEL_SEGMENT_ENTRIES * SEGMENT_MEMORY;
        payloads += largest;
        one = largest > one ? largest : one;
    }
    uint64_t held = REEL_STREAM_AWAKE * one; /* so many recordings of a stream hold payloads at a time */
    return bytes + (payloads < held ? payloads : held) * (decodes ? DECODED_MEMORY : 1);
}

bool api_reserve_stream(struct http_request *r, struct reel_recording *const *recordings, uint32_t n, bool decodes) {
    return http_reserve(r, stream_memory(recordings, n, decodes));
}

const char *api_principal(const struct http_request *r, char out[API_PRINCIPAL_TEXT]) {
    const struct http_caller *caller = http_caller(r);
    if (caller->token) {
        snprintf(out, API_PRINCIPAL_TEXT, "token:%" PRId64, caller->token);
    } else if (strcmp(caller->how, "proxy") == 0) {
        snprintf(out, API_PRINCIPAL_TEXT, "proxy:%.56s", caller->name);
    } else {
        snprintf(out, API_PRINCIPAL_TEXT, "%.63s", http_peer(r));
    }
    return out;
}

struct reel_conversion *api_conversion(struct http_request *r, const struct reel_writer *writer,
                                       struct reel_recording *const *recordings, uint32_t n,
                                       const struct reel_selection *selection, const struct reel_write_options *options,
                                       struct reel_error *err) {
    char client[CLIENT_ROOM];
    snprintf(client, sizeof client, "%.80s %.80s", http_peer(r), http_caller(r)->name);
    return reel_conversion_new(writer, recordings, n, selection, options, http_app(r)->threads, client, err);
}

bool api_reserve_threads(struct http_request *r, struct reel_conversion *c) {
    bool decodes = c->writer->needs & (REEL_STREAMED | REEL_DECODES),
         table = decodes && !(c->writer->needs & REEL_STREAMED);
    uint64_t each =
        stream_memory(c->recordings, c->n_recordings, decodes) + THREAD_MEMORY + (table ? 3 * REEL_ROW_GROUP_BYTES : 0);
    uint64_t most = http_app(r)->config.memory_bytes / (table ? 2 : 8) / each; /* others need memory, too */
    unsigned threads = reel_conversion_threads(c);
    c->max_threads = threads < most ? threads : most > 1 ? (unsigned)most : 1;
    return threads == 0 || c->max_threads == 1 || http_reserve(r, c->max_threads * each);
}
