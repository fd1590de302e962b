/* The file of `reel convert --rules`: topics that are renamed, types that change (formats/ros/rules.h). */
#ifndef SERVER_CLI_CONVERT_RULES_H
#define SERVER_CLI_CONVERT_RULES_H

#include "base/options.h"
#include "formats/ros/rules.h"
#include "reel/cleanup.h"

struct convert_rules {
    struct ros_rules ros;
    const char *const *renames; /* "FROM:TO" */
    uint32_t n_renames;
    struct arena arena;
};
/* {"topics": {"/old": "/new"}, "types": {"pkg/Type": {"name": "pkg/New", "rename": {"a": "b"}, "remove": ["c"],
 *  "change": {"d": "float64"}, "add": [{"type": "string", "name": "frame", "value": "map"}]}}} NULL with err. */
struct convert_rules *convert_rules_read(const char *path, struct reel_error *err);
void convert_rules_free(struct convert_rules *rules); /* NULL is fine */
REEL_DEFINE_AUTO(struct convert_rules, convert_rules_free);

#endif
