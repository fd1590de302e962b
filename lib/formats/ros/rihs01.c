/* See rihs01.h. The hash is that of a text in JSON. */
#include "formats/ros/rihs01.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/grow.h"

/* "pkg/msg/Type" */
static void ros_rihs01_put_name(struct grow *out, const char *name) {
    const char *slash = strrchr(name, '/');
    grow_put(out, name, slash ? (size_t)(slash - name) : 0);
    grow_text(out, slash ? "/msg/" : "msg/");
    grow_text(out, slash ? slash + 1 : name);
}

static unsigned id_of(const struct ros_definition_step *s) {
    static const uint8_t numbers[] = {
        [REEL_BOOL] = 15, [REEL_I8] = 2,  [REEL_U8] = 3,  [REEL_I16] = 4,  [REEL_U16] = 5, [REEL_I32] = 6,
        [REEL_U32] = 7,   [REEL_I64] = 8, [REEL_U64] = 9, [REEL_F32] = 10, [REEL_F64] = 11};
    unsigned id = strcmp(s->word, "byte") == 0     ? 16
                  : ros_definition_is_number(s)    ? numbers[s->kind]
                  : s->kind == ROS_VALUE_TEXT      ? (s->bound > 0 ? 21 : 17)
                  : s->kind == ROS_VALUE_WIDE_TEXT ? (s->bound > 0 ? 22 : 18)
                                                   : 1;
    bool bounded = s->many == ROS_LIST && s->count != UINT32_MAX;
    return id + (s->many == ROS_ARRAY ? 48 : bounded ? 96 : s->many == ROS_LIST ? 144 : 0);
}

static void ros_rihs01_put_field(struct grow *out, const struct ros_definition *def,
                                 const struct ros_definition_step *s) {
    char numbers[128];
    bool sized = s->many == ROS_ARRAY || (s->many == ROS_LIST && s->count != UINT32_MAX);
    grow_text(out, "{\"name\": \"");
    if (s->hidden) {
        grow_text(out, "structure_needs_at_least_one_member");
    } else {
        grow_put(out, s->key.data, s->key.size);
    }
    snprintf(numbers, sizeof numbers,
             "\", \"type\": {\"type_id\": %u, \"capacity\": %u, \"string_capacity\": %u, \"nested_type_name\": \"",
             id_of(s), sized ? s->count : 0, s->bound);
    grow_text(out, numbers);
    if (s->kind == ROS_VALUE_TYPE) {
        ros_rihs01_put_name(out, def->types[s->type].name);
    }
    grow_text(out, "\"}}");
}

static void ros_rihs01_put_type(struct grow *out, const struct ros_definition *def, uint32_t type) {
    const struct ros_definition_type *t = &def->types[type];
    grow_text(out, "{\"type_name\": \"");
    ros_rihs01_put_name(out, t->name);
    grow_text(out, "\", \"fields\": [");
    for (uint32_t i = 0; i < t->count; i++) {
        grow_text(out, i > 0 ? ", " : "");
        ros_rihs01_put_field(out, def, &def->steps[t->first + i]);
    }
    grow_text(out, "]}");
}

static void mark(const struct ros_definition *def, uint32_t type, bool *needed) {
    const struct ros_definition_type *t = &def->types[type];
    for (uint32_t i = 0; i < t->count; i++) {
        const struct ros_definition_step *s = &def->steps[t->first + i];
        if (s->kind == ROS_VALUE_TYPE && !needed[s->type]) {
            needed[s->type] = true;
            mark(def, s->type, needed);
        }
    }
}

const char *ros_rihs01(struct arena *arena, const struct ros_definition *def, struct reel_error *err) {
    AUTO_MEM bool *needed = calloc(def->n_types, sizeof *needed);
    struct grow text = {0};
    char hash[sizeof "RIHS01_" + SHA256_HEX] = "RIHS01_";
    const char *kept = NULL;
    if (needed) {
        mark(def, def->top, needed);
        grow_text(&text, "{\"type_description\": ");
        ros_rihs01_put_type(&text, def, def->top);
        grow_text(&text, ", \"referenced_type_descriptions\": [");
        bool first = true;
        for (size_t i = 0; i < def->n_types; i++) { /* "a/msg/B" sorts as "a/B" does */
            uint32_t type = def->by_name[i];
            if (needed[type]) {
                grow_text(&text, first ? "" : ", ");
                ros_rihs01_put_type(&text, def, type);
                first = false;
            }
        }
        grow_text(&text, "]}");
    }
    if (needed && !text.failed) {
        digest_hex(DIGEST_SHA256, bytes_of(text.data, text.size), hash + strlen(hash));
        kept = arena_text(arena, hash);
    }
    free(text.data);
    if (!kept) {
        reel_fail_memory(err);
    }
    return kept;
}
