/* Fuzzes views. Input: a recording of any format. Every view is read over all of it, over what follows its middle, and
 * again from a mark: nothing may crash, leak or hang. A payload has the size that its message names, also when it is
 * read out of turn, JSON of a view's own topics is JSON, and a stream that is taken up again goes on with the same
 * message. */
#include "fuzz_scan.h"

#include "convert/writer.h"
#include "decode/encoding.h"
#include "stream/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MESSAGES_MAX = 500, PAYLOAD_MAX = 1 << 20 };

static const struct reel_visitor_ops nothing;

static void check_json(const struct reel_channel *channel, struct reel_bytes all) {
    AUTO_EXACT struct reel_bytes payload = exact_copy(all);
    struct reel_error err = {0};
    struct reel_visitor visitor = {.ops = &nothing};
    AUTO(reel_decoder_free) struct reel_decoder *decoder = reel_decoder_open(channel, &err);
    fuzz_expect(decoder != NULL, "open the decoder of a view's topic", &err);
    fuzz_expect(reel_decode(decoder, payload, &visitor, &err), "JSON of a view", &err);
}

/* `own`: the first channel that the recording does not have itself. */
static void check_message(struct reel_stream *stream, const struct reel_message *m, uint32_t own) {
    struct reel_error err = {0};
    struct reel_bytes payload;
    fuzz_expect(m->channel < stream->n_channels, "a channel of the stream", &err);
    if (m->size > PAYLOAD_MAX || !reel_stream_payload(stream, m, &payload, &err)) {
        fuzz_expect(m->size > PAYLOAD_MAX || err.code != REEL_CHANGED, "a payload of a view", &err);
        return;
    }
    fuzz_expect(payload.size == m->size, "a payload of the size that its message names", &err);
    const struct reel_channel *channel = stream->channels[m->channel];
    if (m->channel >= own && strcmp(channel->encoding, "json") == 0) {
        check_json(channel, payload);
    }
}

/* Takes the stream up at a message that it has already given, and reads that message's payload out of turn. */
static void check_again(struct reel_stream *stream, const struct reel_message *then, uint32_t own) {
    struct reel_error err = {0};
    struct reel_position mark = reel_position_of(then);
    struct reel_message m;
    check_message(stream, then, own);
    fuzz_expect(stream_seek(stream, &mark, &err), "seek", &err);
    fuzz_expect(stream_next(stream, &m, &err) == REEL_STEP_MESSAGE, "the message at a mark", &err);
    fuzz_expect(m.time_ns == then->time_ns && m.channel == then->channel && m.size == then->size &&
                    m.again == then->again,
                "the same message at a mark", &err);
    check_message(stream, &m, own);
}

static uint32_t channels_without_view(struct reel_recording *recording, struct reel_selection selection) {
    struct reel_error err = {0};
    selection.view = NULL;
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, &selection, &err);
    return stream ? stream->n_channels : UINT32_MAX;
}

static void read_view(struct reel_recording *recording, const struct reel_selection *selection) {
    struct reel_error err = {0};
    uint32_t own = channels_without_view(recording, *selection);
    const struct reel_writer *writer = reel_writer_named(".ndjson", NULL, &err); /* which changes nothing itself */
    AUTO(reel_stream_free) struct reel_stream *stream = reel_writer_stream(writer, &recording, 1, selection, &err);
    if (!stream) {
        fuzz_expect(err.code != REEL_OK, "a view that does not open says why", &err);
        return;
    }
    struct reel_message m, then = {0};
    enum reel_step step = REEL_STEP_END;
    int64_t last = INT64_MIN;
    unsigned n = 0;
    for (; n < MESSAGES_MAX && (step = stream_next(stream, &m, &err)) == REEL_STEP_MESSAGE; n++) {
        struct reel_description description;
        fuzz_expect(m.time_ns >= last || m.before_start, "messages in order of time", &err);
        last = m.time_ns;
        check_message(stream, &m, own);
        stream_describe(stream, &m, &description, &err);
        if (n % 7 == 3) {
            then = m;
        }
    }
    if (step != REEL_STEP_ERROR && n > 3) {
        check_again(stream, &then, own);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(reel_recording_free) struct reel_recording *recording = fuzz_open(bytes_of(data, size), NULL);
    if (!recording) {
        return 0;
    }
    enum { OF = 16 };
    struct fuzz_turns turns = fuzz_turns_of(bytes_of(data, size));
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    for (size_t i = 0; reel_views[i]; i++) {
        struct reel_selection q = selection_all;
        q.view = reel_views[i];
        if (fuzz_turn(&turns, OF)) {
            read_view(recording, &q);
        }
        q.start_ns = info->start_ns / 2 + info->end_ns / 2;
        q.state_at_cut = q.last_per_topic = true;
        if (fuzz_turn(&turns, OF)) {
            read_view(recording, &q);
        }
    }
    return 0;
}
