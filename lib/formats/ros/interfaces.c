/* See interfaces.h. */
#include "formats/ros/interfaces.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/limits.h"

enum { SERVICE = 2, ACTION = 3, PARTS_MAX = ACTION };

struct writing {
    struct grow out;
    char top[ROS_NAME_ROOM];
    bool is_first; /* in this pass only `top` is written, in the next one all others */
    bool has_top;
    bool has_services, has_goals; /* their messages contain ServiceEventInfo, UUID */
};

static bool is_separator(struct reel_bytes line) {
    return bytes_is(line, "---");
}

static bool has_separator(struct reel_bytes text) {
    while (text.size > 0) {
        if (is_separator(ros_trim(ros_next_line(&text)))) {
            return true;
        }
    }
    return false;
}

/* Splits a section at its separators; more than PARTS_MAX: the number alone. */
static unsigned split(struct reel_bytes text, struct reel_bytes parts[PARTS_MAX]) {
    unsigned n = 0;
    const uint8_t *begin = text.data;
    for (struct reel_bytes rest = text; rest.size > 0;) {
        const uint8_t *line = rest.data;
        if (is_separator(ros_trim(ros_next_line(&rest)))) {
            if (n < PARTS_MAX) {
                parts[n] = bytes_of(begin, (size_t)(line - begin));
            }
            n++;
            begin = rest.data;
        }
    }
    if (n < PARTS_MAX) {
        parts[n] = bytes_of(begin, (size_t)(text.data + text.size - begin));
    }
    return n + 1;
}

static void put_message(struct writing *w, const char *name, struct reel_bytes text) {
    bool is_top = strcmp(name, w->top) == 0 && (w->is_first || w->has_top);
    if (is_top != w->is_first || (is_top && w->has_top)) {
        return;
    }
    w->has_top = w->has_top || is_top;
    if (!is_top) {
        grow_text(&w->out, "\n================================================================================\nMSG: ");
        grow_text(&w->out, name);
        grow_text(&w->out, "\n");
    }
    grow_put(&w->out, text.data, text.size);
}

/* The message `base` + `ending`; each @ in its text is `base`. */
static void put_derived(struct writing *w, const char *base, const char *ending, const char *pattern) {
    char name[3 * ROS_NAME_ROOM], text[5 * ROS_NAME_ROOM];
    size_t size = 0;
    snprintf(name, sizeof name, "%s%s", base, ending);
    for (const char *p = pattern; *p; p++) {
        bool is_base = *p == '@';
        size_t n = is_base ? strlen(base) : 1;
        memcpy(text + size, is_base ? base : p, n);
        size += n;
    }
    put_message(w, name, bytes_of(text, size));
}

static void put_part(struct writing *w, const char *base, const char *ending, struct reel_bytes text) {
    char name[3 * ROS_NAME_ROOM];
    snprintf(name, sizeof name, "%s%s", base, ending);
    put_message(w, name, text);
}

static void put_event(struct writing *w, const char *service) {
    put_derived(w, service, "_Event",
                "service_msgs/ServiceEventInfo info\n@_Request[<=1] request\n@_Response[<=1] response\n");
    w->has_services = true;
}

static void put_service(struct writing *w, const char *base, const struct reel_bytes *parts) {
    put_part(w, base, "_Request", parts[0]);
    put_part(w, base, "_Response", parts[1]);
    put_event(w, base);
}

static void put_action(struct writing *w, const char *base, const struct reel_bytes *parts) {
    char service[2 * ROS_NAME_ROOM];
    put_part(w, base, "_Goal", parts[0]);
    put_part(w, base, "_Result", parts[1]);
    put_part(w, base, "_Feedback", parts[2]);
    put_derived(w, base, "_FeedbackMessage", "unique_identifier_msgs/UUID goal_id\n@_Feedback feedback\n");
    put_derived(w, base, "_SendGoal_Request", "unique_identifier_msgs/UUID goal_id\n@_Goal goal\n");
    put_derived(w, base, "_SendGoal_Response", "bool accepted\nbuiltin_interfaces/Time stamp\n");
    put_derived(w, base, "_GetResult_Request", "unique_identifier_msgs/UUID goal_id\n");
    put_derived(w, base, "_GetResult_Response", "int8 status\n@_Result result\n");
    snprintf(service, sizeof service, "%s_SendGoal", base);
    put_event(w, service);
    snprintf(service, sizeof service, "%s_GetResult", base);
    put_event(w, service);
    w->has_goals = true;
}

