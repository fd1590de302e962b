/* Takes a definition that lists several types (formats/ros/text.h) apart, because a TYPE block holds one type. See
 * write.h. */
#include "formats/tide/write.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/ros/text.h"

enum state { NEW, OPEN, DONE };

struct splitting {
    struct arena *arena;
    struct tide_split *out;
    struct hash_table by_name; /* → section + 1 */
    size_t capacity;
    uint32_t *needs, *seen; /* of the current section; by section: the last one + 1 that needs it */
    enum state *states;
    uint32_t ordered;
    bool no_memory;
};

static struct reel_bytes without_blank_end(struct reel_bytes text) {
    while (text.size > 0 && (text.data[text.size - 1] == '\n' || ros_is_blank(text.data[text.size - 1]))) {
        text.size--;
    }
    return text;
}

/* Adds a section and its name. False: it has no name of a type, or there is no memory. */
static bool add_section(struct splitting *p, struct reel_bytes name, struct reel_bytes text) {
    char known[ROS_NAME_ROOM];
    size_t count = p->out->count;
    if (count == REEL_DEFINITION_TYPES_MAX || !ros_type_name(name, false, known)) {
        return false;
    }
    const char *kept = arena_text(p->arena, known);
    p->no_memory |= !kept || !GROW_ARRAY(p->out->sections, count, p->capacity);
    if (p->no_memory) {
        return false;
    }
    struct hash_key key = hash_key_bytes(bytes_text(kept));
    while (count > 0 && text.size > 0 && (text.data[0] == '\n' || ros_is_blank(text.data[0]))) {
        text = bytes_of(text.data + 1, text.size - 1);
    }
    p->out->sections[count] = (struct tide_section){.name = name, .text = without_blank_end(text)};
    p->out->count++;
    p->no_memory |= hash_table_get(&p->by_name, key) == 0 && !hash_table_set(&p->by_name, key, count + 1, NULL);
    return !p->no_memory;
}

/* Sets what stands between a section and the next one: the heading, and blank lines. It must be text, because it is
 * stored as JSON. */
static bool set_after(struct tide_split *out, struct reel_bytes data) {
    const uint8_t *end = data.data + data.size;
    for (uint32_t i = out->count; i-- > 0;) {
        struct tide_section *s = &out->sections[i];
        const uint8_t *begin = s->text.data + s->text.size;
        s->after = bytes_of(begin, (size_t)(end - begin));
        end = s->text.data;
        if (!tide_is_text(s->after)) {
            return false;
        }
    }
    return true;
}

static bool read_sections(struct splitting *p, const char *name, struct reel_bytes data) {
    struct ros_sections sections = {.rest = data, .heading = ros_heading(ROS_LANGUAGE_MSG)};
    struct ros_section section;
    for (bool first = true; ros_sections_next(&sections, &section); first = false) {
        bool heading_follows = first && !sections.ended && without_blank_end(section.text).size == 0;
        if (heading_follows || !add_section(p, first ? bytes_text(name) : section.name, section.text)) {
            return false;
        }
    }
    return set_after(p->out, data);
}

/* ---- which section needs which */

static uintptr_t tide_split_find(const struct splitting *p, const char *name) {
    return hash_table_get(&p->by_name, hash_key_bytes(bytes_text(name)));
}

/* The section + 1 that a field of `owner` names; 0: a number, a text, or a type that is missing. */
static uintptr_t tide_resolve(const struct splitting *p, const struct tide_section *owner, const char *name) {
    static const char *const headers[] = {"std_msgs/Header", "roslib/Header", "rostools/Header"};
    char path[2 * ROS_NAME_ROOM];
    if (strchr(name, '/') || !ros_type_name(owner->name, false, path) || !strchr(path, '/')) {
        return tide_split_find(p, name);
    }
    strcpy(strrchr(path, '/') + 1, name);
    uintptr_t found = tide_split_find(p, path);
    for (size_t i = 0; !found && i < sizeof headers / sizeof *headers && strcmp(name, "Header") == 0; i++) {
        found = tide_split_find(p, headers[i]);
    }
    return found ? found : tide_split_find(p, name);
}

static bool read_needs(struct splitting *p, uint32_t number) {
    struct tide_section *s = &p->out->sections[number];
    for (struct reel_bytes rest = s->text; rest.size > 0;) {
        struct reel_bytes line = ros_trim(ros_next_line(&rest));
        size_t size = 0;
        while (size < line.size && !ros_is_blank(line.data[size]) && !strchr("[<#", line.data[size])) {
            size++;
        }
        char name[ROS_NAME_ROOM];
        uintptr_t need = ros_type_name(bytes_of(line.data, size), false, name) ? tide_resolve(p, s, name) : 0;
        if (need > 0 && p->seen[need - 1] != number + 1) {
            p->seen[need - 1] = number + 1;
            p->needs[s->n_needs++] = (uint32_t)need - 1;
        }
    }
    s->needs = arena_copy(p->arena, p->needs, s->n_needs * sizeof *p->needs);
    p->no_memory |= s->n_needs > 0 && !s->needs;
    return !p->no_memory;
}

/* Orders sections so that each follows those it needs. False: one needs itself, or they nest too deep. */
static bool order(struct splitting *p, uint32_t number, unsigned level) {
    if (p->states[number] != NEW || level > REEL_DEPTH_MAX) {
        return p->states[number] == DONE;
    }
    p->states[number] = OPEN;
    const struct tide_section *s = &p->out->sections[number];
    for (uint32_t i = 0; i < s->n_needs; i++) {
        if (!order(p, s->needs[i], level + 1)) {
            return false;
        }
    }
    p->states[number] = DONE;
    p->out->order[p->ordered++] = number;
    return true;
}

static bool connect(struct splitting *p) {
    uint32_t n = p->out->count;
    p->needs = calloc((size_t)n + 1, sizeof *p->needs);
    p->seen = calloc((size_t)n + 1, sizeof *p->seen);
    p->states = calloc((size_t)n + 1, sizeof *p->states);
    p->out->order = arena_alloc(p->arena, ((size_t)n + 1) * sizeof *p->out->order);
    p->no_memory |= !p->needs || !p->seen || !p->states || !p->out->order;
    bool good = !p->no_memory;
    for (uint32_t i = 0; good && i < n; i++) {
        good = read_needs(p, i);
    }
    for (uint32_t i = 0; good && i < n; i++) {
        good = order(p, i, 1);
    }
    free(p->needs);
    free(p->seen);
    free(p->states);
    return good;
}

bool tide_split(struct arena *arena, const struct reel_channel *c, const struct reel_schema *s,
                struct tide_split *out) {
    struct splitting p = {.arena = arena, .out = out};
    *out = (struct tide_split){0};
    bool good = ros_language_of(c, s) == ROS_LANGUAGE_MSG && s->data.size > 0 &&
                read_sections(&p, s->name[0] ? s->name : c->type, s->data) && connect(&p);
    hash_table_free(&p.by_name);
    if (!good) {
        tide_split_free(out);
    }
    return !p.no_memory;
}

void tide_split_free(struct tide_split *split) {
    free(split->sections);
    *split = (struct tide_split){0};
}
