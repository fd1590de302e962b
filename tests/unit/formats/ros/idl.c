/* Definitions in OMG IDL: what each construct makes of a payload, of the list of fields and of the shape; what is
 * refused, and why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/limits.h"
#include "formats/ros/idl_annotations.h"
#include "formats/ros/standard.h"
#include "formats/ros/translate.h"
#include "makers/decode_text.h"
#include "makers/hex.h"

#define LINE "================================================================================\n"

static struct reel_schema schema;
static struct reel_channel channel_of(const char *type, const char *encoding, const char *definition) {
    schema = (struct reel_schema){.name = type, .encoding = encoding, .hash = "", .data = bytes_text(definition)};
    return (struct reel_channel){.name = "/a", .type = type, .encoding = "cdr", .schemas = &schema, .n_schemas = 1};
}
static const char *decoded(const char *definition, const char *payload) {
    const struct reel_channel c = channel_of("m::T", "omgidl", definition);
    return decode_text(&c, hex(payload));
}
static const char *fields(const char *definition) {
    const struct reel_channel c = channel_of("m::T", "omgidl", definition);
    return decode_fields(&c);
}

/* The shape as text: {a?:number b:[text]} */
static enum reel_shape_next put_shape(void *context, const struct reel_shape *part) {
    static const char *const words[] = {[REEL_SHAPE_STRUCT] = "{",  [REEL_SHAPE_END] = "}",
                                        [REEL_SHAPE_LIST] = "[",    [REEL_SHAPE_NUMBER] = "number",
                                        [REEL_SHAPE_TEXT] = "text", [REEL_SHAPE_BYTES] = "bytes",
                                        [REEL_SHAPE_TIME] = "time", [REEL_SHAPE_DURATION] = "duration",
                                        [REEL_SHAPE_ANY] = "any"};
    char *out = context, name[64];
    snprintf(name, sizeof name, "%.*s%s:", (int)part->name.size, (const char *)part->name.data,
             part->optional ? "?" : "");
    strcat(out, part->kind == REEL_SHAPE_END || part->name.size == 0 ? "" : name);
    strcat(out, words[part->kind]);
    strcat(out, part->kind == REEL_SHAPE_STRUCT || part->kind == REEL_SHAPE_LIST ? "" : " ");
    return REEL_SHAPE_ENTER;
}
static const char *shape(const char *definition) {
    static char out[1024];
    struct reel_error err = {0};
    const struct reel_channel c = channel_of("m::T", "omgidl", definition);
    struct reel_decoder *d = reel_decoder_open(&c, &err);
    bool exact = false;
    out[0] = '\0';
    assert_non_null(d);
    assert_true(reel_decoder_shape(d, put_shape, out, &exact));
    assert_true(exact);
    reel_decoder_free(d);
    return out;
}

/* ---- numbers in definitions */

static void lengths_are_expressions(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *length;
    } cases[] = {{"3", "3"},          {"0x10", "16"},       {"010", "8"},
                 {"'A'", "65"},       {"'\\n'", "10"},      {"'\\x21'", "33"},
                 {"N", "5"},          {"m::N + 1", "6"},    {"n::M", "7"},
                 {"::m::n::M", "7"},  {"2 + 3 * 4", "14"},  {"(2 + 3) * 4", "20"},
                 {"20 / 3 % 4", "2"}, {"1 << 4 >> 1", "8"}, {"6 & 3 | 8 ^ 1", "11"},
                 {"-1 + 4", "3"},     {"~0 & 7", "7"},      {"- - 2", "2"},
                 {"TRUE", "1"},       {"B", "1"},           {"E::B", "1"},
                 {"Z", "11"},         {"LATE", "10"},       {"n::M", "7"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512], want[64];
        snprintf(
            text, sizeof text,
            "module m { const long N = 5; module n { const short M = N + 2; }; enum E { A, B }; enum F { @value(10) "
            "Y, Z }; struct T { octet o[%s]; }; };\nmodule m { const long LATE = N * 2; };",
            cases[i].text);
        snprintf(want, sizeof want, "o uint8[%s]\n", cases[i].length);
        assert_string_equal(fields(text), want);
    }
    assert_string_equal(fields("module m { const long N = 4; struct T { sequence<string<N * 2>, N - 1> s; }; };"),
                        "s string[]\n");
    assert_string_equal(decoded("module m { const long N = 1; struct T { sequence<octet, (N << 1)> s; }; };",
                                "00010000 03000000 010203"),
                        "error 2: byte 8 of 11: s has 3 values, at most 2 are allowed");
}

