/* Infos and parameters: metadata of the recording. Infos come first, because archives search only the first pairs. What
 * is not text becomes an attachment. */
#include "formats/ulog/container.h"

#include "base/bytes.h"
#include "base/cursor.h"
#include "base/shortest_number.h"

#include <stdio.h>

enum group { INFO, MULTI, PARAMETER, SYSTEM_DEFAULT, SETUP_DEFAULT, GROUPS };
static const char *const prefixes[GROUPS] = {"", "", "parameters.", "system_defaults.", "setup_defaults."};

bool ulog_fact_read(struct reel_bytes data, struct ulog_field *key, struct reel_bytes *value) {
    struct cursor c = cursor_of(data);
    struct reel_bytes text = cursor_bytes(&c, cursor_u8(&c));
    *value = bytes_of(c.at, cursor_left(&c));
    return !c.failed && ulog_field_read(text, key);
}

/* ---- collecting */

static bool keep(struct ulog *u, struct reel_bytes from, struct reel_bytes *to, struct reel_error *err) {
    const uint8_t *copy = arena_copy(&u->arena, from.data, from.size);
    *to = bytes_of(copy, from.size);
    return copy || arena_fail(&u->arena, err);
}

static bool is_binary(const struct ulog_fact *f) {
    return bytes_is(f->type, "uint8_t") || bytes_is(f->type, "int8_t") ? f->value.size > 1
                                                                       : ulog_type_size(f->type) == 0;
}

/* The place of a fact: that of the one before it with its key, unless each is kept. */
static struct ulog_fact *place_of(struct ulog *u, enum group group, struct reel_bytes key, bool continues,
                                  struct reel_error *err) {
    struct hash_key name = {.number = group, .bytes = key};
    uintptr_t before = hash_table_get(&u->fact_keys, name);
    if (before > 0 && group != MULTI) {
        return &u->facts[before - 1];
    }
    if (!GROW_ARRAY(u->facts, u->n_facts, u->cap_facts)) {
        reel_fail_memory(err);
        return NULL;
    }
    struct ulog_fact *f = &u->facts[u->n_facts];
    *f = (struct ulog_fact){.group = (uint8_t)group, .continues = continues && before > 0};
    if (before > 0) {
        f->key = u->facts[before - 1].key;
        u->facts[before - 1].next = f->continues ? (uint32_t)u->n_facts + 1 : 0;
    } else if (!keep(u, key, &f->key, err)) {
        return NULL;
    }
    name.bytes = f->key;
    return hash_table_set(&u->fact_keys, name, ++u->n_facts, err) ? f : NULL;
}

static bool add(struct ulog *u, const struct ulog_message *m, enum group group, bool continues, size_t skip,
                struct reel_error *err) {
    struct ulog_field key;
    struct reel_bytes value;
    if (!ulog_fact_read(bytes_of(m->data.data + skip, m->data.size - skip), &key, &value)) {
        return true;
    }
    if (u->n_facts == ULOG_METADATA_MAX) {
        ulog_count(&u->lost_facts, m->at);
        return true;
    }
    struct ulog_fact *f = place_of(u, group, key.name, continues, err);
    if (!f) {
        return false;
    }
    f->at = m->end - value.size;
    f->value = value;
    if (!keep(u, key.type, &f->type, err)) {
        return false;
    }
    return is_binary(f) || keep(u, value, &f->value, err);
}

bool ulog_fact_add(struct ulog *u, const struct ulog_message *m, struct reel_error *err) {
    uint8_t first = m->data.data[0];
    switch (m->type) {
    case 'I':
        return add(u, m, INFO, false, 0, err);
    case 'M':
        return add(u, m, MULTI, first & 1, 1, err);
    case 'P':
        return add(u, m, PARAMETER, false, 0, err);
    default:
        return (!(first & 1) || add(u, m, SYSTEM_DEFAULT, false, 1, err)) &&
               (!(first & 2) || add(u, m, SETUP_DEFAULT, false, 1, err));
    }
}

/* ---- as text */

static void put_real(struct grow *out, double value, bool single) {
    char text[SHORTEST_ROOM];
    size_t size = value - value != 0 ? general_double(value, text)
                  : single           ? shortest_float((float)value, text)
                                     : shortest_double(value, text);
    grow_put(out, text, size);
}

