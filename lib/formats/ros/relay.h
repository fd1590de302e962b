/* Lays payloads of one definition out anew by another one: of ROS 1 as those of ROS 2 (CDR), or back. What belongs
 * together is found once, by the names of fields (names.h, standard.h), and compiled to a list of moves; a payload is
 * then copied in one pass. */
#ifndef REEL_FORMATS_ROS_RELAY_H
#define REEL_FORMATS_ROS_RELAY_H

#include "formats/ros/definition_tree.h"

struct ros_relay;

/* From the type `from_type` of one dialect to `to_type` of the other. REEL_UNSUPPORTED when the two do not fit: a field
 * is missing that has no default, or is of another kind. Keeps nothing of the definitions. */
struct ros_relay *ros_relay_new(const struct ros_definition *from, uint32_t from_type, const struct ros_definition *to,
                                uint32_t to_type, struct reel_error *err);
/* The relay that is this rewrite, which now belongs to it, also on failure. */
struct ros_rewrite;
struct ros_relay *ros_relay_of_rewrite(struct ros_rewrite *rewrite, struct reel_error *err);
/* Payloads that do not fit `relay` are laid out anew by `older`, which now belongs to it. */
void ros_relay_add_older(struct ros_relay *relay, struct ros_relay *older);
void ros_relay_free(struct ros_relay *relay);
REEL_DEFINE_AUTO(struct ros_relay, ros_relay_free);

/* The fields that the other layout has not: "std_msgs/Header.seq, …"; "" = none. */
const char *ros_relay_lost(const struct ros_relay *relay);

/* The size in the other layout of a payload of `payload_size` bytes, of which those in `begin` are at hand: the first,
 * or all. False: REEL_DAMAGED or REEL_LIMIT, it does not fit its definition; or *needs_more, the others decide its
 * size. */
bool ros_relay_size(const struct ros_relay *relay, struct reel_bytes begin, uint64_t payload_size, size_t *size,
                    bool *needs_more, struct reel_error *err);
/* The payload in the other layout, in at most `room` bytes; REEL_CHANGED when it needs more. */
bool ros_relay_put(const struct ros_relay *relay, struct reel_bytes payload, uint8_t *out, size_t room, size_t *size,
                   struct reel_error *err);

#endif
