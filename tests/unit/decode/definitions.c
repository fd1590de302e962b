/* Every walk over a definition ends within a number of visited parts, whatever types in types multiply to: a family of
 * definitions × each language × each walk. What is counted are visits, not time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/limits.h"
#include "decode/encoding.h"
#include "decode/fields.h"
#include "formats/ros/md5.h"
#include "formats/ros/standard.h"
#include "formats/ros/translate.h"
#include "makers/capnproto_maker.h"
#include "makers/flatbuffer_maker.h"
#include "syntax/visitor.h"
#include "tables/columns/tree.h"

enum { TYPES_MAX = 256, WIDE = 9000, NARROW = 900 };

/* ---- definitions: types that hold others, and numbers */

struct held {
    unsigned type;
    bool many;
};
struct family {
    const char *name;
    unsigned n;
    struct held held[TYPES_MAX][2];
    unsigned n_held[TYPES_MAX];
    unsigned numbers[TYPES_MAX];
    bool alike; /* names that ROS 2 writes in one way */
};

static void hold(struct family *f, unsigned owner, unsigned type, bool many) {
    f->held[owner][f->n_held[owner]++] = (struct held){type, many};
}

static void diamond(struct family *f, bool many) {
    f->n = 41;
    for (unsigned i = 0; i + 1 < f->n; i++) {
        hold(f, i, i + 1, many);
        hold(f, i, i + 1, false);
    }
}
static void twice(struct family *f) {
    diamond(f, false);
    f->numbers[40] = 1;
}
static void lists(struct family *f) {
    diamond(f, true);
    f->numbers[40] = 1;
}
static void nothing(struct family *f) {
    diamond(f, false);
}
static void wide_ends(struct family *f) {
    diamond(f, false);
    f->numbers[40] = NARROW;
}
/* Two types at each level, each of which holds both of the next. */
static void crossed(struct family *f) {
    f->n = 80;
    for (unsigned i = 0; i + 2 < f->n; i++) {
        hold(f, i, (i + 2) / 2 * 2, false);
        hold(f, i, (i + 2) / 2 * 2 + 1, false);
    }
    f->numbers[78] = f->numbers[79] = NARROW;
}
static void wide(struct family *f) {
    f->n = 1;
    f->numbers[0] = WIDE;
}
static void alike(struct family *f) {
    f->n = 1;
    f->numbers[0] = NARROW;
    f->alike = true;
}
static void chain(struct family *f, unsigned n) {
    f->n = n;
    for (unsigned i = 0; i + 1 < n; i++) {
        hold(f, i, i + 1, false);
    }
    f->numbers[n - 1] = 1;
}
static void deep(struct family *f) {
    chain(f, 60);
}
static void too_deep(struct family *f) {
    chain(f, 250);
}
static void itself(struct family *f) {
    f->n = 1;
    hold(f, 0, 0, false);
    hold(f, 0, 0, true);
}
static void each_other(struct family *f) {
    f->n = 2;
    for (unsigned i = 0; i < 4; i++) {
        hold(f, i / 2, i % 2, i % 2 > 0);
    }
}

static const struct {
    const char *name;
    void (*make)(struct family *f);
} families[] = {{"twice", twice},       {"lists", lists},   {"nothing", nothing},      {"wide ends", wide_ends},
                {"crossed", crossed},   {"wide", wide},     {"alike", alike},          {"deep", deep},
                {"too deep", too_deep}, {"itself", itself}, {"each other", each_other}};

/* ---- in a language */

/* "nNN", or the letters of the number in upper and lower case, which ROS 2 writes in one way. */
static void number_name(const struct family *f, unsigned i, char out[16]) {
    snprintf(out, 16, "n%u", i);
    for (unsigned bit = 0; f->alike && bit < 12; bit++) {
        out[bit] = i >> bit & 1 ? 'A' : 'a';
        out[bit + 1] = '\0';
    }
}

