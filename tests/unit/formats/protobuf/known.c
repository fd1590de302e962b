/* The well-known types of google.protobuf, shown as ProtoJSON has them, and found by the paths of their fields, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/fields.h"
#include "makers/pb_definition.h"

static void add(struct pb *file, const struct pb *message) {
    pb_message(file, 4, message);
}

static void describe_json(struct pb *file) {
    struct pb object = named("Struct"), list = named("ListValue"), value = named("Value"), entry = named("FieldsEntry"),
              options = {0}, null = named("NullValue"), number = named("NULL_VALUE");
    static const struct {
        const char *name;
        enum pb_type type;
        const char *of;
    } kinds[] = {{"null_value", PB_ENUM, ".google.protobuf.NullValue"},
                 {"number_value", PB_DOUBLE, NULL},
                 {"string_value", PB_STRING, NULL},
                 {"bool_value", PB_BOOL, NULL},
                 {"struct_value", PB_MESSAGE, ".google.protobuf.Struct"},
                 {"list_value", PB_MESSAGE, ".google.protobuf.ListValue"}};
    for (uint32_t i = 0; i < 6; i++) {
        struct pb f = named(kinds[i].name);
        pb_number(&f, 3, i + 1);
        pb_number(&f, 5, kinds[i].type);
        if (kinds[i].of) {
            pb_text(&f, 6, kinds[i].of);
        }
        pb_number(&f, 9, 0);
        pb_message(&value, 2, &f);
    }
    describe(&entry, "key", 1, ONE, PB_STRING, NULL);
    describe(&entry, "value", 2, ONE, PB_MESSAGE, ".google.protobuf.Value");
    pb_number(&options, 7, 1);
    pb_message(&entry, 7, &options);
    describe(&object, "fields", 1, MANY, PB_MESSAGE, ".google.protobuf.Struct.FieldsEntry");
    pb_message(&object, 3, &entry);
    describe(&list, "values", 1, MANY, PB_MESSAGE, ".google.protobuf.Value");
    pb_number(&number, 2, 0);
    pb_message(&null, 2, &number);
    pb_message(file, 5, &null);
    add(file, &object);
    add(file, &list);
    add(file, &value);
}

static struct pb google(void) {
    struct pb file = {0}, time = named("Timestamp"), took = named("Duration"), mask = named("FieldMask"),
              any = named("Any");
    static const struct {
        const char *name;
        enum pb_type type;
    } wrappers[] = {
        {"DoubleValue", PB_DOUBLE}, {"Int64Value", PB_INT64}, {"StringValue", PB_STRING}, {"BytesValue", PB_BYTES}};
    pb_text(&file, 2, "google.protobuf");
    pb_text(&file, 12, "proto3");
    for (size_t i = 0; i < 4; i++) {
        struct pb m = named(wrappers[i].name);
        describe(&m, "value", 1, ONE, wrappers[i].type, NULL);
        add(&file, &m);
    }
    describe(&time, "seconds", 1, ONE, PB_INT64, NULL);
    describe(&time, "nanos", 2, ONE, PB_INT32, NULL);
    describe(&took, "seconds", 1, ONE, PB_INT64, NULL);
    describe(&took, "nanos", 2, ONE, PB_INT32, NULL);
    describe(&mask, "paths", 1, MANY, PB_STRING, NULL);
    describe(&any, "type_url", 1, ONE, PB_STRING, NULL);
    describe(&any, "value", 2, ONE, PB_BYTES, NULL);
    add(&file, &time);
    add(&file, &took);
    add(&file, &mask);
    add(&file, &any);
    describe_json(&file);
    return file;
}

/* M: a field of each, with presence. */
static struct pb known_set(void) {
    static const char *const types[] = {"DoubleValue", "Int64Value", "StringValue", "BytesValue",
                                        "Timestamp",   "Duration",   "FieldMask",   "Any",
                                        "Struct",      "ListValue",  "Value"};
    static const char *const names[] = {"d", "i", "s", "b", "at", "took", "mask", "any", "o", "l", "v"};
    struct pb m = named("M"), file = {0}, set = {0}, others = google();
    for (uint32_t i = 0; i < 11; i++) {
        char of[64];
        snprintf(of, sizeof of, ".google.protobuf.%s", types[i]);
        describe(&m, names[i], i + 1, ONE, PB_MESSAGE, of);
    }
    describe(&m, "ds", 12, MANY, PB_MESSAGE, ".google.protobuf.DoubleValue");
    pb_message(&file, 4, &m);
    pb_message(&set, 1, &file);
    pb_message(&set, 1, &others);
    return set;
}

