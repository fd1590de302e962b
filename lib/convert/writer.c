/* Opens streams for a writer: through the requested view first, then the conversion of encodings, then the view that
 * the writer itself adds. */
#include "convert/writer.h"
#include "base/cleanup.h"
#include "chunks/codec.h"
#include "decode/encoding.h"
#include "stream/selection.h"
#include "stream/view.h"

static struct reel_stream *convert_to(const char *name, struct reel_stream *stream, struct reel_error *err) {
    for (size_t i = 0; reel_encodings[i]; i++) {
        if (strcmp(reel_encodings[i]->name, name) == 0 && reel_encodings[i]->convert) {
            return reel_encodings[i]->convert(stream, err);
        }
    }
    reel_stream_free(stream);
    reel_fail(err, REEL_ARGUMENT, "messages are not converted to the encoding \"%.32s\"", name);
    return NULL;
}

struct opened_selection *writer_selection(const struct reel_writer *writer, struct reel_recording *const *recordings,
                                          uint32_t n, const struct reel_selection *selection, struct reel_error *err) {
    struct reel_selection q = *selection;
    if (writer->needs & REEL_KEEPS_TOPICS) {
        q.prefixing = REEL_PREFIX_NEVER;
    }
    return selection_open(recordings, n, &q, err);
}

struct reel_stream *writer_stream(const struct reel_writer *writer, struct opened_selection *o, bool with_initial_state,
                                  struct reel_error *err) {
    const struct reel_selection *q = &o->selection;
    struct reel_stream *stream = selection_stream(o, with_initial_state, err);
    if (stream && q->view) {
        stream = q->view->open(stream, o->recordings, o->n_recordings, q, err);
    }
    const char *encoding = q->encoding ? q->encoding : writer->encoding;
    if (stream && encoding && encoding[0]) {
        stream = convert_to(encoding, stream, err);
    }
    stream = stream && writer->view ? writer->view(stream, err) : stream;
    if (stream && (writer->needs & REEL_COMPRESSES)) {
        stream->view_version ^= codec_encode_version();
    }
    return stream;
}

struct reel_stream *reel_writer_stream(const struct reel_writer *writer, struct reel_recording *const *recordings,
                                       uint32_t n_recordings, const struct reel_selection *selection,
                                       struct reel_error *err) {
    AUTO(selection_free)
    struct opened_selection *o = writer_selection(writer, recordings, n_recordings, selection, err);
    return o && selection_make_initial_state(o, selection->initial, err) ? writer_stream(writer, o, true, err) : NULL;
}
