/* Summarys of ROS bags 1.2: what the in-file index tells is what a scan finds, or is refused; and little is read of
 * large bags. */
#include "makers/mira_render.h"
#include "makers/summary_check.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "index/sample.h"

#define FLOAT_MD5 "fdb28210bfa9d7c91146260178d9a584"
#define T0 1500000000u

/* A bag being made, with what its index will contain. */
struct bag {
    struct maker m;
    struct {
        const char *name;
        struct make_entry places[64];
        uint32_t count;
    } topics[4];
    size_t index_pos;
};
static void free_bag(struct bag *b) {
    free(b->m.data);
}
#define BAG __attribute__((cleanup(free_bag))) struct bag

static void begin(struct bag *b) {
    make_text(&b->m, MAKE_LINE);
    b->index_pos = make_file_header(&b->m, 0, 4066);
}
/* Where the entry points need not be where the message is. */
static void note(struct bag *b, const char *topic, uint32_t sec, uint64_t pos) {
    unsigned i = 0;
    while (b->topics[i].name && strcmp(b->topics[i].name, topic) != 0) {
        i++;
    }
    b->topics[i].name = topic;
    b->topics[i].places[b->topics[i].count++] = (struct make_entry){sec, 0, pos};
}
static void message(struct bag *b, const char *topic, const char *caller, uint32_t sec) {
    note(b, topic, sec, make_message_of(&b->m, topic, MAKE_MD5, MAKE_TYPE, caller, sec, 0, "payload", 7));
}
static void finish(struct bag *b) {
    make_patch(&b->m, b->index_pos, b->m.size, 8);
    for (unsigned i = 0; i < 4 && b->topics[i].name; i++) {
        make_index(&b->m, b->topics[i].name, 0, b->topics[i].places, b->topics[i].count);
    }
}

static void assert_same(const struct maker *m) {
    AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(m->data, m->size));
    INDEX *summary = summary_like_scan(&source, 1, &reel_format_rosbag_v1);
    assert_non_null(summary);
}
static void assert_refused(const struct maker *m, const char *text) {
    AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(m->data, m->size));
    summary_source_refused(source, &reel_format_rosbag_v1, text);
}

static void contents_of_a_summary(void **state) {
    (void)state;
    size_t records[10];
    MAKER m = make_ten(records);
    AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(m.data, m.size));
    struct reel_error err;
    INDEX *summary = summary_try(&source, 1, &reel_format_rosbag_v1, &err);
    assert_non_null(summary);
    const struct reel_index_info *info = reel_index_info(summary);
    assert_string_equal(info->container, "#ROSRECORD V1.2");
    assert_int_equal(info->clock, REEL_CLOCK_WALL);
    assert_int_equal(info->messages, 10);
    assert_int_equal(info->n_channels, 2);
    assert_int_equal(info->start_ns, 1000000000000000000);
    assert_int_equal(info->end_ns, 1000000009000000009);
    assert_string_equal(reel_index_channel(summary, 1)->name, "/b");
    assert_true(bytes_is(reel_index_channel(summary, 1)->schemas[0].data, MAKE_DEF));
    assert_int_equal(reel_index_stats(summary, 1)->first_ns, 1000000001000000001);
    assert_int_equal(info->n_findings_total, 0);
    assert_same(&m);
}

/* Few messages of a topic are all looked at, of more only some: both give the nodes, when a message says that it has
 * one. */
static void a_channel_is_also_a_node(void **state) {
    (void)state;
    for (uint32_t n = 4; n <= 40; n += 18) {
        BAG b = {0};
        begin(&b);
        make_definition(&b.m, "/rosout");
        for (uint32_t i = 0; i < n; i++) {
            const char *const callers[] = {"/a", "/b", i == n - 2 ? "/rare" : NULL};
            message(&b, "/rosout", callers[i % 3], T0 + i);
            if (i == 2) {
                size_t at = make_definition(&b.m, "/tf");
                make_message(&b.m, "/tf", T0 + 2, 0, "x");
                note(&b, "/tf", T0 + 2, at);
            }
        }
        finish(&b);
        assert_same(&b.m);
        AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(b.m.data, b.m.size));
        struct reel_error err;
        INDEX *summary = summary_try(&source, 1, &reel_format_rosbag_v1, &err);
        assert_int_equal(reel_index_info(summary)->n_channels, n == 4 ? 4 : 5);
    }
}