static const char *decoded(const struct pb *payload) {
    struct pb set = known_set();
    return decode_by(&set, "M", payload);
}

static void put_entry(struct pb *object, const char *key, const struct pb *value) {
    struct pb entry = {0};
    pb_text(&entry, 1, key);
    pb_message(&entry, 2, value);
    pb_message(object, 1, &entry);
}
/* {"n": 1.5, "none": null, "in": {"t": "x"}, "list": [true, 2]} */
static struct pb json_object(void) {
    struct pb object = {0}, inner = {0}, list = {0}, n = {0}, none = {0}, text = {0}, in = {0}, yes = {0}, two = {0},
              of_list = {0};
    pb_double(&n, 2, 1.5);
    put_entry(&object, "n", &n);
    pb_number(&none, 1, 0);
    put_entry(&object, "none", &none);
    pb_text(&text, 3, "x");
    put_entry(&inner, "t", &text);
    pb_message(&in, 5, &inner);
    put_entry(&object, "in", &in);
    pb_number(&yes, 4, 1);
    pb_double(&two, 2, 2);
    pb_message(&list, 1, &yes);
    pb_message(&list, 1, &two);
    pb_message(&of_list, 6, &list);
    put_entry(&object, "list", &of_list);
    return object;
}
static struct pb payload(void) {
    struct pb p = {0}, d = {0}, object = json_object(), v = {0};
    pb_double(&d, 1, 2.5);
    pb_message(&p, 1, &d);
    pb_part(&p, 2, "", 0);
    pb_message(&p, 9, &object);
    pb_double(&v, 2, 4);
    pb_message(&p, 11, &v);
    pb_message(&p, 12, &d);
    pb_part(&p, 12, "", 0);
    return p;
}

static void wrappers_and_json_are_bare(void **state) {
    (void)state;
    struct pb p = payload();
    assert_string_equal(decoded(&p), "{\"d\":2.5,\"i\":0,\"o\":{\"n\":1.5,\"none\":null,\"in\":{\"t\":\"x\"},"
                                     "\"list\":[true,2]},\"v\":4,\"ds\":[2.5,0]}");
    p.size = 0;
    pb_part(&p, 3, "\x0a\x01x", 3);
    pb_part(&p, 4, "\x0a\x01x", 3);
    pb_part(&p, 9, "", 0);
    pb_part(&p, 10, "", 0);
    pb_part(&p, 11, "", 0);
    assert_string_equal(decoded(&p),
                        "{\"s\":\"x\",\"b\":{\"$base64\":\"eA==\"},\"o\":{},\"l\":[],\"v\":null,\"ds\":[]}");
}

static const char *time_text(unsigned field, int64_t seconds, int64_t ns) {
    struct pb p = {0}, time = {0};
    pb_number(&time, 1, (uint64_t)seconds);
    pb_number(&time, 2, (uint64_t)ns);
    pb_message(&p, field, &time);
    const char *text = decoded(&p);
    assert_memory_equal(text, field == 5 ? "{\"at\":" : "{\"took\":", field == 5 ? 6 : 8);
    return text + (field == 5 ? 6 : 8);
}

