/* Writing TIDE logs: what comes out is planned to the byte, reads back equal, and any range of it is the same alone. */
#include "formats/tide/write.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "chunks/codec.h"
#include "makers/bag_scan.h"
#include "makers/tide_scan.h"

static void free_maker(struct maker *m) {
    free(m->data);
}
#define MAKER __attribute__((cleanup(free_maker))) struct maker

static const struct {
    const struct reel_writer *writer;
    const char *compression;
} targets[] = {{&reel_writer_tide, ""},
               {&reel_writer_tide0, "none"},
               {&reel_writer_tide2, ""},
               {&reel_writer_tide2, "gzip"},
               {&reel_writer_tide2, "bz2"}};
enum { TARGETS = sizeof targets / sizeof *targets };

static void a_recorders_log_comes_out_byte_for_byte(void **state) {
    (void)state;
    LOG l = {0};
    log_default(&l);
    log_patch(&l, 14, 2, 4); /* the counts, which recorders leave at 0 */
    log_patch(&l, 18, 1, 4);
    RECORDING *r = log_scan(&l);
    LOG out = log_write(r, &reel_writer_tide, "", &selection_all, 200);
    assert_int_equal(out.size, l.size);
    assert_memory_equal(out.data, l.data, l.size);
}

static void every_target_gives_the_log_back(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel_of(&l, 3, "/foo/bar/:.rst.vision.Image", "rsb-event-0.9:.rst.vision.Image", "UUID", "rsb:/#UUID",
                   "message Notification {\n  }\n:// Image.proto\nmessage Image { }\n");
    log_channel_of(&l, 0, "/raw", "", "", "", "");
    log_channel_of(&l, 7, "/odd", "TYPE", "s\xc3\xbc", "{\"reel\":\"not ours\"}", "a: b");
    log_chunk(&l, 0, 5, LOG_T0, LOG_T0 + 9);
    log_entry(&l, 0, LOG_T0 + 5, "late");
    log_entry(&l, 3, LOG_T0 + 1, "early");
    log_entry(&l, 7, LOG_T0 + 1, "");
    log_entry(&l, 0, LOG_T0 + 1, "tie");
    log_entry(&l, 3, LOG_T0 + 9, "last");
    log_chunk_end(&l, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    for (size_t i = 0; i < TARGETS; i++) {
        LOG out = log_write(r, targets[i].writer, targets[i].compression, &selection_all, 100);
        RECORDING *again = log_scan(&out);
        log_assert_same(r, again);
        log_assert_findings(again, 0);
        assert_string_equal(log_info(again)->container, i < 2 ? "TIDE 0.0" : "TIDE 2.0");
    }
}

/* Fields of another layout are stored separately and come back through both. */
static void there_and_back_through_the_other_version(void **state) {
    (void)state;
    static const char *const hashes[] = {"PP", NULL};
    LOG l = {0};
    log_tide(&l, 2, 0);
    log_type(&l, "PP", "ros-msg-1.0", "Point", "1.0", "float64 x\n", "http://example.org/a", "QQ");
    log_type(&l, "QQ", "ros-msg-1.0", "Other", "", "float64 y\n", NULL, NULL);
    log_channel_new(&l, 0, "/a", "here", "port=1", hashes);
    log_channel_new(&l, 1, "/b", "", "", NULL);
    log_six(&l, 0, LOG_BZIP2);
    RECORDING *r = log_scan(&l);
    LOG old = log_write(r, &reel_writer_tide, "", &selection_all, 50);
    RECORDING *middle = log_scan(&old);
    log_assert_same(r, middle);
    LOG new = log_write(middle, &reel_writer_tide2, "gzip", &selection_all, 50);
    RECORDING *back = log_scan(&new);
    log_assert_same(r, back);
    log_assert_findings(back, 0);
}

/* A bag with a latched topic of two connections, two types on a topic, and an empty message. */
static void make_bag(struct maker *m) {
    make_text(m, MAKE_LINE);
    make_definition(m, "/map");
    make_message_of(m, "/map", MAKE_MD5, MAKE_TYPE, "/server", 1500000002, 0, "map", 3);
    make_message(m, "/map", 1500000004, 0, "");
    make_definition_of(m, "/map", "fdb28210bfa9d7c91146260178d9a584", "std_msgs/Float64", "float64 data\n");
    make_message_of(m, "/map", "fdb28210bfa9d7c91146260178d9a584", "std_msgs/Float64", NULL, 1500000005, 0, "12345678",
                    8);
    make_message(m, "/other", 1500000006, 5, "x");
}

static void ros_channels_come_back_as_they_were(void **state) {
    (void)state;
    MAKER m = {0};
    make_bag(&m);
    RECORDING *r = bag_scan(&m);
    for (size_t i = 0; i < TARGETS; i++) {
        LOG out = log_write(r, targets[i].writer, targets[i].compression, &selection_all, 100);
        RECORDING *again = log_scan(&out);
        log_assert_same(r, again);
        log_assert_findings(again, 0);
    }
    struct reel_error err = {0};
    struct reel_stream *s = log_stream(r, &selection_all);
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    assert_true(reel_writer_accepts(&reel_writer_tide, s, loss, &err));
    reel_stream_free(s);
    size_t count, shared = 0;
    const struct reel_loss_item *items = reel_loss_items(loss, &count);
    for (size_t i = 0; i < count; i++) {
        shared += strstr(items[i].text, "names must be unique") != NULL;
    }
    assert_int_equal(shared, 1);
}

#define LINE "================================================================================\n"
#define HEADER "uint32 seq\ntime stamp\nstring frame_id"
#define POSE "Point position # a geometry_msgs/Point\nQuaternion orientation"
#define NUMBERS "float64 x\nfloat64 y"

struct block { /* a TYPE block */
    struct reel_bytes hash, syntax, name, definition;
    uint32_t n_needs;
    struct reel_bytes needs[8];
};
static uint32_t type_blocks(const struct log *l, struct block *out, uint32_t most) {
    uint32_t n = 0;
    struct cursor c = cursor_of(bytes_of(l->data, l->size));
    while (!cursor_done(&c)) {
        struct reel_bytes tag = cursor_bytes(&c, 4);
        struct cursor body = cursor_of(cursor_bytes(&c, cursor_u64le(&c)));
        if (!bytes_is(tag, "TYPE")) {
            continue;
        }
        assert_true(n < most);
        struct block *b = &out[n++];
        *b = (struct block){0};
        b->hash = cursor_bytes(&body, cursor_u16le(&body));
        b->syntax = cursor_bytes(&body, cursor_u8(&body));
        b->name = cursor_bytes(&body, cursor_u16le(&body));
        cursor_bytes(&body, cursor_u16le(&body));
        b->definition = cursor_string32(&body);
        assert_int_equal(cursor_u8(&body), 0);
        b->n_needs = cursor_u16le(&body);
        for (uint32_t i = 0; i < b->n_needs; i++) {
            b->needs[i] = cursor_bytes(&body, cursor_u16le(&body));
        }
        assert_true(cursor_done(&body));
    }
    return n;
}
static const struct block *block_named(const struct block *all, uint32_t n, const char *name, uint32_t number) {
    for (uint32_t i = 0; i < n; i++) {
        if (bytes_is(all[i].name, name) && number-- == 0) {
            return &all[i];
        }
    }
    fail_msg("no type %s", name);
    return NULL;
}
static void assert_needs(const struct block *b, const struct block *needed) {
    uint32_t met = 0;
    for (uint32_t i = 0; i < b->n_needs; i++) {
        met += bytes_equal(b->needs[i], needed->hash);
    }
    assert_int_equal(met, 1);
}

/* The definitions of a bag: one TYPE block for each type, however many definitions list it, with the hashes of those it
 * needs. A type of another revision is another one, and so are those that need it. The text comes back byte for byte,
 * whatever stands between the types. */
static void definitions_become_one_type_each(void **state) {
    (void)state;
    static const char *const definitions[] = {
        "Header header\nPose pose\nfloat64[36] covariance\n\n" LINE "MSG: std_msgs/Header\n" HEADER "\n\n" LINE
        "MSG: geometry_msgs/Pose\n" POSE "\n\n" LINE "MSG: geometry_msgs/Point\n" NUMBERS "\n\n" LINE
        "MSG: geometry_msgs/Quaternion\n" NUMBERS "\n",
        "std_msgs/Header header\nPose[] poses\n" LINE "MSG:   geometry_msgs/Pose\n\n" POSE "\n\n\n" LINE
        "MSG: geometry_msgs/Point\n" NUMBERS "\n" LINE "MSG: geometry_msgs/Quaternion\r\n" NUMBERS "\n" LINE
        "MSG: std_msgs/Header\n" HEADER,
        "Pose last\n" LINE "MSG: geometry_msgs/Pose\n" POSE "\n" LINE "MSG: geometry_msgs/Point\nfloat32 x\n" LINE
        "MSG: geometry_msgs/Quaternion\n" NUMBERS,
        "A a\n" LINE "MSG: p/A\nB b\n" LINE "MSG: p/B\nA a\n", /* in a ring: kept as one */
        NUMBERS};
    static const char *const types[] = {"geometry_msgs/PoseWith", "geometry_msgs/PoseArray", "geometry_msgs/Last",
                                        "p/Ring", "geometry_msgs/Point"};
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    for (size_t i = 0; i < 5; i++) {
        char topic[8], md5[33];
        snprintf(topic, sizeof topic, "/t%zu", i);
        snprintf(md5, sizeof md5, "%032zu", i + 1);
        make_definition_of(&m, topic, md5, types[i], definitions[i]);
        make_message_of(&m, topic, md5, types[i], NULL, 1500000002, (uint32_t)i, "abc", 3);
    }
    RECORDING *r = bag_scan(&m);
    LOG out = log_write(r, &reel_writer_tide2, "", &selection_all, 50);
    struct block blocks[32];
    uint32_t n = type_blocks(&out, blocks, 32);
    assert_int_equal(n, 5 + 1 + 3 + 1); /* of /t0; PoseArray; /t2, its Pose and its Point; the ring */
    const struct block *pose = block_named(blocks, n, "geometry_msgs/Pose", 0),
                       *other = block_named(blocks, n, "geometry_msgs/Pose", 1);
    const struct block *point = block_named(blocks, n, "geometry_msgs/Point", 0),
                       *narrow = block_named(blocks, n, "geometry_msgs/Point", 1);
    if (bytes_is(point->definition, "float32 x")) {
        const struct block *swap = point;
        point = narrow;
        narrow = swap;
    }
    if (bytes_equal(pose->needs[0], narrow->hash) || bytes_equal(pose->needs[1], narrow->hash)) {
        const struct block *swap = pose;
        pose = other;
        other = swap;
    }
    assert_needs(pose, point);
    assert_needs(pose, block_named(blocks, n, "geometry_msgs/Quaternion", 0)); /* of the same text as Point */
    assert_needs(other, narrow);
    assert_int_equal(pose->n_needs, 2);
    assert_true(bytes_is(pose->definition, POSE));
    assert_needs(block_named(blocks, n, "geometry_msgs/PoseWith", 0), pose);
    assert_needs(block_named(blocks, n, "geometry_msgs/PoseWith", 0), block_named(blocks, n, "std_msgs/Header", 0));
    assert_needs(block_named(blocks, n, "geometry_msgs/PoseArray", 0), pose);
    assert_needs(block_named(blocks, n, "geometry_msgs/Last", 0), other);
    assert_int_equal(block_named(blocks, n, "p/Ring", 0)->n_needs, 0);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(bytes_is(blocks[i].syntax, "ros-msg-1.0"));
    }
    RECORDING *again = log_scan(&out);
    log_assert_same(r, again);
    log_assert_findings(again, 0);
    LOG once_more = log_write(again, &reel_writer_tide2, "", &selection_all, 0);
    assert_int_equal(once_more.size, out.size);
    assert_memory_equal(once_more.data, out.data, out.size);
}