static void disorder_simulated_time_and_header_fields(void **state) {
    (void)state;
    BAG b = {0};
    make_text(&b.m, MAKE_LINE);
    size_t record = make_record(&b.m);
    b.index_pos = b.m.size + 4 + strlen("index_pos=");
    make_field_number(&b.m, "index_pos", 0, 8);
    make_field_number(&b.m, "op", 3, 1);
    make_field_text(&b.m, "robot", "r2");
    make_data(&b.m, record, "", 0);
    make_definition(&b.m, "/a");
    message(&b, "/a", NULL, 30);
    for (uint32_t i = 0; i < 12; i++) {
        message(&b, "/a", NULL, 20 - i);
    }
    finish(&b);
    assert_same(&b.m);
    AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(b.m.data, b.m.size));
    struct reel_error err;
    INDEX *summary = summary_try(&source, 1, &reel_format_rosbag_v1, &err);
    assert_int_equal(reel_index_info(summary)->clock, REEL_CLOCK_RELATIVE);
    assert_int_equal(reel_index_info(summary)->start_ns, INT64_C(9000000000));
    assert_int_equal(reel_index_info(summary)->end_ns, INT64_C(30000000000));
    assert_string_equal(reel_index_metadata(summary)->items[0].key, "robot");
}

/* Where the entries do not point at definitions they are found between the messages. */
static void definitions_are_found(void **state) {
    (void)state;
    BAG b = {0};
    begin(&b);
    size_t record = make_record(&b.m); /* one for all of its type */
    make_field_text(&b.m, "def", "string data # shared\n");
    make_field_text(&b.m, "md5", MAKE_MD5);
    make_field_number(&b.m, "op", 1, 1);
    make_field_text(&b.m, "type", MAKE_TYPE);
    make_data(&b.m, record, "", 0);
    for (uint32_t i = 0; i < 20; i++) {
        message(&b, "/shared", NULL, T0 + i);
    }
    make_definition(&b.m, "/own");
    message(&b, "/own", NULL, T0);
    for (uint32_t i = 0; i < 3; i++) { /* the topic changes its type */
        make_definition_of(&b.m, "/own", FLOAT_MD5, "std_msgs/Float64", "float64 data\n");
        note(&b, "/own", T0 + i,
             make_message_of(&b.m, "/own", FLOAT_MD5, "std_msgs/Float64", NULL, T0 + i, 0, "12345678", 8));
    }
    make_definition(&b.m, "/unused");
    finish(&b);
    assert_same(&b.m);
    AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(b.m.data, b.m.size));
    struct reel_error err;
    INDEX *summary = summary_try(&source, 1, &reel_format_rosbag_v1, &err);
    assert_int_equal(reel_index_info(summary)->n_channels, 4);
    assert_true(bytes_is(reel_index_channel(summary, 0)->schemas[0].data, "string data # shared\n"));
    assert_true(bytes_is(reel_index_channel(summary, 2)->schemas[0].data, "float64 data\n"));
    assert_string_equal(reel_index_channel(summary, 3)->name, "/unused");
}

static void bags_without_messages(void **state) {
    (void)state;
    BAG b = {0};
    begin(&b);
    finish(&b);
    assert_same(&b.m);
}

