/* See reserve.h. */
#include "api/reserve.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "base/cleanup.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "decode/encoding.h"

/* Bytes for which memory is reserved, as measured. */
enum {
    REQUEST_MEMORY = 16 << 10,
    WALK_MEMORY = 40,             /* of a channel, to list them */
    STREAM_MEMORY = 2 << 20,      /* buffers of a stream and of its response */
    CHANNEL_MEMORY = 350,         /* of a channel of a stream and its writer */
    DECODER_MEMORY = 6 << 10,     /* of the decoder of a definition … */
    DEFINITION_MEMORY = 16,       /* … and times the size of its text */
    ASSUMED_MEMORY = 40 << 10,    /* … and of a type that the recording does not define, or not whole */
    ASSUMED_BELOW = 512,          /* which is likely where the text is so short */
    TRANSLATION_MEMORY = 4 << 10, /* of a channel that is translated … */
    TRANSLATED_MEMORY = 6,        /* … and times the size of its definition */
    SEGMENT_MEMORY = 100,         /* of an index segment of a stream */
    IDLE_MEMORY = 256 << 10,      /* … while it waits for messages */
    BLOCK_MEMORY = 8 << 20,       /* of a payload that is copied: at most this much is held at once */
    THREAD_MEMORY = 8 << 20,      /* of a thread that renders ahead */
    DECODED_MEMORY = 4,           /* times the size of a payload: its values or their text */
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

/* Of what completes a definition. */
static uint64_t assumed_memory(const struct reel_channel *c) {
    const struct reel_encoding *encoding = reel_encoding_of(c);
    bool is_short = c->n_schemas == 0 || (c->n_schemas == 1 && c->schemas[0].data.size < ASSUMED_BELOW);
    return encoding && encoding->source && is_short ? ASSUMED_MEMORY : 0;
}

/* Of the decoders of all channels. Those of one definition share one (decode/decoder_set.h). */
static uint64_t decoders_memory(const struct reel_index *index) {
    AUTO_STRUCT(hash_table_free) struct hash_table known = {0};
    const uint32_t n = reel_index_info(index)->n_channels;
    const uint8_t *latest = NULL;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct reel_channel *c = reel_index_channel(index, i);
        const uint8_t *definition = c->n_schemas > 0 ? c->schemas[0].data.data : NULL;
        bool is_defined = c->n_schemas > 0 && c->schemas[0].data.size > 0;
        struct hash_key key = is_defined ? hash_key_number((uintptr_t)definition) : hash_key_bytes(bytes_text(c->type));
        if ((is_defined && definition == latest) || (c->n_schemas <= 1 && hash_table_get(&known, key) != 0)) {
            continue;
        }
        latest = definition;
        (void)hash_table_set(&known, key, 1, NULL); /* else it is counted again */
        bytes += DECODER_MEMORY + assumed_memory(c);
        for (uint32_t k = 0; k < c->n_schemas; k++) {
            bytes += c->schemas[k].data.size * DEFINITION_MEMORY;
        }
    }
    return bytes;
}

/* Of the channels that another encoding or a view makes of these. */
static uint64_t translation_memory(const struct reel_index *index) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels; i++) {
        const struct reel_channel *c = reel_index_channel(index, i);
        bytes += c->n_schemas > 0 ? TRANSLATION_MEMORY + c->schemas[0].data.size * TRANSLATED_MEMORY : 0;
    }
    return bytes;
}

/* Of the definitions of these, beyond that of the recording. */
static uint64_t definitions_memory(struct reel_recording *const *recordings, uint32_t n, unsigned use) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct reel_index *index = reel_recording_index(recordings[i]);
        bytes += use & API_DECODES ? decoders_memory(index) : 0;
        bytes += use & API_CONVERTS ? translation_memory(index) : 0;
    }
    return bytes;
}

unsigned api_stream_use(const struct reel_writer *writer, const struct reel_selection *selection) {
    const char *encoding = selection->encoding ? selection->encoding : writer->encoding;
    bool converts = selection->view || selection->rules || (encoding && encoding[0]);
    return converts ? API_CONVERTS | API_DECODES : writer->needs & (REEL_STREAMED | REEL_DECODES) ? API_DECODES : 0;
}

static uint64_t stream_memory(struct reel_recording *const *recordings, uint32_t n, unsigned use) {
    const bool decodes = use & API_DECODES;
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
    return bytes + definitions_memory(recordings, n, use) +
           (payloads < held ? payloads : held) * (decodes ? DECODED_MEMORY : 1);
}

uint64_t api_stream_memory(const struct reel_recording *recording) {
    return stream_memory((struct reel_recording *const[]){(struct reel_recording *)recording}, 1,
                         API_DECODES | API_CONVERTS);
}

uint64_t api_idle_memory(const struct reel_recording *recording, bool whole) {
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    uint64_t largest = info->largest_payload < REEL_DECODED_MAX ? info->largest_payload : REEL_DECODED_MAX;
    return whole ? stream_memory((struct reel_recording *const[]){(struct reel_recording *)recording}, 1, API_DECODES)
                 : STREAM_MEMORY - IDLE_MEMORY + largest * DECODED_MEMORY;
}

bool api_reserve_stream(struct http_request *r, struct reel_recording *const *recordings, uint32_t n, unsigned use,
                        uint64_t more) {
    uint64_t definitions = definitions_memory(recordings, n, use);
    if (definitions > http_memory_max(r)) {
        http_reply_problem(r, 413, "limit",
                           "the definitions of all channels take %llu MiB here, more than one response may hold "
                           "(--memory-mb); the file as it is needs no memory",
                           (unsigned long long)(definitions >> 20));
        return false;
    }
    return http_reserve(r, stream_memory(recordings, n, use) + more);
}

static bool take_room(void *server, uint64_t bytes, struct reel_error *err) {
    return http_server_hold(server, bytes, err);
}
static void give_room(void *server, uint64_t bytes) {
    http_server_give_back(server, bytes);
}

struct reel_conversion *api_conversion(struct http_request *r, const struct reel_writer *writer,
                                       struct reel_recording *const *recordings, uint32_t n,
                                       const struct reel_selection *selection, const struct reel_write_options *options,
                                       struct reel_error *err) {
    char client[HTTP_PRINCIPAL];
    struct reel_write_options counted = *options;
    counted.room = (struct reel_room){take_room, give_room, http_server_of(r)};
    return reel_conversion_new(writer, recordings, n, selection, &counted, http_app(r)->threads, http_client(r, client),
                               err);
}

void api_reserve_threads(struct http_request *r, struct reel_conversion *c) {
    bool table = (c->writer->needs & REEL_DECODES) && !(c->writer->needs & REEL_STREAMED);
    uint64_t each = stream_memory(c->recordings, c->n_recordings, api_stream_use(c->writer, &c->selection)) +
                    THREAD_MEMORY + (table ? 3 * REEL_ROW_GROUP_BYTES : 0);
    uint64_t most = http_app(r)->config.memory_bytes / (table ? 2 : 8) / each; /* others need memory, too */
    unsigned threads = reel_conversion_threads(c);
    if (threads == 0) {
        return;
    }
    threads = threads < most ? threads : (unsigned)most;
    while (threads > 1 && !http_reserve_now(r, threads * each)) {
        threads--;
    }
    c->max_threads = threads > 1 ? threads : 1;
}
