/* Archives with a member for each message: a ZIP file, members stored, named by topic and time. What a member contains
 * is known only when it is made, so each message is a packed group; its note is the member's checksum and size. */
#ifndef REEL_MEDIA_MEMBERS_H
#define REEL_MEDIA_MEMBERS_H

#include "convert/writer.h"
#include "tables/rows.h"

struct member {
    struct reel_bytes data;
    const char *extension;
    uint8_t *own; /* freed after use; NULL: data is in the payload */
};

/* Makes a member of a payload; decoder may be NULL. False with REEL_UNSUPPORTED, REEL_DAMAGED or REEL_LIMIT: the
 * payload itself becomes the member, with the extension ".bin". */
typedef bool member_make(const struct reel_decoder *decoder, struct reel_bytes payload, struct member *member,
                         struct reel_error *err);

struct members_totals {
    bool numbered; /* several messages have one time: all names end with the number of the message */
};
struct members_run {
    struct rows rows;
};

bool members_open(struct reel_write *w, struct reel_error *err);
void members_close(struct reel_write *w);
bool members_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err);
/* messages() */
bool members_put(struct reel_write *w, member_make *make, struct reel_sink *out, struct reel_error *err);
uint64_t members_tail_parts(struct reel_write *w);
bool members_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err);

/* Whether the last part of the channel's type ("sensor_msgs/msg/Image", "foxglove.RawImage") is one of the names; else
 * it is refused. */
bool members_accept(const struct reel_channel *channel, const char *const *types, const char *what,
                    struct reel_loss *loss);

/* points.c: a point cloud as a PLY file. */
extern const char *const point_types[];
bool points_make(const struct reel_decoder *decoder, struct reel_bytes payload, struct member *member,
                 struct reel_error *err);

#endif
