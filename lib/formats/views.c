/* The views, what viewers draw of each subject, and the rules at a cut: a new one of either is one line here. */
#include "formats/foxglove/view.h"
#include "media/video.h"

extern const struct view_transform view_carla, view_nanover, view_cloud;

const struct reel_view *const reel_views[] = {&reel_view_foxglove, NULL};
const struct view_transform *const view_transforms[] = {&view_carla, &view_nanover, &view_cloud, NULL};
const struct reel_cut_rule *const reel_cut_rules[] = {&reel_cut_rule_video, NULL};
