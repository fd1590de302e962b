/* The rules of a conversion as JSON: topics that are renamed, types that change (formats/ros/rules.h). */
#ifndef SERVER_DEFINITIONS_RULES_H
#define SERVER_DEFINITIONS_RULES_H

#include "base/options.h"
#include "formats/ros/rules.h"
#include "reel/cleanup.h"

struct message_rules {
    struct ros_rules ros;
    const char *text;           /* as it was given */
    const char *const *renames; /* "FROM:TO" */
    uint32_t n_renames;
    struct arena arena;
};
/* {"topics": {"/old": "/new"}, "types": {"pkg/Type": {"name": "pkg/New", "rename": {"a": "b"}, "remove": ["c"],
 *  "change": {"d": "float64"}, "add": [{"type": "string", "name": "frame", "value": "map"}]}}} NULL with err. */
struct message_rules *rules_load(const char *path, struct reel_error *err);
/* The same of a text. */
struct message_rules *rules_parse(const char *text, size_t size, struct reel_error *err);
void rules_free(struct message_rules *rules); /* gives one reference back (stream/rules.h); NULL is fine */
REEL_DEFINE_AUTO(struct message_rules, rules_free);
/* The renamed topics of a selection, and then those of the rules: *all is from malloc. */
bool rules_add_renames(const struct message_rules *rules, struct reel_selection *selection, const char ***all,
                       struct reel_error *err);

#endif