static bool put_section(struct writing *w, const struct ros_section *s, const char *name, struct reel_error *err) {
    struct reel_bytes parts[PARTS_MAX];
    char base[ROS_NAME_ROOM];
    unsigned n = split(s->text, parts);
    if (n == 1) {
        put_message(w, name, s->text);
        return true;
    }
    if (n > PARTS_MAX) {
        return reel_fail(err, REEL_DAMAGED, "%.128s has %u parts: a service has 2, an action 3", name, n);
    }
    if (s->name.size > 0 || !ros_interface_name(name, base)) {
        memcpy(base, name, ROS_NAME_ROOM);
    }
    if (n == SERVICE) {
        put_service(w, base, parts);
    } else {
        put_action(w, base, parts);
    }
    return true;
}

static bool only_blanks(struct reel_bytes text) {
    while (text.size > 0) {
        if (ros_trim(ros_next_line(&text)).size > 0) {
            return false;
        }
    }
    return true;
}

static bool fits(const struct writing *w, struct reel_error *err) {
    return w->out.size <= 2 * REEL_SCHEMA_MAX || reel_fail(err, REEL_LIMIT, "a definition of %zu bytes", w->out.size);
}

static bool put_sections(struct writing *w, struct reel_bytes text, struct reel_error *err) {
    struct ros_sections sections = {.rest = text, .heading = ros_heading(ROS_LANGUAGE_MSG)};
    struct ros_section s;
    for (bool first = true; ros_sections_next(&sections, &s); first = false) {
        char name[ROS_NAME_ROOM];
        if (first && !sections.ended && only_blanks(s.text)) {
            continue; /* the heading of the first one follows */
        }
        if (!ros_type_name(first ? bytes_text(w->top) : s.name, false, name)) {
            return reel_fail(err, REEL_DAMAGED, "this is not the name of a type: %.*s",
                             (int)(s.name.size < 80 ? s.name.size : 80), (const char *)s.name.data);
        }
        if (!put_section(w, &s, name, err) || !fits(w, err)) {
            return false;
        }
    }
    return true;
}

/* After all others: of two types of one name the first counts. */
static void put_common(struct writing *w) {
    if (w->has_services) {
        put_message(w, "service_msgs/ServiceEventInfo",
                    bytes_text("uint8 event_type\nbuiltin_interfaces/Time stamp\nuint8[16] client_gid\nint64 "
                               "sequence_number\n"));
    }
    if (w->has_goals) {
        put_message(w, "unique_identifier_msgs/UUID", bytes_text("uint8[16] uuid\n"));
    }
}

bool ros_interfaces_to_messages(struct arena *arena, const char *top, struct reel_bytes text, struct reel_bytes *out,
                                struct reel_error *err) {
    struct writing w = {.is_first = true};
    *out = text;
    if (!has_separator(text)) {
        return true;
    }
    if (!ros_type_name(bytes_text(top), false, w.top)) {
        return reel_fail(err, REEL_UNSUPPORTED, "\"%.128s\" is not the name of a type", top);
    }
    bool good = put_sections(&w, text, err) &&
                (w.has_top || reel_fail(err, REEL_UNSUPPORTED, "the definition has no message %.128s", w.top));
    w.is_first = false;
    good = good && put_sections(&w, text, err);
    put_common(&w);
    good = good && fits(&w, err);
    const uint8_t *kept = good && !w.out.failed ? arena_copy(arena, w.out.data, w.out.size) : NULL;
    *out = bytes_of(kept, w.out.size);
    grow_done(&w.out);
    return kept || (good ? reel_fail_memory(err) : false);
}
