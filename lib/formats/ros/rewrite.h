/* Lays payloads out anew in the same dialect, by rules (rules.h): the fields of each type in their order without those
 * that are removed, then those that are added. */
#ifndef REEL_FORMATS_ROS_REWRITE_H
#define REEL_FORMATS_ROS_REWRITE_H

#include "formats/ros/rules.h"

struct ros_rewrite;
/* `from` and `to` are of one dialect; both now belong to it, also on failure. REEL_UNSUPPORTED: the rules ask for what
 * cannot be done. */
struct ros_rewrite *ros_rewrite_new(struct ros_definition *from, struct ros_definition *to,
                                    const struct ros_rules *rules, struct reel_error *err);
void ros_rewrite_free(struct ros_rewrite *rewrite); /* NULL is fine */
REEL_DEFINE_AUTO(struct ros_rewrite, ros_rewrite_free);
/* The payload in the new layout, in at most `room` bytes; `out` NULL: only its size. REEL_DAMAGED: it does not fit its
 * definition; REEL_CHANGED: it needs more. */
bool ros_rewrite_put(const struct ros_rewrite *rewrite, struct reel_bytes payload, uint8_t *out, size_t room,
                     size_t *size, struct reel_error *err);

#endif
