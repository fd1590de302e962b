/* What the files of both NanoVer encodings share: a frame is {"frame":{key:value}}, a state
 * {"state":{"updates":{key:value},"removals":[key]}}. */
#ifndef REEL_ENCODINGS_NANOVER_H
#define REEL_ENCODINGS_NANOVER_H

#include "reel/encoding.h"
#include "reel/index.h"
#include "wire/nanover.h"
#include "wire/nanover_legacy.h"
#include "wire/nanover_view.h"

extern const struct reel_encoding reel_encoding_nanover, reel_encoding_nanover_legacy;

/* --- keys.c: the keys that NanoVer knows, with their units; a message holds those that changed --- */
bool nanover_frame_fields(reel_field_visit visit, void *context);
bool nanover_state_fields(reel_field_visit visit, void *context);

/* --- state.c --- */

/* reel_encoding.state_at of both forms: frame and state as the first message of a run. */
bool nanover_state_at(struct reel_reader *reader, int64_t time_ns, const bool *wanted, struct reel_front *front, struct reel_error *err);
/* What all messages with time < time_ns of the wanted channels add up to. */
struct nanover_sum {
    bool frame, state; /* which is wanted */
    bool as_run; /* the message begins a run: frame.index is 0, and it holds frame and state as far as there are any. Else frame.index is
                  * what the frames add up to, and what is wanted stands there, if empty */
    /* A message as one of today, valid until the next call. */
    bool (*load)(void *context, struct reel_reader *reader, const struct reel_entry *entry, struct reel_bytes *out, struct reel_error *err);
    /* Where entries are not those of a NanoVer file: fills their extra columns by its contract (wire/nanover.h; nothing need be known of
     * the keys). Messages that are none of NanoVer's are skipped then. Else NULL. */
    bool (*read_entry)(void *context, struct reel_reader *reader, struct reel_entry *entry, struct reel_error *err);
    void *context;
    bool has_frame, has_state; /* result: any message had one */
    uint8_t *data;             /* result: MessagePack, the caller's to free; also after a failure */
    size_t size;
};
bool nanover_sum_at(struct nanover_sum *sum, struct reel_reader *reader, int64_t time_ns, const bool *wanted, struct reel_error *err);

/* Has the recording NanoVer messages, of today or of the older form, whatever file they came in? */
bool nanover_is_there(const struct reel_index *index);
/* The whole frame, or else the whole state, that those with time < time_ns add up to, as one message: MessagePack, from malloc. */
bool nanover_moment(struct reel_reader *reader, int64_t time_ns, bool frame, uint8_t **data, size_t *size, struct reel_error *err);

#endif
