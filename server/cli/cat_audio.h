/* `reel cat --output wav`: the samples of a topic of audio as a WAV file. */
#ifndef SERVER_CLI_CAT_AUDIO_H
#define SERVER_CLI_CAT_AUDIO_H

#include "base/output_file.h"
#include "stream/stream.h"

/* Messages with samples in `data` and their form beside it: foxglove.RawAudio, rst.audition.SoundChunk of RSB and
 * others whose fields have these names. `limit` 0: all. REEL_UNSUPPORTED: messages of another kind, or whose form
 * changes. */
bool cat_audio(struct reel_stream *stream, uint64_t limit, struct output_file *out, struct reel_error *err);

#endif
