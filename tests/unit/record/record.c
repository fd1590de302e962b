/* reel/record.h: what is recorded is read back; what was synced outlives the end of the program at any byte, and the
 * recording goes on. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "convert/writer.h"
#include "formats/mcap/record.h"
#include "index/format.h"
#include "reel/open.h"
#include "reel/record.h"
#include "stream/stream.h"

static struct reel_error err;
static uint8_t noise[3 << 20];

static const struct reel_writer *mcap(void) {
    const struct reel_writer *w = reel_writer_named(".mcap", NULL, &err);
    assert_non_null(w);
    return w;
}
static const char *path_of(const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", REEL_SCRATCH, name);
    return path;
}

static struct reel_recorder *start(const char *path, const struct reel_recorder_options *options) {
    if (!options || !options->resume) {
        unlink(path);
    }
    struct reel_recorder *r = reel_recorder_open(path, mcap(), options, &err);
    if (!r) {
        fail_msg("%s", err.text);
    }
    return r;
}
static const struct reel_schema schema = {
    .name = "T", .encoding = "jsonschema", .hash = "", .data = {(const uint8_t *)"{\"type\":\"object\"}", 17}};
static uint32_t add_channel(struct reel_recorder *r, const char *name) {
    uint32_t id;
    const struct reel_channel c = {.name = name,
                                   .topics = &name,
                                   .n_topics = 1,
                                   .type = "T",
                                   .encoding = "json",
                                   .schemas = &schema,
                                   .n_schemas = 1};
    assert_true(reel_recorder_copy_channel(r, &c, &id, &err));
    return id;
}
/* Message `number`: its time, size and bytes follow from the number. */
static struct reel_record message(uint32_t channel, uint32_t number) {
    return (struct reel_record){.size = sizeof(struct reel_record),
                                .channel = channel,
                                .sequence = number,
                                .log_time_ns = 1000000 + (int64_t)number * 10 - (number % 7 == 3 ? 35 : 0),
                                .publish_time_ns = number % 2 ? 7 : 0,
                                .payload = bytes_of(noise + number % 1000, number % 200)};
}
static void put(struct reel_recorder *r, uint32_t channel, uint32_t number) {
    const struct reel_record m = message(channel, number);
    if (!reel_recorder_message(r, &m, &err)) {
        fail_msg("%s", err.text);
    }
}

struct seen {
    uint64_t messages, findings;
    bool has[20000];
};
/* Reads the file back and compares every message with what its number says. */
static void read_back(const char *path, struct seen *seen) {
    AUTO(reel_recording_free) struct reel_recording *recording = reel_recording_open(path, NULL, &err);
    if (!recording) {
        fail_msg("%s", err.text);
    }
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&recording, 1, &selection_all, &err);
    *seen = (struct seen){.messages = info->messages, .findings = info->n_findings_total};
    struct reel_message m;
    while (stream_next(s, &m, &err) == REEL_STEP_MESSAGE) {
        struct reel_description d = {.publish_ns = m.time_ns};
        struct reel_bytes payload;
        assert_true(stream_describe(s, &m, &d, &err) && reel_stream_payload(s, &m, &payload, &err));
        const struct reel_record wanted = message(m.channel, d.sequence);
        assert_true(d.sequence < sizeof seen->has && !seen->has[d.sequence]);
        seen->has[d.sequence] = true;
        assert_int_equal(m.time_ns, wanted.log_time_ns);
        assert_int_equal(d.publish_ns, wanted.publish_time_ns ? wanted.publish_time_ns : wanted.log_time_ns);
        assert_true(bytes_equal(payload, wanted.payload));
        assert_int_equal(s->channels[m.channel]->name[1], 'a' + (char)(d.sequence % 3));
    }
}