static void put_ros(const struct family *f, struct grow *out) {
    char line[96], name[16];
    for (unsigned i = 0; i < f->n; i++) {
        snprintf(line, sizeof line, "===\nMSG: p/T%u\n", i);
        grow_text(out, i > 0 ? line : "");
        for (unsigned k = 0; k < f->n_held[i]; k++) {
            snprintf(line, sizeof line, "p/T%u%s h%u\n", f->held[i][k].type, f->held[i][k].many ? "[]" : "", k);
            grow_text(out, line);
        }
        for (unsigned k = 0; k < f->numbers[i]; k++) {
            number_name(f, k, name);
            snprintf(line, sizeof line, "int32 %s\n", name);
            grow_text(out, line);
        }
    }
}

static void put_idl(const struct family *f, struct grow *out) {
    char line[96], name[16];
    for (unsigned i = 0; i < f->n; i++) {
        snprintf(line, sizeof line, "===\nIDL: p/msg/T%u\nmodule p { module msg { struct T%u {\n", i, i);
        grow_text(out, line);
        for (unsigned k = 0; k < f->n_held[i]; k++) {
            const struct held *h = &f->held[i][k];
            snprintf(line, sizeof line, h->many ? "sequence<p::msg::T%u> h%u;\n" : "p::msg::T%u h%u;\n", h->type, k);
            grow_text(out, line);
        }
        for (unsigned k = 0; k < f->numbers[i]; k++) {
            number_name(f, k, name);
            snprintf(line, sizeof line, "long %s;\n", name);
            grow_text(out, line);
        }
        grow_text(out, "}; }; };\n");
    }
}

/* What ROS has not: arrays of arrays, optional members, unions, types that extend others, parameters in any order. */
static void put_omg(const struct family *f, struct grow *out) {
    char line[160], name[16];
    grow_text(out, "module p {\n");
    for (unsigned i = 0; i < f->n; i++) {
        bool extends = i % 4 == 2 && f->n_held[i] > 0, is_union = i % 4 == 1 && f->n_held[i] > 0;
        snprintf(line, sizeof line,
                 extends     ? "struct T%u : T%u {\n"
                 : is_union  ? "union T%u switch (long) {\n"
                 : i % 4 > 0 ? "@mutable struct T%u {\n"
                             : "struct T%u {\n",
                 i, f->held[i][0].type);
        grow_text(out, line);
        for (unsigned k = extends; k < f->n_held[i]; k++) {
            const struct held *h = &f->held[i][k];
            snprintf(line, sizeof line, is_union ? "case %u:\n" : "@id(%u)\n", 10 * i + 9 - k);
            grow_text(out, line);
            snprintf(line, sizeof line,
                     h->many    ? "T%u h%u_%u[2][2];\n"
                     : is_union ? "T%u h%u_%u;\n"
                                : "@optional T%u h%u_%u;\n",
                     h->type, i, k);
            grow_text(out, line);
        }
        for (unsigned k = 0; k < f->numbers[i]; k++) {
            number_name(f, k, name);
            snprintf(line, sizeof line, "@id(%u) long %s;\n", 20000 - k, name);
            grow_text(out, line);
        }
        grow_text(out, "};\n");
    }
    grow_text(out, "};\n");
}

static void put_varint(struct grow *out, uint64_t v) {
    for (; v > 127; v >>= 7) {
        grow_u8(out, (uint8_t)(v | 128));
    }
    grow_u8(out, (uint8_t)v);
}
static void put_number(struct grow *out, unsigned field, uint64_t v) {
    put_varint(out, field << 3);
    put_varint(out, v);
}
static void put_part(struct grow *out, unsigned field, const void *data, size_t size) {
    put_varint(out, field << 3 | 2);
    put_varint(out, size);
    grow_put(out, data, size);
}
static void put_inner(struct grow *out, unsigned field, struct grow *inner) {
    put_part(out, field, inner->data, inner->size);
    free(inner->data);
}

/* FieldDescriptorProto: name, number, label, type, type_name. */
static void put_proto_field(struct grow *out, const char *name, unsigned number, bool many, const char *type) {
    struct grow field = {0};
    put_part(&field, 1, name, strlen(name));
    put_number(&field, 3, number);
    put_number(&field, 4, many ? 3 : 1);
    put_number(&field, 5, type ? 11 : 5);
    if (type) {
        put_part(&field, 6, type, strlen(type));
    }
    put_inner(out, 2, &field);
}

