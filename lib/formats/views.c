/* The views, what viewers draw of each subject, and the rules at a cut: a new one of either is one line here. */
#include "formats/foxglove/view.h"
#include "media/video.h"

#define VIEWS(X) X(foxglove)

#define TRANSFORMS(X)                                                                                                  \
    X(carla)                                                                                                           \
    X(nanover)                                                                                                         \
    X(cloud)                                                                                                           \
    X(rsb)

#define DECLARE_VIEW(name) extern const struct reel_view reel_view_##name;
#define DECLARE_TRANSFORM(name) extern const struct view_transform view_##name;
VIEWS(DECLARE_VIEW)
TRANSFORMS(DECLARE_TRANSFORM)

#define LIST_VIEW(name) &reel_view_##name,
#define LIST_TRANSFORM(name) &view_##name,
const struct reel_view *const reel_views[] = {VIEWS(LIST_VIEW) NULL};
const struct view_transform *const view_transforms[] = {TRANSFORMS(LIST_TRANSFORM) NULL};
const struct reel_cut_rule *const reel_cut_rules[] = {&reel_cut_rule_video, NULL};
