/* The questions of NanoVer's own tools: moments, resets, changes, energies, frames and single runs. */
#include "makers/nanover_maker.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "formats/nanover/question.h"

/* --- asking --- */

static bool put(void *context, const char *text, size_t size) {
    grow_put(context, text, size);
    return true;
}

struct answer {
    struct grow text;
    unsigned steps;
    size_t longest; /* text of one step */
};

static void answer_done(struct answer *a) {
    free(a->text.data);
}
#define ANSWER __attribute__((cleanup(answer_done))) struct answer

static const char *query(struct answer *a, struct reel_recording *r, const struct reel_nanover_question *q,
                         enum reel_table_form form) {
    struct reel_error err = {0};
    const struct reel_text_sink sink = {.put = put, .context = &a->text};
    bool done = false;
    AUTO(reel_table_text_free) struct reel_table_text *rows = reel_table_text_new(form, &sink, &err);
    AUTO(reel_nanover_free) struct reel_nanover *pass = reel_nanover_open(r, q, reel_table_of_text(rows), &err);
    assert_non_null(pass);
    *a = (struct answer){.text = {.data = a->text.data, .capacity = a->text.capacity}};
    while (!done) {
        size_t before = a->text.size;
        if (!reel_nanover_step(pass, &done, &err)) {
            fail_msg("%s", err.text);
        }
        a->steps++;
        a->longest = a->text.size - before > a->longest ? a->text.size - before : a->longest;
    }
    grow_put(&a->text, "", 1);
    return (const char *)a->text.data;
}

static void assert_answer(struct reel_recording *r, enum reel_nanover_topic topic, enum reel_table_form form,
                          const char *want) {
    ANSWER a = {.steps = 0};
    assert_string_equal(query(&a, r, &(struct reel_nanover_question){.topic = topic}, form), want);
}

/* The bytes, and the JSON of them. */
static void assert_moment(struct reel_recording *r, enum reel_nanover_part part, int64_t time_ns, const char *text,
                          const char *json) {
    struct reel_error err = {0};
    AUTO_MEM uint8_t *data = NULL;
    AUTO_MEM char *got = NULL;
    size_t size, got_size;
    if (!reel_nanover_moment(r, part, time_ns, &data, &size, &err) ||
        !reel_nanover_json(bytes_of(data, size), &got, &got_size, &err)) {
        fail_msg("%s", err.text);
    }
    assert_picture(bytes_of(data, size), text);
    assert_int_equal(got_size, strlen(json) + 1);
    assert_memory_equal(got, json, got_size - 1);
    assert_int_equal(got[got_size - 1], '\n');
}

/* --- moments --- */