static void what_is_recorded_is_read_back(void **state) {
    (void)state;
    static struct seen seen;
    static const char *const compressions[] = {NULL, "zstd", "lz4"};
    for (int i = 0; i < 3; i++) {
        const struct reel_recorder_options options = {
            .size = sizeof options, .compression = compressions[i], .chunk_bytes = 4000};
        struct reel_recorder *r = start(path_of("whole.mcap"), &options);
        uint32_t ids[3] = {add_channel(r, "/a"), add_channel(r, "/b"), 0};
        for (uint32_t n = 0; n < 5000; n++) {
            ids[2] = n == 2 ? add_channel(r, "/c") : ids[2];
            put(r, ids[n % 3], n);
            assert_true(n % 1000 || reel_recorder_sync(r, &err));
        }
        assert_int_equal(reel_recorder_channels(r), 3);
        assert_true(reel_recorder_close(r, &err));
        read_back(path_of("whole.mcap"), &seen);
        assert_int_equal(seen.messages, 5000);
        assert_int_equal(seen.findings, 0); /* the summary, its CRC and every index agree with what the walk finds */
    }
}

static void equal_schemas_are_one(void **state) {
    (void)state;
    const char *path = path_of("schemas.mcap");
    struct reel_recorder *r = start(path, NULL);
    for (int i = 0; i < 300; i++) {
        char name[16];
        snprintf(name, sizeof name, "/c%d", i);
        add_channel(r, name);
    }
    assert_true(reel_recorder_bytes(r) < 300 * 60);
    assert_true(reel_recorder_close(r, &err));
}

static uint8_t *load(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *data = malloc(*size);
    assert_int_equal(fread(data, 1, *size, f), *size);
    fclose(f);
    return data;
}
static void store(const char *path, const uint8_t *data, size_t size) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

enum { ROUNDS = 5, EACH = 7 };

/* Cuts the file at every third byte, as the end of the program would, every other time with zeros behind the cut, as a
 * power failure would.
 */
static void what_was_synced_survives_and_goes_on(void **state) {
    (void)state;
    static struct seen seen;
    char whole[512], cut[512];
    snprintf(whole, sizeof whole, "%s", path_of("killed.mcap"));
    snprintf(cut, sizeof cut, "%s", path_of("cut.mcap"));
    uint64_t synced[ROUNDS];
    struct reel_recorder *r = start(whole, NULL);
    uint32_t ids[3] = {add_channel(r, "/a"), add_channel(r, "/b"), add_channel(r, "/c")};
    uint64_t from = reel_recorder_bytes(r);
    for (uint32_t n = 0; n < ROUNDS * EACH; n++) {
        put(r, ids[n % 3], n);
        if (n % EACH == EACH - 1) {
            assert_true(reel_recorder_sync(r, &err));
            synced[n / EACH] = reel_recorder_bytes(r);
        }
    }
    assert_true(reel_recorder_close(r, &err));
    size_t size;
    AUTO_MEM uint8_t *data = load(whole, &size);
    const struct reel_recorder_options resume = {.size = sizeof resume, .resume = true};
    for (size_t end = (size_t)from; end < size; end += 3) {
        AUTO_MEM uint8_t *copy = calloc(1, end + 5000);
        memcpy(copy, data, end);
        size_t left = end % 2 ? end : end + 100 + end % 3000;
        store(cut, copy, left);
        uint32_t rounds = 0;
        while (rounds < ROUNDS && synced[rounds] <= left && memcmp(copy, data, synced[rounds]) == 0) {
            rounds++;
        }
        r = start(cut, &resume);
        assert_int_equal(reel_recorder_channels(r), 3);
        assert_int_equal(reel_recorder_bytes(r), rounds ? synced[rounds - 1] : from);
        uint32_t more = 15000 + (uint32_t)(end % 3);
        put(r, more % 3, more);
        assert_true(reel_recorder_close(r, &err));
        read_back(cut, &seen);
        assert_int_equal(seen.findings, 0);
        assert_int_equal(seen.messages, rounds * EACH + 1);
        assert_true(seen.has[more]);
        for (uint32_t n = 0; n < rounds * EACH; n++) {
            assert_true(seen.has[n]);
        }
    }
    assert_null(reel_recorder_open(whole, mcap(), &resume, &err));
    assert_int_equal(err.code, REEL_CONFLICT);
}