/* What we write ourselves: channels of another format are stored in wrappers, distinguished by a number. */
static void bags_of_foreign_channels(void **state) {
    (void)state;
    TAPE t;
    tape_begin(&t, &tape_default);
    for (int i = 0; i < 60; i++) {
        const char text[] = {'m', (char)('0' + i), 0};
        tape_put(&t, i % 5 == 4 ? "/b" : "/a", "T", i, i % 2 ? "/f" : "/g", (uint32_t)i, TAPE_PLAIN, text, 2);
    }
    tape_finish(&t);
    RECORDING *r = bag_scan(&t.m);
    const struct reel_write_options options = {.compression = ""};
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *s = stream_of(r, &selection_all);
    AUTO(reel_plan_free) struct reel_plan *plan = reel_plan_new(&reel_writer_rosbag_v1, &options, s, NULL, &err);
    assert_non_null(plan);
    MAKER out = {.size = reel_plan_length(plan)};
    out.data = malloc(out.size);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *whole = reel_planned_output_new(plan, stream_of(r, &selection_all), &err);
    assert_true(reel_planned_output_read(whole, 0, out.data, out.size, &err));
    assert_same(&out);
}

static void what_does_not_hold_together_is_refused(void **state) {
    (void)state;
    BAG open = {0}, lacks = {0}, twice = {0}, into = {0}, other = {0}, time = {0}, none = {0};
    begin(&open);
    make_definition(&open.m, "/a");
    message(&open, "/a", NULL, T0);
    assert_refused(&open.m, "was not closed");
    begin(&lacks);
    make_definition(&lacks.m, "/a");
    message(&lacks, "/a", NULL, T0);
    make_definition(&lacks.m, "/b");
    make_message(&lacks.m, "/b", T0, 0, "not named");
    finish(&lacks);
    assert_refused(&lacks.m, "lacks the message at");
    begin(&twice);
    make_definition(&twice.m, "/a");
    message(&twice, "/a", NULL, T0);
    note(&twice, "/a", T0, twice.topics[0].places[0].pos);
    finish(&twice);
    assert_refused(&twice.m, "twice");
    begin(&into);
    make_definition(&into.m, "/a");
    message(&into, "/a", NULL, T0);
    note(&into, "/a", T0, into.topics[0].places[0].pos + 1);
    finish(&into);
    assert_refused(&into.m, "");
    begin(&other);
    make_definition(&other.m, "/a");
    message(&other, "/a", NULL, T0);
    other.topics[0].name = "/b";
    finish(&other);
    assert_refused(&other.m, "has another topic");
    begin(&time);
    make_definition(&time.m, "/a");
    for (uint32_t i = 0; i < 20; i++) {
        message(&time, "/a", NULL, T0 + i);
    }
    time.topics[0].places[19].sec++;
    finish(&time);
    assert_refused(&time.m, "another topic or time");
    begin(&none);
    message(&none, "/a", NULL, T0);
    finish(&none);
    assert_refused(&none.m, "its definition is not where");
}

static void index_records_of_nonsense_are_refused(void **state) {
    (void)state;
    size_t records[10];
    MAKER ten = make_ten(records), log = {0}, bare = {0}, far = make_ten(records), far2 = make_ten(records);
    uint64_t index_pos = load_u64le(ten.data + 16 + 18);
    make_patch(&ten, index_pos + 4 + 4 + 6, UINT32_MAX, 4); /* count */
    assert_refused(&ten, "is not part of a known in-file index");
    make_patch(&far, 16 + 18, UINT64_MAX - 5, 8);
    assert_refused(&far, "should begin at");
    make_patch(&far2, far2.size - 8, UINT64_MAX - 5, 8);
    assert_refused(&far2, "where no message can be");
    make_text(&log, "#ROSRECORD V1.1\n");
    assert_refused(&log, "only those of version 1.2");
    make_text(&bare, MAKE_LINE);
    make_message(&bare, "/a", T0, 0, "x");
    assert_refused(&bare, "no file header");
}

static void damaged_bags(void **state) {
    (void)state;
    BAG b = {0};
    begin(&b);
    b.m.size = b.index_pos + 8; /* a file header without its padding, which is not worth the time */
    make_field_number(&b.m, "op", 3, 1);
    make_patch(&b.m, 16, b.m.size - 20, 4);
    make_number(&b.m, 0, 4);
    for (uint32_t i = 0; i < 24; i++) {
        const char *topic = i % 2 ? "/b" : "/a";
        if (i < 2) {
            make_definition(&b.m, topic);
        }
        message(&b, topic, NULL, T0 + i);
    }
    uint64_t from = b.m.size;
    finish(&b);
    assert_same(&b.m);
    summary_of_damaged(bytes_of(b.m.data, b.m.size), from, &reel_format_rosbag_v1);
}

