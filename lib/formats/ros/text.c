/* See text.h. */
#include "formats/ros/text.h"

#include "base/ascii.h"
#include "base/bytes.h"
#include "decode/encoding.h"

enum ros_language ros_language_of(const struct reel_channel *c, const struct reel_schema *s) {
    bool named = s->encoding[0] != '\0', ros = ascii_ncasecmp(s->encoding, "ros", 3) == 0,
         ros2 = ascii_ncasecmp(s->encoding, "ros2", 4) == 0 || strcmp(s->encoding, "unknown") == 0;
    if (reel_channel_has_profile(c, "ros1")) {
        return !named || (ros && !ros2) ? ROS_LANGUAGE_MSG : ROS_LANGUAGE_OTHER;
    }
    if (!reel_channel_has_profile(c, "ros2")) {
        return ROS_LANGUAGE_OTHER;
    }
    return ascii_contains(s->encoding, "idl") ? ROS_LANGUAGE_IDL
           : !named || ros2                   ? ROS_LANGUAGE_MSG
                                              : ROS_LANGUAGE_OTHER;
}

const char *ros_heading(enum ros_language language) {
    return language == ROS_LANGUAGE_IDL ? "IDL:" : "MSG:";
}

bool ros_is_defined(const struct reel_schema *s, const char *type) {
    static const char md5_of_nothing[] = "d41d8cd98f00b204e9800998ecf8427e";
    struct reel_bytes rest = s->data, line = ros_trim(ros_next_line(&rest));
    bool is_name = rest.size == 0 && line.size > 0 && bytes_is(line, type);
    return (s->data.size > 0 && !is_name) || strcmp(s->hash, md5_of_nothing) == 0 ||
           strcmp(type, "std_msgs/Empty") == 0 || strcmp(type, "std_msgs/msg/Empty") == 0;
}

/* ---- names */

bool ros_type_name(struct reel_bytes name, bool whole, char out[ROS_NAME_ROOM]) {
    size_t size = 0, first = 0, last = 0; /* end of the first component, and start of the last one */
    for (size_t i = 0; i < name.size; i++) {
        char c = (char)name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        bool colons = c == ':' && i + 1 < name.size && name.data[i + 1] == ':';
        if (!letter && !colons && c != '/') {
            return false;
        }
        i += colons;
        if (!letter && size == 0) {
            continue; /* absolute names "/a/B" and "::a::B" equal the relative ones */
        }
        if (size >= ROS_NAME_ROOM - 1) {
            return false;
        }
        if (!letter) {
            first = first ? first : size;
            last = size;
        }
        out[size++] = letter ? c : '/';
    }
    if (!whole && last > first) {
        memmove(out + first, out + last, size - last);
        size -= last - first;
    }
    out[size] = '\0';
    return size > 0 && out[size - 1] != '/';
}

bool ros_interface_name(const char *type, char out[ROS_NAME_ROOM]) {
    static const char *const endings[] = {"_SendGoal_Event",
                                          "_SendGoal_Request",
                                          "_SendGoal_Response",
                                          "_GetResult_Event",
                                          "_GetResult_Request",
                                          "_GetResult_Response",
                                          "_FeedbackMessage",
                                          "_Event",
                                          "_Request",
                                          "_Response",
                                          "_Goal",
                                          "_Result",
                                          "_Feedback"};
    size_t size = strlen(type);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i]);
        if (size > ending && size - ending < ROS_NAME_ROOM && strcmp(type + size - ending, endings[i]) == 0) {
            memcpy(out, type, size - ending);
            out[size - ending] = '\0';
            return true;
        }
    }
    return false;
}

/* ---- lines */

bool ros_is_blank(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

struct reel_bytes ros_trim(struct reel_bytes line) {
    while (line.size > 0 && ros_is_blank(line.data[0])) {
        line = bytes_of(line.data + 1, line.size - 1);
    }
    while (line.size > 0 && ros_is_blank(line.data[line.size - 1])) {
        line.size--;
    }
    return line;
}

struct reel_bytes ros_next_line(struct reel_bytes *text) {
    const uint8_t *newline = text->size > 0 ? memchr(text->data, '\n', text->size) : NULL;
    size_t size = newline ? (size_t)(newline - text->data) : text->size, step = size + (newline != NULL);
    struct reel_bytes line = bytes_of(text->data, size);
    *text = bytes_of(text->data + step, text->size - step);
    return line;
}

/* ---- sections */

/* The heading that the line begins with; NULL: none of this language. */
static const char *heading_of(struct reel_bytes line, bool is_idl) {
    static const char *const headings[] = {"MSG:", "SRV:", "ACTION:"};
    for (size_t i = 0; i < sizeof headings / sizeof *headings && !is_idl; i++) {
        if (bytes_start(line, bytes_text(headings[i]))) {
            return headings[i];
        }
    }
    const char *idl = ros_heading(ROS_LANGUAGE_IDL);
    return is_idl && bytes_start(line, bytes_text(idl)) ? idl : NULL;
}

/* After a line of "=": the heading, with only empty lines and comments before it. */
static bool read_heading(struct reel_bytes *rest, const char **heading, struct reel_bytes *name) {
    struct reel_bytes after = *rest;
    while (after.size > 0) {
        struct reel_bytes line = ros_trim(ros_next_line(&after));
        if (line.size == 0 || line.data[0] == '#') {
            continue;
        }
        const char *found = heading_of(line, strcmp(*heading, ros_heading(ROS_LANGUAGE_IDL)) == 0);
        if (!found) {
            return false;
        }
        *heading = found;
        *name = ros_trim(bytes_of(line.data + strlen(found), line.size - strlen(found)));
        *rest = after;
        return true;
    }
    return false;
}

bool ros_sections_next(struct ros_sections *s, struct ros_section *out) {
    if (s->ended) {
        return false;
    }
    *out = (struct ros_section){.heading = s->heading, .name = s->name, .text = s->rest};
    while (s->rest.size > 0) {
        size_t at = out->text.size - s->rest.size;
        struct reel_bytes line = ros_trim(ros_next_line(&s->rest));
        if (bytes_start(line, bytes_text("===")) && read_heading(&s->rest, &s->heading, &s->name)) {
            out->text.size = at;
            return true;
        }
    }
    s->ended = true;
    return true;
}
