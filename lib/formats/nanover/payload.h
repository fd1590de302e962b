/* Internals of both NanoVer encodings. A frame is {"frame":{key:value}}, a state
 * {"state":{"updates":{key:value},"removals":[key]}}. */
#ifndef REEL_FORMATS_NANOVER_PAYLOAD_H
#define REEL_FORMATS_NANOVER_PAYLOAD_H

#include "decode/encoding.h"
#include "formats/nanover/current_form.h"
#include "formats/nanover/legacy.h"
#include "formats/nanover/message.h"
#include "index/index.h"

extern const struct reel_encoding reel_encoding_nanover, reel_encoding_nanover_legacy;

/* --- keys.c: the keys that NanoVer knows, with their units; a message holds those that changed --- */
bool nanover_frame_fields(reel_field_visit visit, void *context);
bool nanover_state_fields(reel_field_visit visit, void *context);

/* --- state.c --- */

/* reel_encoding.state_at of both forms: frame and state as the first message of a run. */
bool nanover_state_at(struct reel_reader *reader, int64_t time_ns, const bool *wanted,
                      struct reel_initial_state *initial, struct reel_error *err);
/* Parameters and result of nanover_sum_at(): the sum of all messages with time < time_ns of the wanted channels. */
struct nanover_sum {
    bool frame, state; /* which of them to include */
    bool as_run;       /* The result begins a run: frame.index is 0, and frame and state are included if there are any.
                          Otherwise frame.index is       the sum of the frames, and what was requested is included even if
                          empty. */
    /* Loads a message in the current form, valid until the next call. */
    bool (*load)(void *context, struct reel_reader *reader, const struct reel_entry *entry, struct reel_bytes *out,
                 struct reel_error *err);
    /* For entries that are not of a NanoVer file: fills their extra columns as formats/nanover/message.h requires (the
     * keys may stay unknown), and messages that are not NanoVer's are skipped. Otherwise NULL. */
    bool (*read_entry)(void *context, struct reel_reader *reader, struct reel_entry *entry, struct reel_error *err);
    void *context;
    bool has_frame, has_state; /* result: at least one message had one */
    uint8_t *data;             /* result: MessagePack; the caller frees it, also after a failure */
    size_t size;
};
bool nanover_sum_at(struct nanover_sum *sum, struct reel_reader *reader, int64_t time_ns, const bool *wanted,
                    struct reel_error *err);

/* True when the recording has NanoVer messages, of the current or the older form, in any container format. */
bool nanover_is_there(const struct reel_index *index);
/* The sum of all frames (or states) with time < time_ns as one message: MessagePack, from malloc. */
bool nanover_moment(struct reel_reader *reader, int64_t time_ns, bool frame, uint8_t **data, size_t *size,
                    struct reel_error *err);

#endif