static void files_that_are_there(void **state) {
    (void)state;
    const char *const lying[] = {NULL}; /* their index says something else than their messages */
    struct summarized sum = {0};
    assert_true(summary_folder(REEL_TESTS "/golden/rosbag-1.2", "/input.bag", &reel_format_rosbag_v1, lying, &sum));
    assert_int_equal(sum.damaged, 0);
    sum = (struct summarized){0};
    if (summary_folder(REEL_TESTS "/../../shared/samples/rosbag1", ".bag", &reel_format_rosbag_v1, lying, &sum)) {
        assert_int_equal(sum.same, 6); /* three of ccny, indexed, first_pos_is_message, latched */
        assert_int_equal(sum.refused, 4);
        assert_int_equal(sum.damaged, 0);
    }
}

/* ---- large bags ---- */

static void put_message(struct large *l, const char *topic, uint32_t sec, uint32_t payload) {
    MAKER m = {0};
    make_message(&m, topic, sec, 0, "");
    make_patch(&m, m.size - 4, payload, 4);
    large_put(l, m.data, m.size);
    l->at += payload;
}
static void put_head(struct large *l, uint64_t index_pos) {
    MAKER m = {0};
    l->at = 0;
    make_text(&m, MAKE_LINE);
    make_file_header(&m, index_pos, 4066);
    large_put(l, m.data, m.size);
}

/* 5 topics of 1000 messages of 4 MiB, in turn. */
static void a_bag_of_20_gib(void **state) {
    (void)state;
    enum { TOPICS = 5, COUNT = 1024 };
    static const char *const names[TOPICS] = {"/a", "/b", "/c", "/d", "/e"};
    static struct make_entry places[TOPICS][COUNT];
    const char *path = REEL_SCRATCH "/large.bag";
    struct large l = {.file = fopen(path, "w")};
    put_head(&l, 0);
    for (uint32_t i = 0; i < COUNT * TOPICS; i++) {
        const char *topic = names[i % TOPICS];
        places[i % TOPICS][i / TOPICS] = (struct make_entry){T0 + i, 0, l.at};
        if (i < TOPICS) {
            MAKER d = {0};
            make_definition(&d, topic);
            large_put(&l, d.data, d.size);
        }
        put_message(&l, topic, T0 + i, 4 << 20);
    }
    uint64_t index_pos = l.at;
    for (unsigned t = 0; t < TOPICS; t++) {
        MAKER m = {0};
        make_index(&m, names[t], 0, places[t], COUNT);
        large_put(&l, m.data, m.size);
    }
    put_head(&l, index_pos);
    assert_int_equal(fclose(l.file), 0);
    /* the index, 5 times 8 samples and 4 more looks of 512 bytes, and what windows on the index read again */
    INDEX *summary = large_summary(path, &reel_format_rosbag_v1, TOPICS * (COUNT * 16 + 12 * 512 + 12 * (16 << 10)));
    const struct reel_index_info *info = reel_index_info(summary);
    assert_int_equal(info->messages, COUNT * TOPICS);
    assert_int_equal(info->n_channels, TOPICS);
    assert_int_equal(info->start_ns, T0 * INT64_C(1000000000));
    assert_int_equal(info->end_ns, (T0 + COUNT * TOPICS - 1) * INT64_C(1000000000));
    assert_int_equal(reel_index_stats(summary, 4)->first_ns, (T0 + 4) * INT64_C(1000000000));
    assert_true(bytes_is(reel_index_channel(summary, 4)->schemas[0].data, MAKE_DEF));
    remove(path);
}

