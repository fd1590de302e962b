/* Rules by which types of messages change: a type gets another name, fields are renamed, removed, added, or become
 * larger numbers. Payloads of ROS 1 and of ROS 2 (plain CDR) are laid out anew. */
#ifndef REEL_FORMATS_ROS_RULES_H
#define REEL_FORMATS_ROS_RULES_H

#include "formats/ros/translate.h"
#include "stream/rules.h"

struct ros_field_rule {
    const char *name;
    const char *to;   /* its new name; NULL: stays */
    const char *type; /* its new type, a number: "float64"; NULL: stays */
    bool is_removed;
};
struct ros_added_field { /* at the end of the type */
    const char *type;    /* "float64[3]", "std_msgs/Header", "string" */
    const char *name;
    const char *value; /* of a number, bool or text; NULL: 0, false, empty */
};
struct ros_type_rule {
    const char *type; /* "pkg/Type" */
    const char *to;   /* its new name; NULL: stays */
    const struct ros_field_rule *fields;
    size_t n_fields;
    const struct ros_added_field *added;
    size_t n_added;
};
struct ros_rules {          /* all of it is the caller's */
    struct reel_rules base; /* .open = ros_rules_open */
    const struct ros_type_rule *types;
    size_t n_types;
};

struct reel_stream *ros_rules_open(const struct reel_rules *rules, struct reel_stream *below, struct reel_error *err);

/* ---- for the files of this folder */

const struct ros_type_rule *ros_rule_of_type(const struct ros_rules *rules, const char *type); /* NULL: none */
const struct ros_field_rule *ros_rule_of_field(const struct ros_type_rule *rule, struct reel_bytes name); /* NULL: none,
                                                                                                             also of
                                                                                                             `rule` NULL
                                                                                                           */
/* Adds the texts of all types of t->def, as the rules have them, that of its top first. *any: a rule applies; used[i]:
 * that one does. */
bool ros_rules_texts(struct ros_translating *t, const struct ros_rules *rules, bool *used, bool *any);

#endif
