/* Opens a stream for a writer: the requested view first, then the view that the writer itself adds. */
#include "core/codec.h"
#include "reel/view.h"
#include "reel/write.h"

struct reel_stream *reel_writer_stream(const struct reel_writer *writer, struct reel_recording *const *recordings, uint32_t n_recordings,
                                       const struct reel_selection *selection, struct reel_error *err) {
    struct reel_selection q = *selection;
    if (writer->needs & REEL_KEEPS_TOPICS) {
        q.prefixing = REEL_PREFIX_NEVER;
    }
    struct reel_stream *stream = reel_stream_open(recordings, n_recordings, &q, err);
    if (stream && q.view) {
        stream = q.view->open(stream, recordings, n_recordings, &q, err);
    }
    stream = stream && writer->view ? writer->view(stream, err) : stream;
    if (stream && (writer->needs & REEL_COMPRESSES)) {
        stream->view_version ^= codec_encode_version();
    }
    return stream;
}