/* An index over 16 MiB: of its entries only the first and last are read. */
static void a_bag_with_a_large_index(void **state) {
    (void)state;
    enum { COUNT = 1200000, PAYLOAD = 16 << 10, EDGE = 256, INDEX_FIELDS = 62 };
    const char *path = REEL_SCRATCH "/index.bag";
    struct large l = {.file = fopen(path, "w")};
    MAKER definition = {0}, one = {0}, index = {0};
    put_head(&l, 0);
    make_definition(&definition, "/a");
    make_message(&one, "/a", T0, 0, "");
    const uint64_t start = l.at, first = start + definition.size, step = one.size + PAYLOAD,
                   index_pos = first + COUNT * step;
    large_put(&l, definition.data, definition.size);
    make_index(&index, "/a", 0, NULL, 0);
    make_patch(&index, 4 + 4 + 6, COUNT, 4);
    make_patch(&index, index.size - 4, COUNT * 16u, 4);
    l.at = index_pos;
    large_put(&l, index.data, index.size);
    const uint64_t entries = l.at;
    for (uint32_t k = 0; k < 2 * EDGE + SAMPLE_MESSAGES; k++) {
        bool sampled = k >= 2 * EDGE;
        uint32_t i = sampled ? sample_number(k - 2 * EDGE, COUNT) : k < EDGE ? k : COUNT - 2 * EDGE + k;
        uint8_t entry[16];
        store_u32le(entry, T0 + i);
        store_u32le(entry + 4, 0);
        store_u64le(entry + 8, i == 0 ? start : first + i * step);
        l.at = entries + i * UINT64_C(16);
        large_put(&l, entry, sizeof entry);
        l.at = first + i * step;
        if (sampled) {
            put_message(&l, "/a", T0 + i, PAYLOAD);
        }
    }
    put_head(&l, index_pos);
    assert_int_equal(fclose(l.file), 0);
    INDEX *summary = large_summary(path, &reel_format_rosbag_v1, 1 << 20);
    const struct reel_index_info *info = reel_index_info(summary);
    assert_int_equal(info->messages, COUNT);
    assert_int_equal(info->n_channels, 1);
    assert_int_equal(info->start_ns, T0 * INT64_C(1000000000));
    assert_int_equal(info->end_ns, (T0 + COUNT - 1) * INT64_C(1000000000));
    assert_true(bytes_is(reel_index_channel(summary, 0)->schemas[0].data, MAKE_DEF));
    remove(path);
}

/* 40000 messages of two nodes: to tell how many of each, all had to be looked at. */
static void too_many_messages_of_nodes(void **state) {
    (void)state;
    enum { COUNT = 40000 };
    MAKER m = {0};
    struct make_entry *places = calloc(COUNT, sizeof *places);
    make_text(&m, MAKE_LINE);
    size_t index_pos = make_file_header(&m, 0, 0);
    make_definition(&m, "/rosout");
    for (uint32_t i = 0; i < COUNT; i++) {
        places[i] = (struct make_entry){
            T0 + i, 0, make_message_of(&m, "/rosout", MAKE_MD5, MAKE_TYPE, i % 2 ? "/a" : "/b", T0 + i, 0, "x", 1)};
    }
    make_patch(&m, index_pos, m.size, 8);
    make_index(&m, "/rosout", 0, places, COUNT);
    free(places);
    assert_refused(&m, "determine their nodes");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_of_a_summary),
        cmocka_unit_test(a_channel_is_also_a_node),
        cmocka_unit_test(disorder_simulated_time_and_header_fields),
        cmocka_unit_test(definitions_are_found),
        cmocka_unit_test(bags_without_messages),
        cmocka_unit_test(bags_of_foreign_channels),
        cmocka_unit_test(what_does_not_hold_together_is_refused),
        cmocka_unit_test(index_records_of_nonsense_are_refused),
        cmocka_unit_test(damaged_bags),
        cmocka_unit_test(files_that_are_there),
        cmocka_unit_test(a_bag_of_20_gib),
        cmocka_unit_test(a_bag_with_a_large_index),
        cmocka_unit_test(too_many_messages_of_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