static void a_damaged_chunk_takes_nothing_after_it(void **state) {
    (void)state;
    const char *path = path_of("flipped.mcap");
    struct reel_recorder *r = start(path, NULL);
    uint32_t id = add_channel(r, "/a");
    uint64_t second = 0;
    for (uint32_t n = 0; n < 30; n += 3) {
        second = n == 6 ? reel_recorder_bytes(r) : second;
        put(r, id, n);
        assert_true(reel_recorder_sync(r, &err));
    }
    uint64_t before = reel_recorder_bytes(r);
    reel_recorder_free(r);
    size_t size;
    AUTO_MEM uint8_t *data = load(path, &size);
    data[second + 60] ^= 1;
    store(path, data, size);
    r = start(path, &(struct reel_recorder_options){.size = sizeof(struct reel_recorder_options), .resume = true});
    assert_int_equal(reel_recorder_bytes(r), before);
    assert_true(reel_recorder_close(r, &err));
}

static void what_cannot_be_recorded_is_refused(void **state) {
    (void)state;
    const char *path = path_of("refused.mcap");
    struct reel_recorder *r = start(path, NULL);
    uint32_t id = add_channel(r, "/a");
    struct reel_record m = message(id, 3);
    m.channel = 1;
    assert_false(reel_recorder_message(r, &m, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    m = message(id, 3);
    m.log_time_ns = -1;
    assert_false(reel_recorder_message(r, &m, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_null(reel_recorder_open(path, mcap(), NULL, &err));
    assert_int_equal(err.code, REEL_CONFLICT);
    assert_null(reel_recorder_open(
        path_of("none.mcap"), mcap(),
        &(struct reel_recorder_options){.size = sizeof(struct reel_recorder_options), .resume = true}, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    const struct reel_recorder_options other = {.size = sizeof other, .compression = "bz2"};
    assert_null(reel_recorder_open(path_of("other.mcap"), mcap(), &other, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_int_not_equal(access(path_of("other.mcap"), F_OK), 0);
    const struct reel_writer *rows = reel_writer_named(".csv", NULL, &err);
    assert_null(reel_recorder_open(path_of("rows.csv"), rows, NULL, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_true(reel_recorder_close(r, &err));
}

/* Its owner would give a live recording up. */
static void what_cannot_be_read_is_not_another_format(void **state) {
    (void)state;
    struct mcap_records walk;
    const char *path = path_of("unreadable.mcap");
    store(path, (const uint8_t *)MCAP_MAGIC, MCAP_MAGIC_SIZE);
    int fd = open(path, O_WRONLY | O_CLOEXEC); /* reading fails */
    assert_false(mcap_records_open(&walk, fd, UINT64_MAX, &err));
    assert_int_equal(err.code, REEL_IO);
    mcap_records_close(&walk);
    close(fd);
}

/* A write that fails leaves the file as it was; what comes later is recorded. */
static void a_full_disk_loses_only_what_did_not_fit(void **state) {
    (void)state;
    static struct seen seen;
    const char *path = path_of("full.mcap");
    struct reel_recorder *r = start(path, NULL);
    uint32_t id = add_channel(r, "/a");
    put(r, id, 0);
    assert_true(reel_recorder_sync(r, &err));
    uint64_t before = reel_recorder_bytes(r);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = before + 40;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    put(r, id, 3);
    assert_false(reel_recorder_sync(r, &err));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(reel_recorder_bytes(r), before);
    put(r, id, 6);
    assert_true(reel_recorder_close(r, &err));
    read_back(path, &seen);
    assert_int_equal(seen.findings, 0);
    assert_int_equal(seen.messages, 2);
    assert_true(seen.has[0] && seen.has[6]);
}

static void a_message_may_be_larger_than_a_chunk(void **state) {
    (void)state;
    const char *path = path_of("large.mcap");
    struct reel_recorder *r = start(path, NULL);
    uint32_t id = add_channel(r, "/a");
    for (int i = 0; i < 3; i++) {
        const struct reel_record m = {
            .size = sizeof m, .channel = id, .log_time_ns = i, .payload = bytes_of(noise, i == 1 ? sizeof noise : 10)};
        assert_true(reel_recorder_message(r, &m, &err));
    }
    assert_true(reel_recorder_close(r, &err));
    AUTO(reel_recording_free) struct reel_recording *recording = reel_recording_open(path, NULL, &err);
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    assert_int_equal(info->messages, 3);
    assert_int_equal(info->largest_payload, sizeof noise);
    assert_int_equal(info->n_findings_total, 0);
}

/* ---- every format that records */

static const char *const formats[][2] = {{".mcap", NULL},  {".bag", "2.0"},  {".bag", "1.2"},
                                         {".tide", "0.0"}, {".tide", "2.0"}, {".tape", NULL}};

static struct reel_recorder *start_as(const char *path, const char *const format[2], const char *compression) {
    const struct reel_writer *w = reel_writer_named(format[0], format[1], &err);
    unlink(path);
    struct reel_recorder *r = reel_recorder_open(
        path, w,
        &(struct reel_recorder_options){.size = sizeof(struct reel_recorder_options), .compression = compression},
        &err);
    if (!r) {
        fail_msg("%s", err.text);
    }
    return r;
}

/* Even numbers on a ROS topic, odd ones on a JSON topic; the number is in the payload. */
static void add_two(struct reel_recorder *r, uint32_t ids[2]) {
    static const struct reel_schema words = {
        .name = "std_msgs/String", .encoding = "ros1msg", .hash = "", .data = {(const uint8_t *)"string data\n", 12}};
    const char *names[] = {"/ros", "/json"};
    const struct reel_channel ros = {.name = names[0],
                                     .topics = &names[0],
                                     .n_topics = 1,
                                     .type = "std_msgs/String",
                                     .encoding = "ros1",
                                     .schemas = &words,
                                     .n_schemas = 1},
                              json = {.name = names[1],
                                      .topics = &names[1],
                                      .n_topics = 1,
                                      .type = "T",
                                      .encoding = "json"};
    assert_true(reel_recorder_copy_channel(r, &ros, &ids[0], &err) &&
                reel_recorder_copy_channel(r, &json, &ids[1], &err));
}
static void put_number(struct reel_recorder *r, const uint32_t ids[2], uint32_t number) {
    uint8_t payload[12] = {8};
    store_u64le(payload + 4, number);
    char text[32];
    int size = snprintf(text, sizeof text, "{\"n\":%u}", number);
    const struct reel_record m = {
        .size = sizeof m,
        .channel = ids[number % 2],
        .log_time_ns = 1700000000000000000 + (int64_t)number * 1000 - (number % 9 == 4 ? 5500 : 0),
        .payload = number % 2 ? bytes_of(text, (size_t)size) : bytes_of(payload, sizeof payload)};
    if (!reel_recorder_message(r, &m, &err)) {
        fail_msg("%s", err.text);
    }
}

/* How many of the messages 0 … n-1 are there, each once and on its topic; *findings of the scan. */
static uint32_t numbers_in(const char *path, uint32_t n, uint64_t *findings) {
    AUTO(reel_recording_free) struct reel_recording *recording = reel_recording_open(path, NULL, &err);
    bool seen[1000] = {0};
    uint32_t count = 0;
    *findings = 0;
    if (!recording) {
        return 0;
    }
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&recording, 1, &selection_all, &err);
    struct reel_message m;
    while (stream_next(s, &m, &err) == REEL_STEP_MESSAGE) {
        struct reel_bytes payload;
        assert_true(reel_stream_payload(s, &m, &payload, &err));
        bool ros = strcmp(s->channels[m.channel]->name, "/ros") == 0;
        uint32_t number =
            ros ? (uint32_t)load_u64le(payload.data + 4) : (uint32_t)strtoul((const char *)payload.data + 5, NULL, 10);
        assert_true(number < n && !seen[number] && (number % 2 == 0) == ros);
        assert_string_equal(s->channels[m.channel]->encoding, ros ? "ros1" : "json");
        seen[number] = true;
        count++;
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_true(seen[i]); /* no gap */
    }
    *findings = reel_index_info(reel_recording_index(recording))->n_findings_total;
    return count;
}

static void every_format_is_clean_when_closed_and_keeps_what_was_synced(void **state) {
    (void)state;
    enum { SYNCS = 6, EVERY = 11 };
    char whole[512], cut[512];
    snprintf(whole, sizeof whole, "%s", path_of("any.whole"));
    snprintf(cut, sizeof cut, "%s", path_of("any.cut"));
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        uint64_t synced[SYNCS], findings;
        uint32_t ids[2];
        struct reel_recorder *r = start_as(whole, formats[f], NULL);
        add_two(r, ids);
        for (uint32_t n = 0; n < SYNCS * EVERY; n++) {
            put_number(r, ids, n);
            if (n % EVERY == EVERY - 1) {
                assert_true(reel_recorder_sync(r, &err));
                synced[n / EVERY] = reel_recorder_bytes(r);
            }
        }
        size_t open_size, size;
        AUTO_MEM uint8_t *unclosed = load(whole, &open_size);
        assert_true(reel_recorder_close(r, &err));
        assert_int_equal(numbers_in(whole, SYNCS * EVERY, &findings), SYNCS * EVERY);
        assert_int_equal(findings, 0);
        AUTO_MEM uint8_t *closed = load(whole, &size);
        for (size_t end = (size_t)synced[0]; end < size; end += 23) { /* the head changes when it is closed: from
                                                                         open_size on it has */
            const uint8_t *from = end <= open_size ? unclosed : closed;
            uint32_t least = 0;
            while (least < SYNCS && synced[least] <= end) {
                least++;
            }
            store(cut, from, end);
            assert_true(numbers_in(cut, SYNCS * EVERY, &findings) >= least * EVERY);
        }
    }
}

static void every_compression_is_read_back(void **state) {
    (void)state;
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        const char *names = reel_writer_named(formats[f][0], formats[f][1], &err)->compressions;
        AUTO_MEM char *list = strdup(names ? names : "");
        for (char *save = NULL, *name = strtok_r(list, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
            uint64_t findings;
            uint32_t ids[2];
            struct reel_recorder *r = start_as(path_of("packed"), formats[f], name);
            add_two(r, ids);
            for (uint32_t n = 0; n < 900; n++) {
                put_number(r, ids, n);
            }
            assert_true(reel_recorder_close(r, &err));
            assert_int_equal(numbers_in(path_of("packed"), 900, &findings), 900);
            assert_int_equal(findings, 0);
        }
    }
}

/* Until it is closed a NanoVer recording is MCAP; then an archive, and never anything between. */
static void a_simulation_is_recorded(void **state) {
    (void)state;
    enum { STATES = 100 };
    const char *path = path_of("a.nanover.zip"), *topic = "state";
    const char *const format[2] = {".nanover.zip", NULL};
    const struct reel_channel states = {
        .name = topic, .topics = &topic, .n_topics = 1, .type = "nanover/state", .encoding = "nanover"};
    struct reel_recorder *r = start_as(path, format, NULL);
    uint32_t id;
    assert_true(reel_recorder_copy_channel(r, &states, &id, &err));
    for (uint8_t n = 0; n < STATES; n++) {
        uint8_t payload[] = "\x81\xa5"
                            "state\x82\xa8"
                            "removals\x90\xa7"
                            "updates\x81\xa1"
                            "n?"; /* removals: none, updates: n */
        payload[sizeof payload - 2] = n;
        const struct reel_record m = {.size = sizeof m,
                                      .channel = id,
                                      .log_time_ns = 1000000 * (1 + n),
                                      .payload = bytes_of(payload, sizeof payload - 1)};
        assert_true(reel_recorder_message(r, &m, &err));
        if (n == 49) { /* and again after the end of the program */
            assert_true(reel_recorder_sync(r, &err));
            reel_recorder_free(r);
            r = reel_recorder_open(
                path, reel_writer_named(format[0], NULL, &err),
                &(struct reel_recorder_options){.size = sizeof(struct reel_recorder_options), .resume = true}, &err);
            assert_non_null(r);
            assert_int_equal(reel_recorder_channels(r), 1);
        }
    }
    for (int closed = 0; closed < 2; closed++) {
        assert_true(closed ? reel_recorder_close(r, &err) : reel_recorder_sync(r, &err));
        AUTO(reel_recording_free) struct reel_recording *recording = reel_recording_open(path, NULL, &err);
        assert_non_null(recording);
        const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
        assert_string_equal(info->format->name, closed ? "nanover" : "mcap");
        assert_int_equal(info->messages, STATES);
        assert_int_equal(info->n_findings_total, closed ? 0 : info->n_findings_total);
        AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&recording, 1, &selection_all, &err);
        struct reel_message m;
        for (uint8_t n = 0; n < STATES; n++) {
            struct reel_bytes payload;
            assert_int_equal(stream_next(s, &m, &err), REEL_STEP_MESSAGE);
            assert_true(reel_stream_payload(s, &m, &payload, &err));
            assert_int_equal(m.time_ns, 1000000 * (1 + n));
            assert_int_equal(payload.data[payload.size - 1], n);
            assert_string_equal(s->channels[m.channel]->name, "state");
        }
    }
    uint32_t ids[2];
    r = start_as(path, format, NULL);
    assert_false(reel_recorder_copy_channel(
        r, &(struct reel_channel){.name = "/a", .topics = &topic, .n_topics = 1, .type = "T", .encoding = "json"},
        &ids[0], &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    reel_recorder_free(r);
}

/* ---- settings */

static void tapes_have_settings(void **state) {
    (void)state;
    enum { MESSAGES = 40, SIZE = 500 };
    static const char *const format[2] = {".tape", NULL};
    const char *path = path_of("settings.tape");
    const struct reel_pair settings[] = {{"block_size", "4096"}, {"compress_topic", "/a*"}, {"compress_from", "100"}};
    struct reel_recorder_options options = {
        .size = sizeof options, .compression = "zlib", .settings = settings, .n_settings = 3};
    const struct reel_writer *tape = reel_writer_named(format[0], format[1], &err);
    uint8_t payload[2][SIZE];
    memset(payload[0], 'a', SIZE);
    memset(payload[1], 'b', SIZE);
    unlink(path);
    struct reel_recorder *r = reel_recorder_open(path, tape, &options, &err);
    assert_non_null(r);
    const uint32_t ids[2] = {add_channel(r, "/a1"), add_channel(r, "/b")};
    for (uint32_t n = 0; n < MESSAGES; n++) {
        struct reel_record m = message(ids[n % 2], n);
        m.payload = bytes_of(payload[n % 2], n == 0 ? 99 : SIZE);
        assert_true(reel_recorder_message(r, &m, &err));
    }
    assert_true(reel_recorder_close(r, &err));
    size_t size;
    AUTO_MEM uint8_t *file = load(path, &size);
    assert_in_range(load_u32le(file + 20), 4, 8); /* blocks */
    assert_null(memmem(file, size, payload[0], SIZE));
    assert_non_null(memmem(file, size, payload[0], 99));
    assert_non_null(memmem(file, size, payload[1], SIZE));
    AUTO(reel_recording_free) struct reel_recording *recording = reel_recording_open(path, NULL, &err);
    assert_int_equal(reel_index_info(reel_recording_index(recording))->messages, MESSAGES);
    assert_int_equal(reel_index_info(reel_recording_index(recording))->n_findings_total, 0);
    assert_int_equal(reel_index_info(reel_recording_index(recording))->largest_payload, SIZE);
}

static void settings_that_are_refused(void **state) {
    (void)state;
    const char *path = path_of("refused");
    const struct reel_pair wrong = {"chunk_size", "4096"}, bad = {"block_size", "1"};
    struct reel_recorder_options options = {.size = sizeof options, .settings = &wrong, .n_settings = 1};
    const struct reel_writer *tape = reel_writer_named(".tape", NULL, &err);
    unlink(path);
    assert_null(reel_recorder_open(path, tape, &options, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    assert_non_null(strstr(err.text, "block_size")); /* those that there are */
    options.settings = &bad;
    assert_null(reel_recorder_open(path, tape, &options, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    assert_null(reel_recorder_open(path, mcap(), &options, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_int_equal(access(path, F_OK), -1);
}

int main(void) {
    for (size_t i = 0; i < sizeof noise; i++) {
        noise[i] = (uint8_t)(i * 31 + i / 257);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_recorded_is_read_back),
        cmocka_unit_test(equal_schemas_are_one),
        cmocka_unit_test(what_was_synced_survives_and_goes_on),
        cmocka_unit_test(a_damaged_chunk_takes_nothing_after_it),
        cmocka_unit_test(what_cannot_be_recorded_is_refused),
        cmocka_unit_test(what_cannot_be_read_is_not_another_format),
        cmocka_unit_test(a_full_disk_loses_only_what_did_not_fit),
        cmocka_unit_test(a_message_may_be_larger_than_a_chunk),
        cmocka_unit_test(every_format_is_clean_when_closed_and_keeps_what_was_synced),
        cmocka_unit_test(every_compression_is_read_back),
        cmocka_unit_test(a_simulation_is_recorded),
        cmocka_unit_test(tapes_have_settings),
        cmocka_unit_test(settings_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