static void times_are_texts(void **state) {
    (void)state;
    assert_string_equal(time_text(5, 1700000000, 5), "\"2023-11-14T22:13:20.000000005Z\",\"ds\":[]}");
    assert_string_equal(time_text(5, 0, 20000000), "\"1970-01-01T00:00:00.020Z\",\"ds\":[]}");
    assert_string_equal(time_text(5, -1, 999999000), "\"1969-12-31T23:59:59.999999Z\",\"ds\":[]}");
    assert_string_equal(time_text(5, -62135596800, 0), "\"0001-01-01T00:00:00Z\",\"ds\":[]}");
    assert_string_equal(time_text(5, 253402300799, 0), "\"9999-12-31T23:59:59Z\",\"ds\":[]}");
    assert_string_equal(time_text(5, 253402300800, 0), "{\"sec\":253402300800,\"nsec\":0},\"ds\":[]}");
    assert_string_equal(time_text(5, 0, 1000000000), "{\"sec\":0,\"nsec\":1000000000},\"ds\":[]}");
    assert_string_equal(time_text(6, 3, 0), "\"3s\",\"ds\":[]}");
    assert_string_equal(time_text(6, -1, -500000000), "\"-1.500s\",\"ds\":[]}");
    assert_string_equal(time_text(6, 0, -1), "\"-0.000000001s\",\"ds\":[]}");
    assert_string_equal(time_text(6, 1, -1), "{\"sec\":1,\"nsec\":-1},\"ds\":[]}");
}

static void a_mask_is_one_text(void **state) {
    (void)state;
    struct pb p = {0}, mask = {0};
    pb_text(&mask, 1, "user.display_name");
    pb_text(&mask, 1, "photo_");
    pb_text(&mask, 1, "a_1");
    pb_message(&p, 7, &mask);
    pb_part(&p, 7, "", 0);
    assert_string_equal(decoded(&p), "{\"mask\":\"user.displayName,photo_,a_1\",\"ds\":[]}");
}

static void an_any_of_a_known_type_has_its_fields(void **state) {
    (void)state;
    struct pb p = {0}, any = {0}, d = {0}, inner = {0};
    pb_double(&d, 1, 2.5);
    pb_message(&inner, 1, &d);
    pb_text(&any, 1, "type.googleapis.com/M");
    pb_message(&any, 2, &inner);
    pb_message(&p, 8, &any);
    assert_string_equal(decoded(&p), "{\"any\":{\"@type\":\"type.googleapis.com/M\",\"d\":2.5,\"ds\":[]},\"ds\":[]}");
    p.size = any.size = 0;
    pb_text(&any, 1, "type.googleapis.com/google.protobuf.DoubleValue");
    pb_message(&any, 2, &d);
    pb_message(&p, 8, &any);
    assert_string_equal(
        decoded(&p),
        "{\"any\":{\"@type\":\"type.googleapis.com/google.protobuf.DoubleValue\",\"value\":2.5},\"ds\":[]}");
    p.size = any.size = 0;
    pb_text(&any, 1, "type.googleapis.com/who.Knows");
    pb_text(&any, 2, "x");
    pb_message(&p, 8, &any);
    assert_string_equal(
        decoded(&p),
        "{\"any\":{\"type_url\":\"type.googleapis.com/who.Knows\",\"value\":{\"$base64\":\"eA==\"}},\"ds\":[]}");
}

/* Each member of a oneof is searched for in the whole payload: what that may cost has a ceiling. */
static void a_value_of_many_kinds_has_a_ceiling(void **state) {
    (void)state;
    struct pb value = named("Value"), file = {0}, set = {0}, p = {0};
    for (uint32_t i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof name, "x%u", i);
        struct pb f = named(name);
        pb_number(&f, 3, i + 20);
        pb_number(&f, 5, PB_INT32);
        pb_number(&f, 9, 0);
        pb_message(&value, 2, &f);
    }
    pb_text(&file, 2, "google.protobuf");
    add(&file, &value);
    pb_message(&set, 1, &file);
    assert_string_equal(decode_by(&set, "google.protobuf.Value", &p), "null");
    for (int i = 0; i < 2000; i++) {
        pb_number(&p, 1, 0);
    }
    assert_memory_equal(decode_by(&set, "google.protobuf.Value", &p),
                        "error 4: 4000 bytes of protobuf in such disorder", 48);
}

