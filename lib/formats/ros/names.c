/* See names.h. */
#include "formats/ros/names.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/hash_table.h"

static bool is_upper(uint8_t c) {
    return c >= 'A' && c <= 'Z';
}
static bool is_lower(uint8_t c) {
    return c >= 'a' && c <= 'z';
}
static bool is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}
static uint8_t to_lower(uint8_t c) {
    return is_upper(c) ? (uint8_t)(c + 32) : c;
}
static uint8_t to_upper(uint8_t c) {
    return is_lower(c) ? (uint8_t)(c - 32) : c;
}

const char *ros_short_name(struct arena *arena, const char *name, struct reel_error *err) {
    char brief[ROS_NAME_ROOM];
    if (!ros_type_name(bytes_text(name), false, brief)) {
        reel_fail(err, REEL_UNSUPPORTED, "\"%.128s\" is not the name of a type", name);
        return NULL;
    }
    const char *kept = arena_text(arena, brief);
    if (!kept) {
        reel_fail_memory(err);
    }
    return kept;
}

/* Writes `name` in one case, with single "_" and none at the ends, after `prefix` where no letter comes first. `room`
 * is ROS_NAME_ROOM at least. */
static size_t ros_names_put_name(struct reel_bytes name, uint8_t (*in_case)(uint8_t c), const char *prefix, char *out,
                                 size_t room) {
    size_t n = 0;
    for (size_t i = 0; i < name.size; i++) {
        uint8_t c = in_case(name.data[i]);
        if (n == 0 && c == '_') {
            continue;
        }
        if (n == 0 && is_digit(c)) {
            n = strlen(strcpy(out, prefix));
        }
        if (n + 1 < room && (c != '_' || out[n - 1] != '_')) {
            out[n++] = (char)c;
        }
    }
    while (n > 0 && out[n - 1] == '_') {
        n--;
    }
    out[n] = '\0';
    return n > 0 ? n : strlen(strcat(strcpy(out, prefix), "none"));
}

void ros2_constant_name(struct reel_bytes name, char *out, size_t room) {
    ros_names_put_name(name, to_upper, "C_", out, room);
}

/* "inner_t" → "InnerT". */
static void ros_names_put_type(const char *name, char *out) {
    size_t n = 0;
    bool first = true;
    for (const char *p = name; *p; p++) {
        if (*p == '_') {
            first = true;
            continue;
        }
        if (n == 0 && is_digit((uint8_t)*p)) {
            out[n++] = 'M';
        }
        out[n++] = first ? (char)to_upper((uint8_t)*p) : *p;
        first = false;
    }
    if (n == 0) {
        out[n++] = 'M';
    }
    out[n] = '\0';
}

const char *ros2_type_name(struct arena *arena, const char *name) {
    enum { ROOM = 2 * ROS_NAME_ROOM + 16 };
    char out[ROOM];
    const char *slash = strrchr(name, '/');
    struct reel_bytes package = bytes_of(name, slash ? (size_t)(slash - name) : 0);
    size_t n = slash ? ros_names_put_name(package, to_lower, "p_", out, ROS_NAME_ROOM + 8)
                     : (size_t)snprintf(out, ROOM, "ros1_compat");
    out[n++] = '/';
    ros_names_put_type(slash ? slash + 1 : name, out + n);
    return arena_text(arena, out);
}

/* Names that are taken are in the table with the last number that was tried for them. */
const char *ros_free_name(struct arena *arena, struct hash_table *taken, const char *base, const char *separator) {
    char name[3 * ROS_NAME_ROOM];
    uintptr_t number = hash_table_get(taken, hash_key_bytes(bytes_text(base)));
    snprintf(name, sizeof name, "%s", base);
    bool again = number > 0;
    while (again) {
        snprintf(name, sizeof name, "%s%s%u", base, separator, (unsigned)++number);
        again = hash_table_get(taken, hash_key_bytes(bytes_text(name))) > 0;
    }
    const char *kept = arena_text(arena, name);
    bool good = kept && hash_table_set(taken, hash_key_bytes(bytes_text(kept)), 1, NULL) &&
                (number == 0 || hash_table_set(taken, hash_key_bytes(bytes_text(base)), number, NULL));
    return good ? kept : NULL;
}

/* ---- fields */

const char *const *ros2_field_names(struct arena *arena, const struct ros_definition *def, uint32_t type) {
    const struct ros_definition_type *t = &def->types[type];
    const char **names = arena_alloc(arena, (t->count + 1) * sizeof *names);
    struct hash_table taken = {0};
    char name[ROS_NAME_ROOM + 8];
    bool good = names;
    for (int legal = 1; good && legal >= 0; legal--) {
        for (uint32_t i = 0; good && i < t->count; i++) {
            struct reel_bytes key = def->steps[t->first + i].key;
            ros_names_put_name(key, to_lower, "f_", name, sizeof name);
            if (!names[i] && (!legal || bytes_is(key, name))) {
                good = (names[i] = ros_free_name(arena, &taken, name, "_"));
            }
        }
    }
    hash_table_free(&taken);
    return good ? names : NULL;
}
