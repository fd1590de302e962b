/* See builtin.h. */
#include "formats/ros/builtin.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "formats/ros/definition_text.h"

static int compare_names(const void *name, const void *item) {
    return strcmp(name, ((const struct ros_standard_text *)item)->name);
}
static const char *find(const char *name, const struct ros_standard_text *texts, size_t n) {
    const struct ros_standard_text *found = bsearch(name, texts, n, sizeof *texts, compare_names);
    return found ? found->text : NULL;
}

static const char *ros2_text(enum ros_distribution distribution, const char *name) {
    for (size_t i = 0; i < ros2_older_texts_count; i++) {
        if (distribution >= ros2_older_texts[i].newest && strcmp(name, ros2_older_texts[i].name) == 0) {
            return ros2_older_texts[i].text;
        }
    }
    const char *standard = ros2_standard_text(name);
    return standard ? standard : find(name, ros2_more_texts, ros2_more_texts_count);
}

bool ros_builtin_varies(const char *name) {
    for (size_t i = 0; i < ros2_older_texts_count; i++) {
        if (strcmp(name, ros2_older_texts[i].name) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- ROS 1: the text of ROS 2 with other words */

static const char *ros1_word(struct reel_bytes base) {
    return bytes_is(base, "builtin_interfaces/Time")       ? "time"
           : bytes_is(base, "builtin_interfaces/Duration") ? "duration"
                                                           : NULL;
}

/* ROS 1 knows no bounds and no default values. */
static void put_ros1_line(struct grow *out, struct reel_bytes line) {
    struct ros_line l;
    if (!ros_line_read(line, &l)) {
        return;
    }
    size_t base = 0, bound;
    while (base < l.word.size && l.word.data[base] != '[' && l.word.data[base] != '<') {
        base++;
    }
    const char *word = ros1_word(bytes_of(l.word.data, base));
    struct reel_bytes rest = bytes_of(l.word.data + base, l.word.size - base);
    grow_put(out, word ? word : (const char *)l.word.data, word ? strlen(word) : base);
    for (bound = 0; bound < rest.size && rest.data[bound] != '<'; bound++) {
    }
    bool is_list = rest.size > 0 && rest.data[rest.size - 1] == ']';
    if (bound == rest.size) {
        grow_put(out, rest.data, rest.size);
    } else if (is_list) {
        grow_text(out, "[]");
    }
    grow_text(out, " ");
    grow_put(out, l.name.data, l.name.size);
    if (l.is_constant) {
        grow_text(out, "=");
        grow_put(out, l.value.data, l.value.size);
    }
    grow_text(out, "\n");
}

static const char *ros1_of_ros2(struct arena *arena, const char *text, struct reel_error *err) {
    struct grow out = {0};
    for (struct reel_bytes rest = bytes_text(text); rest.size > 0;) {
        put_ros1_line(&out, ros_next_line(&rest));
    }
    grow_u8(&out, '\0');
    const char *kept = out.failed ? NULL : arena_copy(arena, out.data, out.size);
    grow_done(&out);
    if (!kept) {
        reel_fail_memory(err);
    }
    return kept;
}

bool ros_builtin_text(struct arena *arena, enum ros_dialect dialect, enum ros_distribution distribution,
                      const char *name, const char **text, struct reel_error *err) {
    if (dialect == ROS_2) {
        *text = ros2_text(distribution, name);
        return true;
    }
    *text = ros1_standard_text(name);
    *text = *text ? *text : find(name, ros1_more_texts, ros1_more_texts_count);
    const char *ros2 = *text ? NULL : ros2_text(ROS_JAZZY, name);
    return !ros2 || (*text = ros1_of_ros2(arena, ros2, err));
}
