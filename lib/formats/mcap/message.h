/* Shared with formats that contain MCAP files. */
#ifndef REEL_FORMATS_MCAP_MESSAGE_H
#define REEL_FORMATS_MCAP_MESSAGE_H

#include "base/bytes.h"
#include "index/format.h"

enum {
    MCAP_SCAN_VERSION = 3,  /* of the MCAP scan; formats that use it include this in their own version */
    MCAP_MESSAGE_HEAD = 31, /* Message without its payload */
    MCAP_MESSAGE_CHANNEL_AT = 9,
    MCAP_MESSAGE_SEQUENCE_AT = 11,
    MCAP_MESSAGE_TIME_AT = 15,
    MCAP_MESSAGE_PUBLISH_AT = 23,
};

/* describe() of MCAP's messages. */
static inline void mcap_describe(struct reel_bytes head, const struct reel_entry *entry,
                                 const struct reel_channel *channel, struct reel_description *out) {
    (void)channel;
    (void)entry;
    if (head.size == MCAP_MESSAGE_HEAD) {
        uint64_t publish = load_u64le(head.data + MCAP_MESSAGE_PUBLISH_AT);
        out->sequence = load_u32le(head.data + MCAP_MESSAGE_SEQUENCE_AT);
        out->publish_ns = publish <= INT64_MAX ? (int64_t)publish : out->publish_ns;
    }
}

#endif