static void put_protobuf(const struct family *f, struct grow *out) {
    struct grow file = {0};
    char name[16], type[16];
    put_part(&file, 2, "p", 1);
    put_part(&file, 12, "proto3", 6);
    for (unsigned i = 0; i < f->n; i++) {
        struct grow message = {0};
        snprintf(name, sizeof name, "T%u", i);
        put_part(&message, 1, name, strlen(name));
        for (unsigned k = 0; k < f->n_held[i]; k++) {
            snprintf(name, sizeof name, "h%u", k);
            snprintf(type, sizeof type, ".p.T%u", f->held[i][k].type);
            put_proto_field(&message, name, k + 1, f->held[i][k].many, type);
        }
        for (unsigned k = 0; k < f->numbers[i]; k++) {
            number_name(f, k, name);
            put_proto_field(&message, name, k + 10, false, NULL);
        }
        put_inner(&file, 4, &message);
    }
    put_inner(out, 1, &file);
}

/* Two bytes of the vtable for each field: WIDE fields need 18,004. */
static void put_flatbuffer(const struct family *f, struct grow *out) {
    size_t objects = fbm_schema(out, f->n);
    struct fbm_member *members = calloc(WIDE + 2, sizeof *members);
    char(*names)[16] = calloc(WIDE + 2, sizeof *names);
    for (unsigned i = 0; i < f->n; i++) {
        unsigned n = 0;
        char type[16];
        for (unsigned k = 0; k < f->n_held[i]; k++, n++) {
            const struct held *h = &f->held[i][k];
            snprintf(names[n], sizeof names[n], "h%u", k);
            members[n] = (struct fbm_member){names[n], h->many ? 14 : 15, 15, 4 + 2 * n, (int)h->type};
        }
        for (unsigned k = 0; k < f->numbers[i]; k++, n++) {
            number_name(f, k, names[n]);
            members[n] = (struct fbm_member){names[n], 7, 0, 4 + 2 * n, -1};
        }
        snprintf(type, sizeof type, "p.T%u", i);
        fbm_object(out, type, members, n, 0, objects + (size_t)4 * i);
    }
    free(members);
    free(names);
}

static void put_capnproto(const struct family *f, struct grow *out) {
    size_t nodes = cpm_request(out, f->n);
    for (unsigned i = 0; i < f->n; i++) {
        char name[16], type[24];
        snprintf(type, sizeof type, "p.capnp:T%u", i);
        size_t field = cpm_node(out, nodes + (size_t)i * CPM_NODE, i + 1, type, f->n_held[i] + f->numbers[i]);
        for (unsigned k = 0; k < f->n_held[i]; k++, field += CPM_FIELD) {
            snprintf(name, sizeof name, "h%u", k);
            cpm_field(out, field, name, k, 16, f->held[i][k].many, f->held[i][k].type + 1);
        }
        for (unsigned k = 0; k < f->numbers[i]; k++, field += CPM_FIELD) {
            number_name(f, k, name);
            cpm_field(out, field, name, k, 4, 0, 0);
        }
    }
    cpm_end(out);
}

/* A JSON Schema has no names for types here: the first field of each type only, and no deeper than `left`. */
static void put_json_type(const struct family *f, struct grow *out, unsigned type, unsigned left) {
    char line[96], name[16];
    grow_text(out, "{\"type\":\"object\",\"properties\":{\"end\":{\"type\":\"integer\"}");
    if (f->n_held[type] > 0 && left > 0) {
        grow_text(out, ",\"h0\":");
        put_json_type(f, out, f->held[type][0].type, left - 1);
    }
    for (unsigned k = 0; k < f->numbers[type]; k++) {
        number_name(f, k, name);
        snprintf(line, sizeof line, ",\"%s\":{\"type\":\"integer\"}", name);
        grow_text(out, line);
    }
    grow_text(out, "}}");
}
static void put_json(const struct family *f, struct grow *out) {
    put_json_type(f, out, 0, 300);
}

static const struct language {
    const char *encoding, *schema, *type;
    void (*put)(const struct family *f, struct grow *out);
} languages[] = {{"ros1", "ros1msg", "p/T0", put_ros},
                 {"cdr", "ros2msg", "p/T0", put_ros},
                 {"cdr", "ros2idl", "p/msg/T0", put_idl},
                 {"protobuf", "protobuf", "p.T0", put_protobuf},
                 {"cdr", "omgidl", "p::T0", put_omg},
                 {"flatbuffer", "flatbuffer", "p.T0", put_flatbuffer},
                 {"capnproto", "capnproto", "p.capnp:T0", put_capnproto},
                 {"json", "jsonschema", "T0", put_json}};

