/* Opens a stream for a writer: the requested view first, then the conversion of encodings, then the view that the
 * writer itself adds. */
#include "convert/writer.h"
#include "chunks/codec.h"
#include "decode/encoding.h"
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

struct reel_stream *reel_writer_stream(const struct reel_writer *writer, struct reel_recording *const *recordings,
                                       uint32_t n_recordings, const struct reel_selection *selection,
                                       struct reel_error *err) {
    struct reel_selection q = *selection;
    if (writer->needs & REEL_KEEPS_TOPICS) {
        q.prefixing = REEL_PREFIX_NEVER;
    }
    struct reel_stream *stream = reel_stream_open(recordings, n_recordings, &q, err);
    if (stream && q.view) {
        stream = q.view->open(stream, recordings, n_recordings, &q, err);
    }
    const char *encoding = q.encoding ? q.encoding : writer->encoding;
    if (stream && encoding && encoding[0]) {
        stream = convert_to(encoding, stream, err);
    }
    stream = stream && writer->view ? writer->view(stream, err) : stream;
    if (stream && (writer->needs & REEL_COMPRESSES)) {
        stream->view_version ^= codec_encode_version();
    }
    return stream;
}