static void expressions_that_are_refused(void **state) {
    (void)state;
#define AT "/a: definition of m::T: "
    static const struct {
        const char *length, *error;
    } cases[] = {{"X", "error 3: " AT "line 1: this is not a number or a constant of the definition, at \"X\""},
                 {"-1", "error 2: " AT "line 1: this is not a length, at \"-\""},
                 {"0xffffffff + 1", "error 2: " AT "line 1: this is not a length, at \"0xffffffff\""},
                 {"99999999999999999999", "error 3: " AT "line 1: this is not an integer, at \"99999999999999999999\""},
                 {"08", "error 3: " AT "line 1: this is not an integer, at \"08\""},
                 {"1 / 0", "error 2: " AT "line 1: a division by zero, at \"]\""},
                 {"1 % 0", "error 2: " AT "line 1: a division by zero, at \"]\""},
                 {"LOOP", "error 3: " AT "line 1: this is a constant without a value, at \"LOOP\""},
                 {"HALF", "error 3: " AT "line 1: this is not an integer, at \".\""},
                 {"TEXT", "error 3: " AT "line 1: this is not a number or a constant of the definition, at \"\"a\"\""},
                 {"(1", "error 2: " AT "line 1: \")\" is missing, at \"]\""},
                 {"", "error 3: " AT "line 1: this is not a number or a constant of the definition, at \"]\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "module m { const long LOOP = ROUND; const long ROUND = LOOP; const float HALF = 0.5; const string "
                 "TEXT = \"a\"; struct T { octet o[%s]; }; };",
                 cases[i].length);
        assert_string_equal(decoded(text, ""), cases[i].error);
    }
    char deep[2048] = "module m { struct T { octet o[";
    memset(deep + strlen(deep), '(', 1000);
    assert_string_equal(decoded(deep, ""), "error 4: " AT "line 1: expressions nest too deep, at \"(\"");
    memset(strchr(deep, '('), '~', 1000);
    assert_string_equal(decoded(deep, ""), "error 4: " AT "line 1: expressions nest too deep, at \"~\"");
}

/* The value of a constant or enumerator in the scope ""; *lookups: how many names were looked up for it. */
static bool evaluated(struct idl_constants *c, const char *name, int64_t *value, uint32_t *lookups,
                      struct reel_error *err) {
    const struct idl_place place = {.scope = ""};
    struct idl_lexer l = idl_lexer_of(bytes_text(name), 1);
    uint32_t before = c->lookups;
    bool good = idl_expression(c, &l, &place, value, err);
    *lookups = c->lookups - before;
    return good;
}

static void constants_are_evaluated_once(void **state) {
    (void)state;
    static const char text[] = "const long N = 1; const long X = N + N + N + nope; const long R = N.5;"
                               "enum E { Y, Z, @value(N + N + N) A, B, C, @value(X) D, F };";
    static const struct {
        const char *name;
        int64_t value; /* -1: none */
        uint32_t lookups;
    } cases[] = {{"X", -1, 5}, {"X", -1, 1}, {"R", -1, 2}, {"R", -1, 1}, {"B", 4, 4}, {"A", 3, 1},
                 {"C", 5, 1},  {"Y", 0, 1},  {"Z", 1, 1},  {"D", -1, 2}, {"F", -1, 1}};
    struct arena arena = {0};
    struct idl_constants c = {.arena = &arena};
    struct reel_error err = {0};
    assert_true(idl_constants_collect(&c, bytes_text(text), &err));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = 0;
        uint32_t lookups = 0;
        assert_int_equal(evaluated(&c, cases[i].name, &value, &lookups, &err), cases[i].value >= 0);
        assert_int_equal(lookups, cases[i].lookups);
        assert_true(cases[i].value < 0 || value == cases[i].value);
    }
    /* other errors of @value are ignored */
    struct idl_annotations notes = {0};
    struct idl_lexer l = idl_lexer_of(bytes_text("@value(X) @value(N)"), 1);
    assert_true(idl_annotations_read(&c, &l, "", &notes, &err));
    assert_int_equal(notes.value, 1);
    c.lookups = REEL_EXPRESSION_LOOKUPS_MAX + 1;
    l = idl_lexer_of(bytes_text("@value(N)"), 1);
    assert_false(idl_annotations_read(&c, &l, "", &notes, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    assert_string_equal(err.text, "line 1: expressions have too many names, at \"N\"");
    idl_constants_free(&c);
    arena_free(&arena);
}

/* ---- types in types */

static void lists_of_lists(void **state) {
    (void)state;
    static const char text[] = "module m { typedef short row[2]; typedef row rows[2]; struct T { octet flags[2][3]; "
                               "sequence<sequence<short>, 3> s; rows r; sequence<row> q; row w; string n[1][2]; }; };";
    assert_string_equal(decoded(text, "00010000 010203 040506 0000 02000000 01000000 0500 0000 02000000 0600 0700"
                                      "0100 0200 0300 0400 01000000 0800 0900 0a00 0b00 0000 0000"),
                        "error 2: byte 52 of 56: n needs 8 bytes, 4 are left");
    assert_string_equal(
        decoded(text, "00010000 010203 040506 0000 02000000 01000000 0500 0000 02000000 0600 0700"
                      "0100 0200 0300 0400 01000000 0800 0900 0a00 0b00 02000000 'x' 00 0000 01000000 00"),
        "{\"flags\":[{\"$base64\":\"AQID\"},{\"$base64\":\"BAUG\"}],\"s\":[[5],[6,7]],\"r\":[[1,2],[3,4]],"
        "\"q\":[[8,9]],\"w\":[10,11],\"n\":[[\"x\",\"\"]]}");
    assert_string_equal(fields(text),
                        "flags.0 uint8[3]\nflags.1 uint8[3]\ns int16[][]\nr.0.0 int16 numeric\nr.0.1 int16 numeric\n"
                        "r.1.0 int16 numeric\nr.1.1 int16 numeric\nq int16[][2]\nw.0 int16 numeric\nw.1 int16 numeric\n"
                        "n.0.0 string\nn.0.1 string\n");
    assert_string_equal(shape(text), "{flags:[bytes s:[[number r:[[number q:[[number w:[number n:[[text } ");
}

static void maps(void **state) {
    (void)state;
    static const char text[] =
        "module m { struct P { float x; }; struct T { map<string, P> a; map<long, sequence<octet>, 5> "
        "b; sequence<map<boolean, short>> c; }; };";
    assert_string_equal(
        decoded(text, "00010000 01000000 02000000 'k' 00 0000 0000003f 01000000 ffffffff 01000000 07 "
                      "000000 01000000 02000000 00 00 0100 01 00 0200"),
        "{\"a\":{\"k\":{\"x\":0.5}},\"b\":{\"-1\":{\"$base64\":\"Bw==\"}},\"c\":[{\"false\":1,\"true\":2}]}");
    assert_string_equal(fields(text), "a map\nb map\nc map[]\n");
    assert_string_equal(shape(text), "{a:any b:any c:[any } ");
    assert_string_equal(decoded("module m { struct T { map<float, long> a; }; };", ""),
                        "error 3: " AT "a map whose keys are neither texts nor integers");
    assert_string_equal(decoded(text, "00010000 ffffffff"),
                        "error 2: byte 8 of 8: a needs 17179869180 bytes, 0 are left");
}

static void enums_bitmasks_and_bitsets(void **state) {
    (void)state;
    static const char text[] =
        "module m { enum E { A, B }; @bit_bound(8) enum S { C }; @bit_bound(16) enum N { @value(-1) LOW, HIGH }; "
        "@bit_bound(8) bitmask F { @position(0) X, Y }; bitmask G { Z }; bitset H { bitfield<3> a; bitfield<6, short> "
        "b; bitfield<2>; }; typedef E Alias; struct T { E e; S s; N n; F f; G g; H h; sequence<Alias> l; }; };";
    assert_string_equal(
        decoded(text, "00010000 01000000 02 00 ffff 81 000000 03000000 0501 0000 02000000 00000000 01000000"),
        "{\"e\":1,\"s\":2,\"n\":-1,\"f\":129,\"g\":3,\"h\":261,\"l\":[0,1]}");
    assert_string_equal(fields(text), "e E numeric\ns S numeric\nn N numeric\nf F numeric\ng G numeric\nh H numeric\n"
                                      "l E[]\n");
}

static void unions(void **state) {
    (void)state;
    static const char text[] =
        "module k { enum K { A, B, C }; };\n"
        "module m { union U switch (k::K) { case A: case B: long i; case C: @unit(\"m\") double d; "
        "}; union V switch (char) { case 'x': string s; default: octet o; }; union W switch "
        "(boolean) { case TRUE: U u; }; struct T { U u; sequence<V> v; W w; }; };";
    assert_string_equal(
        decoded(text, "00010000 02000000 00000000 000000000000f83f 02000000 78 000000 02000000 'a' 00 79 07 01 000000 "
                      "01000000 09000000"),
        "{\"u\":{\"d\":1.5},\"v\":[{\"s\":\"a\"},{\"o\":7}],\"w\":{\"u\":{\"i\":9}}}");
    assert_string_equal(decoded(text, "00010000 03000000 00000000 00"), "{\"u\":{},\"v\":[],\"w\":{}}"); /* no case */
    assert_string_equal(fields(text), "u.i int32 numeric\nu.d float64 m numeric\nv V[]\nw.u.i int32 numeric\nw.u.d "
                                      "float64 m numeric\n");
    assert_string_equal(shape(text),
                        "{u:{i?:number d?:number } v:[{s?:text o?:number } w:{u?:{i?:number d?:number } } } ");
    assert_string_equal(
        decoded("module m { union T switch (long) { case 1: octet a; default: short b; }; };", "00010000 01000000 05"),
        "{\"a\":5}");
    assert_string_equal(decoded("module m { union T switch (long) { case 1: case 1: octet a; }; };", ""),
                        "error 2: " AT "line 1: two cases of a union are equal, at \";\"");
    assert_string_equal(decoded("module m { union T switch (float) { case 1: octet a; }; };", ""),
                        "error 3: " AT "m/T: a union whose discriminator is not an integer");
}

/* ---- structs */

static void structs_that_extend_others(void **state) {
    (void)state;
    static const char text[] =
        "module m { struct T : n::Middle { octet c; }; };\nmodule n { struct Base { Own a; }; struct "
        "Middle : Base { short b[2]; }; struct Own { octet x; }; };";
    assert_string_equal(decoded(text, "00010000 01 00 0200 0300 04"), "{\"a\":{\"x\":1},\"b\":[2,3],\"c\":4}");
    assert_string_equal(fields(text), "a.x uint8 numeric\nb.0 int16 numeric\nb.1 int16 numeric\nc uint8 numeric\n");
    assert_string_equal(decoded("module m { struct T : T { octet c; }; };", ""), "error 2: " AT "m/T holds itself");
    assert_string_equal(decoded("module m { typedef long L; struct T : L { octet c; }; };", ""),
                        "error 3: " AT "m/L, which m/T extends, is not a struct");
}

static void optional_members(void **state) {
    (void)state;
    static const char text[] =
        "module m { struct T { octet a; @optional long b; @optional @id(300) string c; octet d; }; };";
    /* XCDR1: a parameter each, to whose beginning values are aligned */
    assert_string_equal(
        decoded(text, "00010000 01 000000 0100 0400 05000000 013f 0800 2c010000 06000000 02000000 'x' 00 07"),
        "{\"a\":1,\"b\":5,\"c\":\"x\",\"d\":7}");
    assert_string_equal(decoded(text, "00010000 01 000000 0100 0000 2c01 0000 07"), "{\"a\":1,\"d\":7}");
    /* XCDR2: a byte before each */
    assert_string_equal(decoded(text, "00070000 01 01 0000 05000000 00 07"), "{\"a\":1,\"b\":5,\"d\":7}");
    assert_string_equal(decoded(text, "00070000 01 00 00 07"), "{\"a\":1,\"d\":7}");
    assert_string_equal(shape(text), "{a:number b?:number c?:text d:number } ");
}

static void annotations_and_what_has_no_values(void **state) {
    (void)state;
    static const char text[] =
        "// a comment\n#include <other.idl>\n#pragma keylist T a\n/* struct */ @annotation Mine { long v; };\n"
        "module m { interface I { void f(in long a); }; exception X { long y; }; native N; struct Later; union Also; "
        "const double PI = 3.14; const string S = \"} ; {\" \"b\";\n"
        "@verbatim(language=\"comment\", text=\"a ) } ( 'b\" \"c\") @nested @topic(name=\"x\") @final struct T { @key "
        "@default(value=5) @range(min=1, max=2) @unit(value=\"m\") long a, b[2]; @non_serialized short skipped; "
        "@Mine(v=3) @value(\"any\") "
        "unsigned long long c; wchar w; int8 i; byte y; long double q; @optional(FALSE) char z; }; };";
    assert_string_equal(decoded(text,
                                "00010000 01000000 02000000 03000000 00000000 0400000000000000 0500 ff 06 00000000"
                                "00000000000000000000000000 80ffbf 07"),
                        "{\"a\":1,\"b\":[2,3],\"c\":4,\"w\":5,\"i\":-1,\"y\":6,\"q\":-1.5,\"z\":7}");
    assert_string_equal(fields(text),
                        "a int32 m numeric\nb.0 int32 m numeric\nb.1 int32 m numeric\nc uint64 numeric\nw "
                        "uint16 numeric\ni int8 numeric\ny uint8 numeric\nq float128 numeric\nz uint8 "
                        "numeric\n");
    assert_string_equal(decoded("@mutable struct Foo { long a; };\nmodule m { struct T { }; };", "00010000"), "{}");
}

static void long_doubles(void **state) {
    (void)state;
    static const char text[] = "module m { struct T { long double a[7]; }; };";
    assert_string_equal(
        decoded(text,
                "00000000 3fff0000000000000000000000000000 c0008000000000000000000000000000 "
                "7fff0000000000000000000000000000 7fff8000000000000000000000000000 00000000000000000000000000000000 "
                "3ffd5555555555555555555555555555 43fe ffffffffffff f000000000000000"),
        "{\"a\":[1,-3,\"Infinity\",\"NaN\",0,0.3333333333333333,1.7976931348623157e+308]}");
}

/* ROS has 4 bytes for each unit of a wide text, others 2. */
static void wide_texts(void **state) {
    (void)state;
    assert_string_equal(
        decoded("module m { struct T { wstring<5> a; octet b; }; };", "00010000 06000000 6100 3dd8 00de 07"),
        "{\"a\":\"a\xf0\x9f\x98\x80\",\"b\":7}");
    const struct reel_channel c =
        channel_of("m/msg/T", "ros2idl", "module m { module msg { struct T { wstring a; }; }; };");
    assert_string_equal(decode_text(&c, hex("00010000 02000000 61000000 62000000")), "{\"a\":\"ab\"}");
}

static void names_of_types(void **state) {
    (void)state;
    static const char text[] =
        "struct Global { octet g; }; module m { module n { struct A { octet n; }; struct B { A a; "
        "::Global g; }; struct time { octet t; }; }; struct A { octet m; }; struct T { A a; n::B b; "
        "::m::n::A c; n::time t; }; };";
    assert_string_equal(decoded(text, "00010000 01 02 03 04 05"),
                        "{\"a\":{\"m\":1},\"b\":{\"a\":{\"n\":2},\"g\":{\"g\":3}},\"c\":{\"n\":4},\"t\":{\"t\":5}}");
    const struct reel_channel c = channel_of("Global", "omgidl", "struct Global { octet g; };");
    assert_string_equal(decode_text(&c, hex("00010000 01")), "{\"g\":1}");
    /* files of ROS, the included one last */
    const struct reel_channel ros = channel_of(
        "p/msg/T", "ros2idl",
        LINE
        "IDL: p/msg/T\n#include \"q/msg/Base.idl\"\nmodule p { module msg { module T_Constants { const uint8 LEN = 2; "
        "}; struct T { q::msg::Base b[T_Constants::LEN]; builtin_interfaces::msg::Duration d; }; }; };\n" LINE
        "IDL: q/msg/Base\nmodule q { module msg { struct Base { octet x[q::msg::Base_Constants::N]; }; module "
        "Base_Constants { const uint8 N = 1; }; }; };\n");
    assert_string_equal(decode_text(&ros, hex("00010000 01 02 0000 ffffffff 00000000")),
                        "{\"b\":[{\"x\":{\"$base64\":\"AQ==\"}},{\"x\":{\"$base64\":\"Ag==\"}}],\"d\":{\"sec\":-1,"
                        "\"nanosec\":0}}");
}

/* ---- refused */

static void what_is_refused(void **state) {
    (void)state;
#define TOP(members) "module m { struct T { " members " }; };"
    static const struct {
        const char *text, *error;
    } cases[] = {
        {TOP("fixed<5, 2> a;"), "error 3: " AT "line 1: this type is not read, at \"fixed\""},
        {TOP("any a;"), "error 3: " AT "line 1: this type is not read, at \"any\""},
        {TOP("long a; union"), "error 3: " AT "line 1: this type is not read, at \"union\""},
        {TOP("Other a;"), "error 3: " AT "Other, which m/T holds, is not in the recording's definition"},
        {TOP("T a;"), "error 2: " AT "m/T holds itself"},
        {TOP("sequence<T> a;"), "error 2: " AT "m/T holds itself"},
        {TOP("@id(1) long a; @id(1) long b;"), "error 2: " AT "two members of m/T have the id 1"},
        {TOP("@id(-1) long a;"), "error 2: " AT "line 1: this number is out of range, at \")\""},
        {TOP("@id(3000000000) long a;"), "error 2: " AT "line 1: this number is out of range, at \")\""},
        {TOP("long 1;"), "error 2: " AT "line 1: a name is missing, at \"1\""},
        {TOP("1 a;"), "error 2: " AT "line 1: a type is missing, at \"1\""},
        {"module m { typedef a b; typedef b a; struct T { a c; }; };", "error 2: " AT "m/a holds itself"},
        {"module m { struct T { long a;", "error 2: " AT "line 1: a struct does not end, at \"\""},
        {"module m { struct T { long a; };", "error 2: " AT "line 1: a module does not end, at \"\""},
        {"module m { union T switch (long) {", "error 2: " AT "line 1: a union does not end, at \"\""},
        {"module m { union T switch (long) { long a; }; };", "error 2: " AT "line 1: \"case\" is missing, at \"long\""},
        {"module m { struct T { U u; }; union U switch (octet) { case 1: @non_serialized long a; }; struct Z { Nope n; "
         "}; "
         "};",
         "error 3: " AT "line 1: a case of a union that is not serialized, at \"long\""},
        {"module m { union T switch (octet) { default: @non_serialized long a; }; };",
         "error 3: " AT "line 1: a case of a union that is not serialized, at \"long\""},
        {"module m { bitset T { bitfield<60> a; bitfield<5> b; }; };",
         "error 2: " AT "line 1: a bitset of more than 64 bits, at \"b\""},
        {"module m {\n\n@a((\"", "error 2: " AT "line 3: \")\" is missing, at \"\""},
        {"module m { enum T { A }; };", "error 3: " AT "this is neither a struct nor a union"},
        {"struct Other { long a; };", "error 3: " AT "the type itself is not in the recording's definition"},
        {"garbage", "error 3: " AT "line 1: this is not read, at \"garbage\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(decoded(cases[i].text, ""), cases[i].error);
    }
    char deep[4096] = "module m { struct T { ";
    for (unsigned i = 0; i < 200; i++) {
        strcat(deep, "sequence<");
    }
    assert_string_equal(decoded(deep, ""), "error 4: " AT "line 1: types nest too deep, at \"sequence\"");
}

/* ---- ROS 1 */

static void what_ros1_has(void **state) {
    (void)state;
    static const struct {
        const char *members, *outcome;
    } cases[] = {
        {"long a; sequence<double> b; P p; E e; wstring w;", "int32 a\nfloat64[] b\nP p\nuint32 e\nstring w\n"},
        {"@optional long a;", "m/msg/T: ROS 1 has no optional fields"},
        {"long a[2][2];", "m/msg/T: ROS 1 has no lists of lists"},
        {"map<string, long> a;", "m/msg/T: ROS 1 has no maps"},
        {"long double a;", "m/msg/T: ROS 1 has no long double"},
        {"U a;", "m/msg/T: ROS 1 has no unions"},
        {"M a;", "m/msg/T: ROS 1 has no mutable types"}};
    struct reel_error err = {0};
    struct arena arena = {0};
    struct ros_definition *standard = ros2_standard_types(&err);
    assert_non_null(standard);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        struct ros_translation out;
        snprintf(text, sizeof text,
                 "module m { module msg { struct P { long x; }; enum E { A }; @mutable struct M { long x; }; union U "
                 "switch (long) { case 1: long i; }; struct T { %s }; }; };",
                 cases[i].members);
        const struct reel_channel c = channel_of("m/msg/T", "ros2idl", text);
        bool good = ros_translate(&arena, &c, ROS_1, standard, &out, &err);
        assert_int_equal(good, i == 0);
        if (good) {
            assert_true(bytes_start(out.definition, bytes_text("int32 a\nfloat64[] b\n")));
            assert_non_null(memmem(out.definition.data, out.definition.size, "uint32 e\nstring w\n", 18));
            ros_relay_free(out.relay);
        } else {
            assert_string_equal(err.text, cases[i].outcome);
        }
    }
    ros_definition_free(standard);
    arena_free(&arena);
}

/* ---- what people reported */

static void reported_files(void **state) {
    (void)state;
    static const char foo[] =
        "\n" LINE "IDL: my_msgs/msg/Foo\n// generated\n#include \"std_msgs/msg/Header.idl\"\nmodule my_msgs { "
        "module msg {\n module Foo_Constants { const long MAX = 3; const string NAME = \"a;b{\"; };\n const "
        "uint32 LEN = 2;\n typedef float float__LEN[LEN];\n @verbatim (language=\"comment\", text=\"hi ) "
        "there\" \"second\")\n enum Color { RED, @value(5) GREEN, BLUE };\n struct Foo { @default (value=3) long "
        "a; float__LEN f; sequence<double, LEN> d; Color c; string<LEN> s; octet raw[4]; boolean flags[2][2]; "
        "};\n}; };\n";
    const struct reel_channel constants = channel_of("my_msgs/msg/Foo", "ros2idl", foo);
    assert_string_equal(decode_text(&constants, hex("00010000 03000000 0000803f 00000040 01000000 "
                                                    "0000000000002240 02000000 03000000 'ab' 00 01020304 01000001")),
                        "{\"a\":3,\"f\":[1,2],\"d\":[9],\"c\":2,\"s\":\"ab\",\"raw\":{\"$base64\":\"AQIDBA==\"},"
                        "\"flags\":[[true,false],[false,true]]}");
    const struct reel_channel optional =
        channel_of("Foo", "omgidl", "@mutable struct Foo { @id(1) long a; @optional long b; };");
    assert_string_equal(decode_text(&optional, hex("000b0000 08000000 01000020 05000000")), "{\"a\":5}");
    const struct reel_channel selected = channel_of("Foo", "omgidl",
                                                    "enum K { A, B };\nunion U switch (K) { case A: long i; case B: "
                                                    "string s; default: float f; };\nstruct Foo { U u; };");
    assert_string_equal(decode_text(&selected, hex("00010000 00000000 04000000")), "{\"u\":{\"i\":4}}");
    assert_string_equal(decode_text(&selected, hex("00010000 01000000 02000000 'x' 00")), "{\"u\":{\"s\":\"x\"}}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_expressions),
        cmocka_unit_test(expressions_that_are_refused),
        cmocka_unit_test(constants_are_evaluated_once),
        cmocka_unit_test(lists_of_lists),
        cmocka_unit_test(maps),
        cmocka_unit_test(enums_bitmasks_and_bitsets),
        cmocka_unit_test(unions),
        cmocka_unit_test(structs_that_extend_others),
        cmocka_unit_test(optional_members),
        cmocka_unit_test(annotations_and_what_has_no_values),
        cmocka_unit_test(long_doubles),
        cmocka_unit_test(wide_texts),
        cmocka_unit_test(names_of_types),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(what_ros1_has),
        cmocka_unit_test(reported_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