/* ---- walks */

struct subject {
    const struct language *language;
    struct reel_schema schema;
    struct reel_channel channel;
    struct reel_decoder *decoder; /* NULL: it was refused, with words */
};

struct counting {
    uint64_t visits, most;
    enum reel_shape_next of_structs;
    bool first;
};

static bool count_field(void *context, const struct reel_field *field) {
    (void)field;
    return ++((struct counting *)context)->visits > 0;
}

static void walk_fields(const struct subject *s) {
    struct counting c = {0};
    (void)reel_decoder_fields(s->decoder, count_field, &c);
    assert_true(c.visits <= REEL_FIELD_VISITS_MAX);
}

static enum reel_shape_next count_part(void *context, const struct reel_shape *part) {
    struct counting *c = context;
    bool inner = c->visits++ > 0 && (part->kind == REEL_SHAPE_STRUCT || part->kind == REEL_SHAPE_LIST);
    return c->visits == c->most ? REEL_SHAPE_STOP : inner ? c->of_structs : REEL_SHAPE_ENTER;
}

static void walk_shape(const struct subject *s) {
    struct counting all = {.most = 100000, .of_structs = REEL_SHAPE_ENTER};
    bool whole = reel_decoder_shape(s->decoder, count_part, &all, NULL);
    assert_true(whole ? all.visits < all.most : all.visits == all.most);
    struct counting top = {.most = UINT64_MAX, .of_structs = REEL_SHAPE_SKIP};
    assert_true(reel_decoder_shape(s->decoder, count_part, &top, NULL));
    assert_true(top.visits <= WIDE + 4);
}

static void *take(void *arena, size_t size) {
    return arena_alloc(arena, size);
}

static void walk_columns(const struct subject *s) {
    struct arena arena = {0};
    struct columns columns;
    bool exact;
    assert_true(columns_init(&columns, take, &arena));
    columns_shape(&columns, s->decoder, &exact);
    assert_true(columns.created <= REEL_COLUMNS_MAX);
    assert_true(columns.parts <= 2 * REEL_COLUMNS_MAX + WIDE + 4);
    columns.rows = 1;
    assert_true(columns_settle(&columns, &(struct columns_fixed){0}));
    arena_free(&arena);
}

/* Every visit counts; nothing is made of the values. */
struct values {
    struct reel_visitor visitor;
    uint64_t visits;
};
static bool one(struct reel_visitor *v) {
    return ++((struct values *)v)->visits > 0;
}
static bool key(struct reel_visitor *v, struct reel_bytes name) {
    (void)name;
    return one(v);
}
static bool integer(struct reel_visitor *v, int64_t value) {
    (void)value;
    return one(v);
}
static const struct reel_visitor_ops value_ops = {
    .begin_map = one, .key = key, .end_map = one, .begin_list = one, .end_list = one, .integer = integer};

static void walk_payloads(const struct subject *s) {
    static uint8_t payload[64 << 10]; /* zeros behind a head of CDR, or its size before each object */
    static const size_t sizes[] = {0, 4, 4096, sizeof payload};
    static const uint8_t heads[] = {1, 3, 7, 9, 11};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t k = 0; k < 2 * sizeof heads; k++) {
            struct values v = {.visitor.ops = &value_ops};
            struct reel_error err = {0};
            memset(payload, k % 2 ? 1 : 0, sizeof payload);
            memcpy(payload, (const uint8_t[]){0, heads[k / 2], 0, 0}, 4);
            (void)reel_decode(s->decoder, bytes_of(payload, sizes[i]), &v.visitor, &err);
            assert_true(v.visits <= 64 * sizes[i] + 16 * REEL_DEFINITION_FIELDS_MAX);
        }
    }
}

static struct ros_definition *standard;

static bool translate(const struct subject *s, enum ros_dialect to, struct arena *arena) {
    struct reel_error err = {0};
    struct ros_translation out;
    bool good = ros_translate(arena, &s->channel, to, standard, &out, &err);
    if (good) {
        static const uint8_t zeros[4096] = {0, 1};
        size_t size;
        bool more;
        (void)ros_relay_size(out.relay, bytes_of(zeros, sizeof zeros), sizeof zeros, &size, &more, &err);
        ros_relay_free(out.relay);
    } else {
        assert_true(err.text[0] != '\0');
    }
    return good;
}