static void put_number(struct grow *out, struct reel_bytes type, const uint8_t *p) {
    char text[24] = "";
    uint32_t size = ulog_type_size(type);
    uint64_t v = 0;
    for (uint32_t i = 0; i < size; i++) {
        v |= (uint64_t)p[i] << 8 * i;
    }
    if (bytes_is(type, "float")) {
        put_real(out, (double)load_f32le(p), true);
    } else if (bytes_is(type, "double")) {
        put_real(out, load_f64le(p), false);
    } else if (type.data[0] == 'i') {
        snprintf(text, sizeof text, "%lld", (long long)(int64_t)(v << (64 - 8 * size)) >> (64 - 8 * size));
    } else {
        snprintf(text, sizeof text, "%llu", (unsigned long long)v);
    }
    grow_text(out, bytes_is(type, "bool") ? (v ? "true" : "false") : text);
}

/* 0x010e00ff: v1.14.0; the last byte says what kind of version it is. */
static void put_release(struct grow *out, uint32_t v) {
    static const struct {
        uint8_t from;
        const char *name;
    } kinds[] = {{255, ""}, {192, "-rc"}, {128, "-beta"}, {64, "-alpha"}, {0, "-dev"}};
    size_t kind = 0;
    while ((v & 255) < kinds[kind].from) {
        kind++;
    }
    char text[48];
    unsigned number = (v & 255) - kinds[kind].from;
    int n = snprintf(text, sizeof text, "v%u.%u.%u%s", v >> 24, v >> 16 & 255, v >> 8 & 255, kinds[kind].name);
    if (number > 0) {
        snprintf(text + n, sizeof text - (size_t)n, "%u", number);
    }
    grow_text(out, text);
}

/* ver_sw_release, sys_os_ver_release, ver_vendor_sw_release. */
static bool is_release(struct reel_bytes key) {
    static const char end[] = "_release";
    size_t size = sizeof end - 1;
    return key.size > size && bytes_is(bytes_of(key.data + key.size - size, size), end);
}

static void put_value(struct grow *out, const struct ulog_fact *f) {
    uint32_t size = ulog_type_size(f->type);
    if (bytes_is(f->type, "char")) {
        grow_put(out, f->value.data, f->value.size);
    } else if (bytes_is(f->type, "uint32_t") && f->value.size == 4 && is_release(f->key)) {
        put_release(out, load_u32le(f->value.data));
    } else {
        for (size_t i = 0; size > 0 && i < f->value.size / size; i++) {
            grow_text(out, i > 0 ? " " : "");
            put_number(out, f->type, f->value.data + i * size);
        }
    }
}

/* ---- reporting */

static bool attach(struct ulog *u, const struct ulog_fact *f, const char *key, unsigned piece, struct reel_error *err) {
    char name[300];
    bool one = piece == 0 && f->next == 0;
    snprintf(name, sizeof name, one ? "%s" : "%s.%u", key, piece);
    return reel_scan_attachment(u->scan,
                                &(struct reel_attachment){.name = name,
                                                          .media_type = "application/octet-stream",
                                                          .time_ns = u->has_utc ? u->utc_ns : 0,
                                                          .offset = f->at,
                                                          .size = f->value.size},
                                err);
}

static bool report(struct ulog *u, const struct ulog_fact *f, struct grow *text, struct reel_error *err) {
    char key[300];
    unsigned piece = 0;
    text->size = 0;
    snprintf(key, sizeof key, "%s%.*s", prefixes[f->group], (int)f->key.size, (const char *)f->key.data);
    for (; f && text->size<ULOG_INFO_BYTES_MAX; f = f->next> 0 ? &u->facts[f->next - 1] : NULL, piece++) {
        if (!is_binary(f)) {
            put_value(text, f);
        } else if (!attach(u, f, key, piece, err)) {
            return false;
        }
    }
    while (text->size > 0 && text->data[text->size - 1] == '\0') {
        text->size--;
    }
    if (text->failed) {
        return reel_fail_memory(err);
    }
    return text->size == 0 || reel_scan_metadata(u->scan, key, bytes_of(text->data, text->size), err);
}

bool ulog_report_facts(struct ulog *u, struct reel_error *err) {
    struct grow text = {0};
    bool good = true;
    for (enum group group = INFO; good && group < GROUPS; group++) {
        for (size_t i = 0; good && i < u->n_facts; i++) {
            const struct ulog_fact *f = &u->facts[i];
            good = f->group != group || f->continues || report(u, f, &text, err);
        }
    }
    free(text.data);
    return good;
}