/* ---- paths */

static struct reel_visitor *open_value(void *context, uint32_t column) {
    struct json_out *json = context;
    if (json->to->size > 0) {
        grow_u8(json->to, '|');
    }
    *json = json_out_to(json->to, 1 << 20);
    (void)column;
    return &json->visitor;
}
static bool close_value(void *context, uint32_t column) {
    (void)context;
    (void)column;
    return true;
}

/* The values at the paths, in the order of the payload. */
static const char *picked(const char *const *paths, uint32_t n) {
    static struct grow out;
    struct pb set = known_set(), p = payload();
    const struct reel_schema schema = {.name = "M", .encoding = "protobuf", .hash = "", .data = pb_bytes(&set)};
    const struct reel_channel channel = {
        .name = "/a", .type = "M", .encoding = "protobuf", .schemas = &schema, .n_schemas = 1};
    struct reel_error err = {0};
    struct reel_decoder *decoder = reel_decoder_open(&channel, &err);
    struct field_set *fields = field_set_new(paths, n, &err);
    struct json_out json = json_out_to(&out, 1 << 20);
    struct field_picker picker = {.set = fields, .open = open_value, .close = close_value, .context = &json};
    out.size = 0;
    field_picker_start(&picker);
    assert_true(reel_decode(decoder, pb_bytes(&p), &picker.visitor, &err) || picker.done);
    field_set_free(fields);
    reel_decoder_free(decoder);
    grow_put(&out, "", 1);
    return (const char *)out.data;
}
#define PICKED(...) picked((const char *const[]){__VA_ARGS__}, sizeof(const char *[]){__VA_ARGS__} / sizeof(char *))

static void values_have_two_paths(void **state) {
    (void)state;
    assert_string_equal(PICKED("d", "o.n", "o.in.t", "o.list[1]", "v", "ds[1]"), "2.5|1.5|\"x\"|2|4|0");
    assert_string_equal(PICKED("d.value", "o.fields.n.number_value", "o.fields.in.struct_value.fields.t.string_value",
                               "o.fields.list.list_value.values[1].number_value", "v.number_value", "ds[0].value"),
                        "2.5|1.5|\"x\"|2|4|2.5");
    assert_string_equal(PICKED("o.fields.in"), "{\"t\":\"x\"}");
    assert_string_equal(PICKED("d.other", "v.string_value", "o.fields.n.string_value"), "");
}

static void extensions_have_paths(void **state) {
    (void)state;
    char out[FIELD_PATH_MAX];
    assert_true(field_path_normal("[p.x].a[3]", out));
    assert_string_equal(out, "[p.x].a.3");
    assert_true(field_path_normal("m.[p.x][0]", out));
    assert_string_equal(out, "m.[p.x].0");
}

static void fields_are_those_shown(void **state) {
    (void)state;
    struct pb set = known_set();
    const struct reel_schema schema = {.name = "M", .encoding = "protobuf", .hash = "", .data = pb_bytes(&set)};
    const struct reel_channel channel = {
        .name = "/a", .type = "M", .encoding = "protobuf", .schemas = &schema, .n_schemas = 1};
    assert_string_equal(decode_fields(&channel),
                        "d double numeric\ni int64 numeric\ns string\nb bytes\nat time\ntook duration\n"
                        "mask string\nany any\no map\nl any[]\nv any\nds double[]\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrappers_and_json_are_bare), cmocka_unit_test(times_are_texts),
        cmocka_unit_test(a_mask_is_one_text),         cmocka_unit_test(an_any_of_a_known_type_has_its_fields),
        cmocka_unit_test(values_have_two_paths),      cmocka_unit_test(extensions_have_paths),
        cmocka_unit_test(fields_are_those_shown),     cmocka_unit_test(a_value_of_many_kinds_has_a_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