static void a_moment_is_what_messages_add_up_to(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_default(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    assert_moment(r, REEL_NANOVER_FRAME, 4999, "{'frame' {}}", "{\"frame\":{}}");
    assert_moment(r, REEL_NANOVER_STATE, 999999, "{'state' {'updates' {} 'removals' []}}",
                  "{\"state\":{\"updates\":{},\"removals\":[]}}");
    assert_moment(r, REEL_NANOVER_FRAME, 2000000,
                  "{'frame' {'frame.index' 0 'particle.positions' " ASIDE
                  " 'particle.count' 1 'system.simulation.name' 'one'}}",
                  "{\"frame\":{\"frame.index\":0,\"particle.positions\":[[1,1,1]],\"particle.count\":1,\"system."
                  "simulation.name\":\"one\"}}");
    assert_moment(r, REEL_NANOVER_FRAME, 4000000,
                  "{'frame' {'frame.index' 0 'particle.count' 1 'particle.positions' " ORIGIN "}}",
                  "{\"frame\":{\"frame.index\":0,\"particle.count\":1,\"particle.positions\":[[0,0,0]]}}");
    assert_moment(r, REEL_NANOVER_STATE, 1000000, "{'state' {'updates' {'scene' [1 2] 'gone' n} 'removals' []}}",
                  "{\"state\":{\"updates\":{\"scene\":[1,2],\"gone\":null},\"removals\":[]}}");
    assert_moment(r, REEL_NANOVER_STATE, INT64_MAX, "{'state' {'updates' {'user' 'y' 'scene' [1 2]} 'removals' []}}",
                  "{\"state\":{\"updates\":{\"user\":\"y\",\"scene\":[1,2]},\"removals\":[]}}");
}

/* Before any reset frame.index is the last frame's, after one it is 0; no frame.index is invented. */
static void frame_index_is_that_of_the_frames(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_add(&m, "{'frame' {'a' 1}}", "{'types' ['frame'] 'timestamp' 1}");
    maker_add(&m, "{'frame' {'frame.index' 2019 'b' 1}}", "{'types' ['frame'] 'frame.index' 2019 'timestamp' 2}");
    maker_add(&m, "{'frame' {'frame.index' 2020}}", "{'types' ['frame'] 'frame.index' 2020 'timestamp' 3}");
    maker_add(&m, "{'frame' {'frame.index' 0}}", "{'types' ['frame'] 'frame.index' 0 'timestamp' 4}");
    maker_add(&m, "{'frame' {'frame.index' 1 'c' 1}}", "{'types' ['frame'] 'frame.index' 1 'timestamp' 5}");
    RECORDING *r = nanover_read(maker_finish(&m));
    assert_moment(r, REEL_NANOVER_FRAME, 1000, "{'frame' {'a' 1}}", "{\"frame\":{\"a\":1}}");
    assert_moment(r, REEL_NANOVER_FRAME, 3000, "{'frame' {'frame.index' 2020 'b' 1 'a' 1}}",
                  "{\"frame\":{\"frame.index\":2020,\"b\":1,\"a\":1}}");
    assert_moment(r, REEL_NANOVER_FRAME, 4000, "{'frame' {'frame.index' 0}}", "{\"frame\":{\"frame.index\":0}}");
    assert_moment(r, REEL_NANOVER_FRAME, 5000, "{'frame' {'frame.index' 0 'c' 1}}",
                  "{\"frame\":{\"frame.index\":0,\"c\":1}}");
}

/* In a file of another format a message that says it is NanoVer's may be anything. */
static bool load_odd(void *context, struct reel_reader *reader, const struct reel_entry *entry, struct reel_bytes *out,
                     struct reel_error *err) {
    if (entry->time_ns == *(const int64_t *)context) {
        *out = bytes_text("nothing of the kind");
        return true;
    }
    return reel_reader_payload(reader, entry, out, err);
}
static bool read_no_keys(void *context, struct reel_reader *reader, struct reel_entry *entry, struct reel_error *err) {
    (void)context;
    (void)reader;
    (void)err;
    entry->extra[0] &= 1;
    return true;
}

static void what_is_no_message_is_passed_over(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_default(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    struct reel_error err = {0};
    const bool wanted[] = {true, true, true};
    int64_t odd_ns = 3000000;
    AUTO(reel_reader_free) struct reel_reader *reader = reel_reader_new(r, &err);
    struct nanover_sum scanned = {.state = true, .load = load_odd, .context = &odd_ns}, unscanned = scanned;
    assert_false(nanover_sum_at(&scanned, reader, 3500000, wanted, &err));
    assert_int_equal(err.code, REEL_CHANGED);
    assert_null(scanned.data);
    unscanned.read_entry = read_no_keys;
    assert_true(nanover_sum_at(&unscanned, reader, 3500000, wanted, &err));
    assert_picture(bytes_of(unscanned.data, unscanned.size),
                   "{'state' {'updates' {'scene' [1 2] 'gone' n} 'removals' []}}");
    free(unscanned.data);
}

/* --- rows --- */

static void resets_begin_runs(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_add(&m, "{'state' {'updates' {} 'removals' []}}", "{'types' ['state'] 'timestamp' 1}");
    maker_add(&m, "{'frame' {'frame.index' 9}}", "{'types' ['frame'] 'frame.index' 9 'timestamp' 2}");
    maker_add(&m, "{'frame' {'frame.index' 0}}", "{'types' ['frame'] 'frame.index' 0 'timestamp' 1000000}");
    maker_add(&m, "{'frame' {'system.simulation.name' 'late, but told' 'system.simulation.counter' 4}}",
              "{'types' ['frame'] 'timestamp' 1000001}");
    maker_add(&m, "{'state' {'updates' {'x' 1} 'removals' []}}", "{'types' ['state'] 'timestamp' 1500000}");
    maker_add(&m, "{'frame' {'frame.index' 0 'system.simulation.counter' 5.5}}",
              "{'types' ['frame'] 'frame.index' 0 'timestamp' 3000000}");
    RECORDING *r = nanover_read(maker_finish(&m));
    assert_answer(r, REEL_NANOVER_RESETS, REEL_TABLE_CSV,
                  "run,time,time_ns,index,messages,frames,duration_s,simulation_counter,simulation_name\r\n"
                  "1,1.000000000,1000000000,2,3,2,2,4,\"late, but told\"\r\n"
                  "2,3.000000000,3000000000,5,1,1,0,5.5,\r\n");
    MAKER none = {.count = 0};
    maker_add(&none, "{'frame' {'a' 1}}", "{'types' ['frame'] 'timestamp' 1}");
    RECORDING *without = nanover_read(maker_finish(&none));
    assert_answer(without, REEL_NANOVER_RESETS, REEL_TABLE_JSON, "[\n]\n");
}

static void changes_are_reported_key_by_key(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_default(&m);
    maker_add(&m, "{'state' {'updates' {7 1 'avatar.a' {'name' 'ada'}} 'removals' ['user' 8 'absent']}}",
              "{'types' ['state'] 'timestamp' 6000}");
    RECORDING *r = nanover_read(maker_finish(&m));
    assert_answer(r, REEL_NANOVER_CHANGES, REEL_TABLE_NDJSON,
                  "{\"time\":\"0.001000000\",\"key\":\"scene\",\"value\":[1,2],\"removed\":false}\n"
                  "{\"time\":\"0.001000000\",\"key\":\"gone\",\"value\":null,\"removed\":false}\n"
                  "{\"time\":\"0.003000000\",\"key\":\"user\",\"value\":\"x\",\"removed\":false}\n"
                  "{\"time\":\"0.003000000\",\"key\":\"gone\",\"value\":null,\"removed\":true}\n"
                  "{\"time\":\"0.004000000\",\"key\":\"user\",\"value\":\"y\",\"removed\":false}\n"
                  "{\"time\":\"0.006000000\",\"key\":\"avatar.a\",\"value\":{\"name\":\"ada\"},\"removed\":false}\n"
                  "{\"time\":\"0.006000000\",\"key\":\"user\",\"value\":null,\"removed\":true}\n"
                  "{\"time\":\"0.006000000\",\"key\":\"absent\",\"value\":null,\"removed\":true}\n");
    ANSWER a = {.steps = 0};
    char glob[] = "avatar.*", other[] = "g?ne";
    const char *const keys[] = {glob, other};
    struct reel_selection late = selection_all;
    late.start_ns = 2000000;
    const struct reel_nanover_question q = {
        .topic = REEL_NANOVER_CHANGES, .keys = keys, .n_keys = 2, .selection = &late};
    assert_string_equal(query(&a, r, &q, REEL_TABLE_CSV),
                        "time,key,value,removed\r\n"
                        "0.003000000,gone,,true\r\n"
                        "0.006000000,avatar.a,\"{\"\"name\"\":\"\"ada\"\"}\",false\r\n");
}

/* A message of a thousand keys is no thousand rows at once. */
static void a_long_message_is_sent_in_pieces(void **state) {
    (void)state;
    enum { KEYS = 1000 };
    MAKER m = {.count = 0};
    msgpack_packer pk;
    msgpack_packer_init(&pk, &m.messages, msgpack_sbuffer_write);
    picture_value(&pk, "'x'"); /* bytes that no entry means */
    size_t begin = m.messages.size;
    msgpack_pack_map(&pk, 1);
    picture_value(&pk, "'state'");
    msgpack_pack_map(&pk, 1);
    picture_value(&pk, "'updates'");
    msgpack_pack_map(&pk, KEYS);
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        int n = snprintf(key, sizeof key, "k%d", i);
        msgpack_pack_str_with_body(&pk, key, (size_t)n);
        msgpack_pack_int(&pk, i);
    }
    maker_entry(&m, begin, m.messages.size - begin, "{'types' ['state'] 'timestamp' 1}");
    RECORDING *r = nanover_read(maker_finish(&m));
    ANSWER a = {.steps = 0};
    const char *text = query(&a, r, &(struct reel_nanover_question){.topic = REEL_NANOVER_CHANGES}, REEL_TABLE_NDJSON);
    unsigned rows = 0;
    for (const char *p = text; (p = strchr(p, '\n')); p++) {
        rows++;
    }
    assert_int_equal(rows, KEYS);
    assert_non_null(strstr(text, "\"key\":\"k999\",\"value\":999,"));
    assert_true(a.steps >= 5);
    assert_true(a.longest < strlen(text) / 3);
}

static void energies_frame_by_frame(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_add(&m, "{'frame' {'frame.index' 0 'system.simulation.time' 0.5}}",
              "{'types' ['frame'] 'frame.index' 0 'timestamp' 0}");
    maker_add(
        &m,
        "{'frame' {'energy.kinetic' 1 'energy.potential' 2.5 'energy.user.total' 100.0 'system.simulation.time' 1.5}}",
        "{'types' ['frame'] 'timestamp' 500000}");
    maker_add(&m, "{'frame' {'energy.kinetic' 1.5 'energy.potential' 2.5 'energy.total' 7.25}}",
              "{'types' ['frame'] 'timestamp' 1000000}");
    maker_add(&m, "{'frame' {'energy.potential' 'none' 'system.temperature' 300.5 'forces.user.work_done' 0.25}}",
              "{'types' ['frame'] 'timestamp' 1500000}");
    maker_add(&m, "{'state' {'updates' {'energy.kinetic' 1} 'removals' []}}",
              "{'types' ['state'] 'timestamp' 1600000}");
    RECORDING *r = nanover_read(maker_finish(&m));
    assert_answer(r, REEL_NANOVER_ENERGIES, REEL_TABLE_CSV,
                  "time_s,simulation_time_ps,kinetic_kj_mol,potential_kj_mol,total_kj_mol,user_kj_mol,work_done_kj_mol,"
                  "temperature_k\r\n"
                  "0.5,1.5,1,2.5,3.5,100,,\r\n"
                  "1,,1.5,2.5,7.25,,,\r\n"
                  "1.5,,,,,,0.25,300.5\r\n");
    ANSWER a = {.steps = 0};
    struct reel_selection sampled = selection_all;
    sampled.start_ns = 500000000;
    sampled.every_ns = 1000000000;
    const struct reel_nanover_question q = {.topic = REEL_NANOVER_ENERGIES, .selection = &sampled};
    assert_non_null(strstr(query(&a, r, &q, REEL_TABLE_CSV), "_k\r\n0.5,1.5,1,2.5,3.5,100,,\r\n1.5,"));
}

static void frames_say_what_they_have(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_add(&m, "{'frame' {'frame.index' 0 'particle.count' 2 'say \"it\"' 1}}",
              "{'types' ['frame'] 'frame.index' 0 'timestamp' 0}");
    maker_add(&m,
              "{'frame' {'frame.index' 1 'energy.kinetic' 1 'energy.potential' 2.5 'system.simulation.time' 1.5 7 8}}",
              "{'types' ['frame'] 'frame.index' 1 'timestamp' 500000}");
    maker_add(&m, "{'state' {'updates' {'energy.kinetic' 1} 'removals' []}}", "{'types' ['state'] 'timestamp' 600000}");
    maker_add(&m, "{'frame' {}}", "{'types' ['frame'] 'timestamp' 700000}");
    RECORDING *r = nanover_read(maker_finish(&m));
    assert_answer(
        r, REEL_NANOVER_FRAMES, REEL_TABLE_CSV,
        "time,frame_index,reset,particles,simulation_time_ps,kinetic_kj_mol,potential_kj_mol,total_kj_mol,user_kj_mol,"
        "work_done_kj_mol,"
        "temperature_k,keys\r\n"
        "0.000000000,0,true,2,,,,,,,,\"[\"\"frame.index\"\",\"\"particle.count\"\",\"\"say \\\"\"it\\\"\"\"\"]\"\r\n"
        "0.500000000,1,false,,1.5,1,2.5,3.5,,,,"
        "\"[\"\"frame.index\"\",\"\"energy.kinetic\"\",\"\"energy.potential\"\",\"\"system.simulation.time\"\"]\"\r\n"
        "0.700000000,,false,,,,,,,,,[]\r\n");
    ANSWER a = {.steps = 0};
    struct reel_selection late = selection_all;
    late.start_ns = 600000000;
    const struct reel_nanover_question q = {.topic = REEL_NANOVER_FRAMES, .selection = &late};
    assert_string_equal(
        query(&a, r, &q, REEL_TABLE_NDJSON),
        "{\"time\":\"0.700000000\",\"frame_index\":null,\"reset\":false,\"particles\":null,\"simulation_time_ps\":null,"
        "\"kinetic_kj_mol\":null,\"potential_kj_mol\":null,\"total_kj_mol\":null,\"user_kj_mol\":null,\"work_done_kj_"
        "mol\":null,"
        "\"temperature_k\":null,\"keys\":[]}\n");
}

static bool refuse_row(void *context, const struct reel_cell *cells, unsigned n) {
    (void)cells;
    (void)n;
    return --*(int *)context > 0;
}
static bool take_columns(void *context, const char *const *names, unsigned n) {
    (void)context;
    return names && n > 0;
}
static bool take_end(void *context) {
    (void)context;
    return true;
}

static void the_visitor_can_stop(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_default(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    struct reel_error err = {0};
    int wanted = 2;
    bool done = false, good = true;
    const struct reel_table table = {take_columns, refuse_row, take_end, &wanted};
    AUTO(reel_nanover_free)
    struct reel_nanover *pass =
        reel_nanover_open(r, &(struct reel_nanover_question){.topic = REEL_NANOVER_CHANGES}, &table, &err);
    while (good && !done) {
        good = reel_nanover_step(pass, &done, &err);
    }
    assert_false(good);
    assert_int_equal(err.code, REEL_CANCELLED);
    assert_int_equal(wanted, 0);
}

/* --- runs --- */

static bool select_run(struct reel_recording *r, uint64_t run, struct reel_selection *q,
                       struct reel_write_options *options, struct reel_error *err) {
    *q = selection_all;
    *options = (struct reel_write_options){.compression = ""};
    *err = (struct reel_error){0};
    return reel_nanover_run(r, run, q, options, err);
}

static void a_run_begins_with_all_there_is(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_default(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    struct reel_selection q;
    struct reel_write_options options;
    struct reel_error err;
    struct reel_message message;
    assert_true(select_run(r, 2, &q, &options, &err));
    assert_true(options.is_cut);
    assert_int_equal(options.start_ns, 4000000);
    AUTO(reel_stream_free) struct reel_stream *second = open_stream(r, &q);
    assert_picture(next_payload(second, &message),
                   "{'frame' {'frame.index' 0 'particle.count' 1 'particle.positions' " ORIGIN
                   "} 'state' {'updates' {'user' 'y' 'scene' [1 2]} 'removals' []}}");
    assert_true(message.before_start);
    assert_picture(next_payload(second, &message),
                   "{'frame' {'frame.index' 1 'particle.positions' " ASIDE " 'energy.potential' 1.5}}");
    assert_null(next_payload(second, &message).data);
    assert_true(select_run(r, 1, &q, &options, &err));
    AUTO(reel_stream_free) struct reel_stream *first = open_stream(r, &q);
    assert_picture(next_payload(first, &message),
                   "{'frame' {'frame.index' 0 'particle.count' 1 'particle.positions' " ORIGIN
                   " 'system.simulation.name' 'one'}}");
    for (int i = 0; i < 3; i++) {
        assert_non_null(next_payload(first, &message).data);
    }
    assert_int_equal(message.time_ns, 3000000);
    assert_null(next_payload(first, &message).data);
}

static void runs_that_are_none(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_default(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    struct reel_selection q;
    struct reel_write_options options;
    struct reel_error err;
    assert_false(select_run(r, 3, &q, &options, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    assert_non_null(strstr(err.text, "2 resets"));
    assert_false(select_run(r, 0, &q, &options, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    MAKER twice = {.count = 0};
    maker_add(&twice, "{'frame' {'frame.index' 7}}", "{'types' ['frame'] 'frame.index' 7 'timestamp' 3}");
    maker_add(&twice, "{'frame' {'frame.index' 0}}", "{'types' ['frame'] 'frame.index' 0 'timestamp' 5}");
    maker_add(&twice, "{'frame' {'frame.index' 0 'a' 1}}", "{'types' ['frame'] 'frame.index' 0 'timestamp' 5}");
    RECORDING *t = nanover_read(maker_finish(&twice));
    assert_false(select_run(t, 1, &q, &options, &err));
    assert_non_null(strstr(err.text, "same instant"));
    assert_true(select_run(t, 2, &q, &options, &err));
    assert_true(select_run(t, 0, &q, &options, &err));
    assert_int_equal(q.start_ns, REEL_TIME_MIN);
    assert_int_equal(q.end_ns, 5000);
    assert_int_equal(options.start_ns, 3000);
    assert_false(q.state_at_cut);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moment_is_what_messages_add_up_to),
        cmocka_unit_test(frame_index_is_that_of_the_frames),
        cmocka_unit_test(what_is_no_message_is_passed_over),
        cmocka_unit_test(resets_begin_runs),
        cmocka_unit_test(changes_are_reported_key_by_key),
        cmocka_unit_test(a_long_message_is_sent_in_pieces),
        cmocka_unit_test(energies_frame_by_frame),
        cmocka_unit_test(frames_say_what_they_have),
        cmocka_unit_test(the_visitor_can_stop),
        cmocka_unit_test(a_run_begins_with_all_there_is),
        cmocka_unit_test(runs_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