/* As rows, and a channel whose hashes went missing on some other way. */
static void rows_keep_every_type_and_a_lost_hash_is_made_anew(void **state) {
    (void)state;
    static const char *const hashes[] = {"PP", "QQ", NULL};
    static const char lost[] =
        "{\"$channel\":{\"topic\":\"/p\",\"type\":\"pkg/T\",\"encoding\":\"ros1\",\"schema\":\"float64 x\\n\","
        "\"schema_name\":\"pkg/T\",\"schema_encoding\":\"ros1msg\",\"metadata\":{\"tide.schema.0.version\":\"1\"}}}\n"
        "{\"topic\":\"/p\",\"log_time\":\"2014-05-13T16:53:20Z\",\"data\":{\"$base64\":\"AAAAAAAA8D8=\"},"
        "\"encoding\":\"ros1\"}\n";
    struct reel_error err = {0};
    size_t size;
    static uint8_t text[64 << 10];
    LOG l = {0};
    log_tide(&l, 2, 0);
    log_type(&l, "PP", "ros-msg-1.0", "Point", "1.0", "float64 x\n", NULL, NULL);
    log_type(&l, "QQ", "ros-msg-1.0", "Other", "", "float64 y\n", NULL, NULL);
    log_channel_new(&l, 0, "/a", "here", "port=1", hashes);
    log_channel_new(&l, 1, "/b", "", "", NULL);
    log_six(&l, 0, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    const struct reel_write_options whole = {.raw = true, .channels = true};
    AUTO(reel_row_output_free)
    struct reel_row_output *output =
        reel_row_output_new(&reel_writer_ndjson, &whole, log_stream(r, &selection_all), &err);
    assert_true(output && reel_row_output_next(output, text, sizeof text, &size, &err));
    assert_in_range(size, 1, sizeof text - 1); /* all of it */
    RECORDING *rows = log_try(bytes_of(text, size), NULL, &err);
    assert_non_null(rows);
    LOG again = log_write(rows, &reel_writer_tide2, "", &selection_all, 50);
    RECORDING *back = log_scan(&again);
    assert_int_equal(log_model(back, 0)->n_schemas, 2);
    assert_true(tide_channel_same(log_model(r, 0), log_model(back, 0)));

    RECORDING *without = log_try(bytes_text(lost), NULL, &err);
    assert_non_null(without);
    LOG out = log_write(without, &reel_writer_tide2, "", &selection_all, 50);
    struct block blocks[4];
    assert_int_equal(type_blocks(&out, blocks, 4), 1);
    assert_int_equal(blocks[0].hash.size, 20); /* SHA-1 */
}

static void names_in_the_file_are_unique_and_short(void **state) {
    (void)state;
    LOG l = {0};
    char name[256], longer[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    memcpy(longer, name, sizeof name);
    log_tide(&l, 0, 0);
    log_channel(&l, 0, "/same");
    log_channel(&l, 1, "/same");
    log_channel(&l, 2, "/same#2");
    log_channel(&l, 3, name);
    log_channel(&l, 4, longer);
    log_six(&l, 0, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    LOG out = log_write(r, &reel_writer_tide2, "", &selection_all, 50);
    assert_non_null(memmem(out.data, out.size, "\7/same#2", 8)); /* that channel's own */
    assert_non_null(memmem(out.data, out.size, "\7/same#3", 8)); /* so the second /same has the next number */
    RECORDING *again = log_scan(&out);
    log_assert_same(r, again); /* but the model knows the names as they were */
}

/* The bytes of a compressed result are a library's, too: the ETag is made of view_version. */
static void compressing_libraries_enter_the_etag(void **state) {
    (void)state;
    LOG l = {0};
    struct reel_error err = {0};
    log_tide(&l, 0, 0);
    log_six(&l, 0, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    for (size_t i = 0; reel_writers[i]; i++) {
        const struct reel_writer *w = reel_writers[i];
        bool compresses = w->compressions || strstr("tide images", w->name); /* images: as PNG */
        AUTO(reel_stream_free) struct reel_stream *plain = reel_stream_open(&r, 1, &selection_all, &err);
        AUTO(reel_stream_free) struct reel_stream *s = reel_writer_stream(w, &r, 1, &selection_all, &err);
        AUTO(reel_stream_free) struct reel_stream *viewed = w->view ? w->view(TAKE(plain), &err) : TAKE(plain);
        assert_int_equal(s->view_version, viewed->view_version ^ (compresses ? codec_encode_version() : 0));
    }
}

static void ids_are_kept_where_they_are_free(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel(&l, 4000000000, "/a");
    log_channel(&l, 1, "/b");
    log_chunk(&l, 0, 2, LOG_T0, LOG_T0 + 1);
    log_entry(&l, 4000000000, LOG_T0, "a");
    log_entry(&l, 1, LOG_T0 + 1, "b");
    log_chunk_end(&l, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    LOG out = log_write(r, &reel_writer_tide, "", &selection_all, 20);
    RECORDING *again = log_scan(&out);
    log_assert_same(r, again);
    struct reel_channel c[5] = {{.name = "/0"}, {.name = "/1"}, {.name = "/2"}, {.name = "/3"}, {.name = "/4"}};
    static struct reel_pair one = {"tide.id", "1"}, zero = {"tide.id", "0"}, odd = {"tide.id", "x"};
    c[1].metadata = c[3].metadata = (struct reel_pairs){&one, 1};
    c[2].metadata = (struct reel_pairs){&zero, 1};
    c[4].metadata = (struct reel_pairs){&odd, 1};
    const struct reel_channel *const list[] = {&c[0], &c[1], &c[2], &c[3], &c[4]};
    const struct reel_stream stream = {.channels = list, .n_channels = 5};
    struct reel_error err = {0};
    AUTO_MEM uint32_t *ids = tide_ids_new(&stream, &err);
    assert_non_null(ids);
    assert_int_equal(ids[1], 1);
    assert_int_equal(ids[2], 0);
    assert_int_equal(ids[0], 2);
    assert_int_equal(ids[3], 3);
    assert_int_equal(ids[4], 4);
}

/* Several chunks, one with a message larger than a chunk, packed and not. */
static void many_chunks(void **state) {
    (void)state;
    enum { MESSAGES = 60000, HUGE_BYTES = 9 << 20 };
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel(&l, 0, "/often");
    log_channel(&l, 1, "/rare");
    log_channel(&l, 2, "/huge");
    log_chunk(&l, 0, MESSAGES + 4 + 1, LOG_T0, LOG_T0 + MESSAGES);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        log_entry(&l, 0, LOG_T0 + i, i % 3 ? "some payload of some length that is not so short" : "");
        if (i % 15000 == 14000) {
            log_entry(&l, 1, LOG_T0 + i, "rare");
        }
        if (i == 30000) {
            AUTO_MEM char *huge = calloc(1, HUGE_BYTES + 1);
            memset(huge, 'h', HUGE_BYTES);
            log_entry(&l, 2, LOG_T0 + i, huge);
        }
    }
    log_chunk_end(&l, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    for (size_t i = 0; i < TARGETS; i++) {
        LOG out = log_write(r, targets[i].writer, targets[i].compression, &selection_all, 20);
        RECORDING *again = log_scan(&out);
        assert_int_equal(log_info(again)->messages, MESSAGES + 4 + 1);
        assert_int_equal(log_info(again)->payload_bytes, log_info(r)->payload_bytes);
        log_assert_findings(again, 0);
        assert_true(targets[i].compression[0] == '\0' || targets[i].compression[0] == 'n' || out.size < l.size / 4);
    }
}

static void a_cut_and_an_empty_cut(void **state) {
    (void)state;
    LOG l = {0};
    log_default(&l);
    RECORDING *r = log_scan(&l);
    struct reel_selection selection = {
        .size = sizeof selection, .start_ns = (int64_t)LOG_T0 + LOG_S, .end_ns = (int64_t)LOG_T0 + 3 * (int64_t)LOG_S};
    for (size_t i = 0; i < TARGETS; i++) {
        selection.end_ns = (int64_t)LOG_T0 + 3 * (int64_t)LOG_S;
        LOG out = log_write(r, targets[i].writer, targets[i].compression, &selection, 20);
        RECORDING *cut = log_scan(&out);
        assert_string_equal(log_messages(cut), "/b=m1|/a=m2|");
        log_assert_findings(cut, 0);
        selection.end_ns = selection.start_ns;
        LOG nothing = log_write(r, targets[i].writer, targets[i].compression, &selection, 5);
        RECORDING *empty = log_scan(&nothing);
        assert_int_equal(log_info(empty)->messages, 0);
        assert_int_equal(log_info(empty)->n_channels, 2);
        log_assert_findings(empty, 0);
    }
}

static void what_is_not_written_is_refused(void **state) {
    (void)state;
    static const struct {
        const struct reel_writer *writer;
        const char *compression;
    } wrong[] = {{&reel_writer_tide, "gzip"}, {&reel_writer_tide0, "bz2"}, {&reel_writer_tide2, "zstd"}};
    LOG l = {0};
    log_default(&l);
    RECORDING *r = log_scan(&l);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct reel_error err = {0};
        const struct reel_write_options options = {.compression = wrong[i].compression};
        struct reel_stream *s = log_stream(r, &selection_all);
        assert_null(reel_plan_new(wrong[i].writer, &options, s, NULL, &err));
        reel_stream_free(s);
        assert_int_equal(err.code, REEL_UNSUPPORTED);
    }
    struct reel_error err = {0};
    assert_ptr_equal(reel_writer_named(".tide", NULL, &err), &reel_writer_tide);
    assert_ptr_equal(reel_writer_named(".tide", "0.0", &err), &reel_writer_tide0);
    assert_ptr_equal(reel_writer_named(".tide", "2.0", &err), &reel_writer_tide2);
    assert_null(reel_writer_named(".tide", "3.0", &err));
    struct reel_schema huge = {
        .name = "", .encoding = "", .hash = "", .data = bytes_of(l.data, REEL_SCHEMA_MAX + 1)}; /* only its size is
                                                                                                   looked at */
    struct reel_channel c = {.name = "/a", .type = "", .encoding = "", .schemas = &huge, .n_schemas = 1};
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    assert_false(reel_writer_tide.accepts(&c, loss));
}

/* ---- the notes in the source config ---- */

static void check_notes(const struct reel_channel *c, bool relative) {
    struct arena arena = {0};
    struct reel_channel back;
    struct tide_fields f = {.format = bytes_text("onetwo")};
    bool is_relative = !relative;
    assert_true(tide_reel_write(&arena, c, NULL, relative, &f.config));
    assert_int_equal(tide_reel_read(&arena, false, &f, NULL, &back, &is_relative), TIDE_REEL_READ);
    assert_int_equal(is_relative, relative);
    assert_true(tide_channel_same(c, &back));
    struct reel_bytes whole = f.config;
    for (size_t size = 0; size < whole.size; size++) { /* nothing but the whole is taken */
        AUTO_MEM uint8_t *exact = malloc(size + 1);
        memcpy(exact, whole.data, size);
        f.config = bytes_of(exact, size);
        assert_int_equal(tide_reel_read(&arena, false, &f, NULL, &back, &is_relative), TIDE_REEL_OTHER);
    }
    arena_free(&arena);
}

static void notes_give_a_channel_back(void **state) {
    (void)state;
    static struct reel_schema schemas[] = {
        {.name = "A", .encoding = "e\"\\", .hash = "00", .data = {(const uint8_t *)"one", 3}},
        {.name = "", .encoding = "", .hash = "", .data = {(const uint8_t *)"", 0}},
        {.name = "C", .encoding = "x", .hash = "", .data = {(const uint8_t *)"two", 3}}};
    static struct reel_pair pairs[] = {{"key", "line\nline\t\x01\x1f"}, {"key", "\xc3\xbc \\xff \"]}}"}, {"", ""}};
    static const char *const topics[] = {"frame", "state"};
    struct reel_channel c = {.name = "frame+state", .type = "t", .encoding = "nanover", .latched = true};
    check_notes(&c, false);
    c.topics = topics;
    c.n_topics = 2;
    c.schemas = schemas;
    c.n_schemas = 3;
    c.metadata = (struct reel_pairs){pairs, 3};
    check_notes(&c, true);
}

static void sha1_is_sha1(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint8_t sum[4]; /* its first bytes */
    } known[] = {{"", {0xda, 0x39, 0xa3, 0xee}},
                 {"abc", {0xa9, 0x99, 0x3e, 0x36}},
                 {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", {0x84, 0x98, 0x3e, 0x44}}};
    uint8_t sum[DIGEST_SHA1];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        digest_of(DIGEST_SHA1, bytes_text(known[i].text), sum);
        assert_memory_equal(sum, known[i].sum, 4);
    }
    AUTO_MEM uint8_t *million = malloc(1000000);
    memset(million, 'a', 1000000);
    digest_of(DIGEST_SHA1, bytes_of(million, 1000000), sum);
    static const uint8_t last[] = {0xdb, 0xad, 0x27, 0x31, 0x65, 0x34, 0x01, 0x6f};
    assert_memory_equal(sum, "\x34\xaa\x97\x3c\xd4\xc4", 6);
    assert_memory_equal(sum + 6, "\xda\xa4\xf6\x1e\xeb\x2b", 6);
    assert_memory_equal(sum + 12, last, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recorders_log_comes_out_byte_for_byte),
        cmocka_unit_test(every_target_gives_the_log_back),
        cmocka_unit_test(there_and_back_through_the_other_version),
        cmocka_unit_test(rows_keep_every_type_and_a_lost_hash_is_made_anew),
        cmocka_unit_test(ros_channels_come_back_as_they_were),
        cmocka_unit_test(definitions_become_one_type_each),
        cmocka_unit_test(names_in_the_file_are_unique_and_short),
        cmocka_unit_test(compressing_libraries_enter_the_etag),
        cmocka_unit_test(ids_are_kept_where_they_are_free),
        cmocka_unit_test(many_chunks),
        cmocka_unit_test(a_cut_and_an_empty_cut),
        cmocka_unit_test(what_is_not_written_is_refused),
        cmocka_unit_test(notes_give_a_channel_back),
        cmocka_unit_test(sha1_is_sha1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