static void walk_ros(const struct subject *s) {
    bool ros1 = strcmp(s->language->encoding, "ros1") == 0;
    struct arena arena = {0};
    (void)translate(s, ros1 ? ROS_2 : ROS_1, &arena);
    if (ros1) {
        char md5[MD5_HEX];
        assert_true(ros_md5("p/T0", s->schema.data, md5, NULL));
    } else { /* a channel that was translated before brings the definition of ROS 1 along: here another family's */
        struct grow text = {0};
        struct family *other = calloc(1, sizeof *other);
        crossed(other);
        put_ros(other, &text);
        grow_u8(&text, 0);
        struct reel_pair pairs[] = {{ROS1_TYPE_KEY, "p/T0"}, {ROS1_DEFINITION_KEY, (const char *)text.data}};
        struct subject with = *s;
        with.channel.metadata = (struct reel_pairs){pairs, 2};
        (void)translate(&with, ROS_1, &arena);
        free(text.data);
        free(other);
    }
    arena_free(&arena);
}

/* A chain beyond the ceiling is refused, and in ROS a type that holds itself. */
static bool may_be_refused(const struct family *f, const struct language *language) {
    bool recursive = language->put == put_protobuf || language->put == put_flatbuffer || language->put == put_capnproto;
    return f->n > REEL_DEPTH_MAX || (f->n < 3 && f->n_held[0] > 0 && !recursive);
}

static void walk(const struct family *f, const struct language *language) {
    struct grow text = {0};
    language->put(f, &text);
    assert_false(text.failed);
    struct subject s = {.language = language};
    struct reel_error err = {0};
    s.schema = (struct reel_schema){.name = language->type,
                                    .encoding = language->schema,
                                    .hash = "",
                                    .data = bytes_of(text.data ? text.data : (const uint8_t *)"", text.size)};
    s.channel = (struct reel_channel){
        .name = "/a", .type = language->type, .encoding = language->encoding, .schemas = &s.schema, .n_schemas = 1};
    s.decoder = reel_decoder_open(&s.channel, &err);
    assert_true(s.decoder || may_be_refused(f, language));
    assert_true(s.decoder || err.code == REEL_LIMIT || err.code == REEL_DAMAGED);
    if (s.decoder) {
        walk_fields(&s);
        walk_shape(&s);
        walk_columns(&s);
        walk_payloads(&s);
        if (strcmp(language->encoding, "ros1") == 0 || strcmp(language->encoding, "cdr") == 0) {
            walk_ros(&s);
        }
    }
    reel_decoder_free(s.decoder);
    free(text.data);
}

static void every_walk_of_every_definition_ends(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        struct family *f = calloc(1, sizeof *f);
        families[i].make(f);
        for (size_t k = 0; k < sizeof languages / sizeof *languages; k++) {
            print_message("%s in %s\n", families[i].name, languages[k].schema);
            walk(f, &languages[k]);
        }
        free(f);
    }
}

/* The encodings that need no definition list the same fields for every channel. */
static void fields_without_a_definition_are_few(void **state) {
    (void)state;
    for (unsigned i = 0; reel_encodings[i]; i++) {
        struct reel_channel channel = {.name = "/a", .type = "a/b", .encoding = reel_encodings[i]->name};
        struct counting c = {0};
        struct reel_decoder *decoder = reel_decoder_open(&channel, NULL);
        if (decoder) {
            (void)reel_decoder_fields(decoder, count_field, &c);
            assert_true(c.visits <= 256);
        }
        reel_decoder_free(decoder);
    }
}

static int open_standard(void **state) {
    (void)state;
    struct reel_error err = {0};
    return (standard = ros2_standard_types(&err)) ? 0 : -1;
}
static int close_standard(void **state) {
    (void)state;
    ros_definition_free(standard);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_walk_of_every_definition_ends),
        cmocka_unit_test(fields_without_a_definition_are_few),
    };
    return cmocka_run_group_tests(tests, open_standard, close_standard);
}
