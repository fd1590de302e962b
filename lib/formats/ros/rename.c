/* Rewrites old ROS definitions. Only type names change (in `MSG:` lines and as the first word of a field line), never
 * comments, field names or constants. */
#include "formats/ros/rename.h"
#include "base/bytes.h"

static const struct {
    const char *old, *later;
} renamed[] = {
    {"roslib/Header", "std_msgs/Header"},
    {"roslib/Log", "rosgraph_msgs/Log"},
    {"roslib/Clock", "rosgraph_msgs/Clock"},
};
enum { RENAMED = sizeof renamed / sizeof renamed[0] };

const char *ros_rename_type(const char *type) {
    for (size_t i = 0; i < RENAMED; i++) {
        if (strcmp(type, renamed[i].old) == 0) {
            return renamed[i].later;
        }
    }
    return type;
}

/* The output text; `at` NULL: only count. */
struct rewrite {
    uint8_t *at;
    size_t size;
    bool changed;
    bool in_roslib; /* the lines belong to a type of package roslib, so a bare `Log` means roslib/Log */
};

static void ros_rename_put(struct rewrite *r, const void *data, size_t size) {
    if (r->at && size > 0) {
        memcpy(r->at + r->size, data, size);
    }
    r->size += size;
}

/* A bare `Header` means std_msgs/Header to every reader, so only the other two need a package once they are no longer
 * in a roslib type. */
static const char *later_name(const struct rewrite *r, struct reel_bytes word) {
    for (size_t i = 0; i < RENAMED; i++) {
        bool bare = r->in_roslib && strcmp(renamed[i].old, "roslib/Header") != 0;
        if (bytes_is(word, renamed[i].old) || (bare && bytes_is(word, renamed[i].old + strlen("roslib/")))) {
            return renamed[i].later;
        }
    }
    return NULL;
}

static size_t ros_rename_skip_blanks(struct reel_bytes line, size_t i) {
    while (i < line.size && (line.data[i] == ' ' || line.data[i] == '\t')) {
        i++;
    }
    return i;
}

/* `line` without its newline. A type ends at a blank, at `[` of an array, or at the end of the line. */
static void rewrite_line(struct rewrite *r, struct reel_bytes line) {
    static const char msg[] = "MSG:";
    size_t start = ros_rename_skip_blanks(line, 0);
    bool heading = bytes_start(bytes_of(line.data + start, line.size - start), bytes_text(msg));
    if (heading) {
        start = ros_rename_skip_blanks(line, start + strlen(msg));
    }
    size_t end = start;
    while (end < line.size && !strchr(" \t\r[", line.data[end])) { /* strchr also finds NUL: the word ends there too */
        end++;
    }
    struct reel_bytes word = bytes_of(line.data + start, end - start);
    if (heading) {
        r->in_roslib = bytes_start(word, bytes_text("roslib/"));
    }
    const char *later = later_name(r, word);
    ros_rename_put(r, line.data, start);
    ros_rename_put(r, later ? later : (const char *)word.data, later ? strlen(later) : word.size);
    ros_rename_put(r, line.data + end, line.size - end);
    r->changed |= later != NULL;
}

static void rewrite_text(struct rewrite *r, const char *type, struct reel_bytes text) {
    r->in_roslib = bytes_start(bytes_text(type), bytes_text("roslib/"));
    for (size_t at = 0; at < text.size;) {
        const uint8_t *newline = memchr(text.data + at, '\n', text.size - at);
        size_t end = newline ? (size_t)(newline - text.data) : text.size;
        rewrite_line(r, bytes_of(text.data + at, end - at));
        ros_rename_put(r, "\n", newline ? 1 : 0);
        at = end + 1;
    }
}

/* Fast check: almost no definition needs a rewrite. */
static bool mentions_roslib(const char *type, struct reel_bytes text) {
    return strncmp(type, "roslib/", 7) == 0 || (text.size > 0 && memmem(text.data, text.size, "roslib/", 7));
}

bool ros_rename_changes(const char *type, struct reel_bytes text) {
    if (!mentions_roslib(type, text)) {
        return false;
    }
    struct rewrite r = {0};
    rewrite_text(&r, type, text);
    return r.changed;
}

bool ros_rename_definition(struct arena *arena, const char *type, struct reel_bytes text, struct reel_bytes *out,
                           struct reel_error *err) {
    *out = text;
    if (!mentions_roslib(type, text)) {
        return true;
    }
    struct rewrite count = {0};
    rewrite_text(&count, type, text);
    if (!count.changed) {
        return true;
    }
    struct rewrite r = {.at = arena_alloc(arena, count.size)};
    if (!r.at) {
        return reel_fail_memory(err);
    }
    rewrite_text(&r, type, text);
    *out = bytes_of(r.at, r.size);
    return true;
}
