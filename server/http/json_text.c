/* See json_text.h. */
#include "http/json_text.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/shortest_number.h"

struct output {
    json_dump_callback_t put;
    void *context;
    unsigned indent, depth;
};

static bool json_text_put(const struct output *o, const char *text, size_t size) {
    return size == 0 || o->put(text, size, o->context) == 0;
}

static bool json_text_put_value(struct output *o, const json_t *value);

/* What stands before a member or an item, or before the closing bracket. */
static bool put_break(const struct output *o, bool comma) {
    if (comma && !json_text_put(o, ",", 1)) {
        return false;
    }
    bool good = o->indent == 0 || json_text_put(o, "\n", 1);
    for (unsigned i = 0; good && i < o->indent * o->depth; i++) {
        good = json_text_put(o, " ", 1);
    }
    return good;
}

static bool put_key(const struct output *o, const char *key, size_t size) {
    json_auto_t *text = json_stringn_nocheck(key, size);
    return text && json_dump_callback(text, o->put, o->context, JSON_ENCODE_ANY) == 0 &&
           json_text_put(o, ": ", o->indent > 0 ? 2 : 1);
}

static bool put_object(struct output *o, json_t *object) {
    const char *key;
    size_t size, n = 0;
    json_t *value;
    bool good = json_text_put(o, "{", 1);
    o->depth++;
    json_object_keylen_foreach(object, key, size, value) {
        good = good && put_break(o, n++ > 0) && put_key(o, key, size) && json_text_put_value(o, value);
    }
    o->depth--;
    return good && (n == 0 || put_break(o, false)) && json_text_put(o, "}", 1);
}

static bool put_array(struct output *o, json_t *array) {
    size_t i;
    json_t *value;
    bool good = json_text_put(o, "[", 1);
    o->depth++;
    json_array_foreach(array, i, value) {
        good = good && put_break(o, i > 0) && json_text_put_value(o, value);
    }
    o->depth--;
    return good && (json_array_size(array) == 0 || put_break(o, false)) && json_text_put(o, "]", 1);
}

static bool json_text_put_value(struct output *o, const json_t *value) {
    char text[SHORTEST_ROOM];
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return put_object(o, (json_t *)value);
    case JSON_ARRAY:
        return put_array(o, (json_t *)value);
    case JSON_REAL: /* finite: jansson holds no others */
        return json_text_put(o, text, shortest_double(json_real_value(value), text));
    default:
        return json_dump_callback(value, o->put, o->context, JSON_ENCODE_ANY) == 0;
    }
}

bool json_text_write(const json_t *value, unsigned indent, json_dump_callback_t to, void *context) {
    struct output o = {.put = to, .context = context, .indent = indent};
    return value && json_text_put_value(&o, value);
}

static int json_text_put_file(const char *text, size_t size, void *file) {
    return fwrite(text, 1, size, file) == size ? 0 : -1;
}

bool json_text_print(const json_t *value, unsigned indent, FILE *out) {
    return json_text_write(value, indent, json_text_put_file, out);
}

static int put_memory(const char *text, size_t size, void *memory) {
    struct grow *g = memory;
    grow_put(g, text, size);
    return g->failed ? -1 : 0;
}

char *json_text(const json_t *value) {
    struct grow g = {.data = NULL};
    if (json_text_write(value, 0, put_memory, &g)) {
        grow_u8(&g, '\0');
        if (!g.failed) {
            return (char *)g.data;
        }
    }
    free(g.data);
    return NULL;
}
