/* Fuzzes the decoder of CARLA packets and the answers to CARLA's questions. The first byte selects: 0 … 254 a payload
 * of that packet, in the layout that the second byte names; 255 a log that every report is made of. Nothing may crash,
 * and the output must be JSON that ends. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "formats/carla/question.h"
#include "fuzz_scan.h"
#include "makers/tables.h"
#include "syntax/json_out.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode_one(uint8_t id, uint8_t layout, struct reel_bytes payload) {
    char packet[4];
    snprintf(packet, sizeof packet, "%u", id);
    struct reel_pair pairs[] = {
        {"packet", packet},
        {"vectors", layout & 1 ? "double" : "float"},
        {"wheel_bytes", layout & 16  ? "208"
                        : layout & 2 ? "36"
                                     : "48"},
        {"attribute_types_from", layout & 4 ? "1" : "0"},
        {"numbering", layout & 8 ? "ue5" : "0.9.15"},
    };
    const struct reel_channel channel = {
        .name = "/a", .type = "a", .encoding = "carla", .metadata = {pairs, sizeof pairs / sizeof *pairs}};
    struct reel_error err = {0};
    struct grow text = {0};
    struct json_out json = json_out_to(&text, 16 << 20);
    AUTO(reel_decoder_free) struct reel_decoder *d = reel_decoder_open(&channel, &err);
    if (d) {
        bool whole = reel_decode(d, payload, &json.visitor, &err);
        fuzz_expect(whole == (err.code == REEL_OK) || json.too_long, "a payload is whole or the error explains why not",
                    &err);
        fuzz_expect(!whole || (text.size >= 2 && text.data[0] == '{' && text.data[text.size - 1] == '}'),
                    "a packet is a map", &err);
    }
    free(text.data);
}

static bool count(void *context, const char *text, size_t size) {
    enum { TEXT_MAX = 64 << 20 };
    uint64_t *all = context;
    (void)text;
    *all += size;
    return *all < TEXT_MAX;
}

static void query(struct reel_recording *r, const struct reel_carla_question *q, int form) {
    uint64_t all = 0;
    struct reel_error err = {0};
    bool done = false;
    const struct reel_text_sink sink = {.put = count, .context = &all};
    AUTO(reel_table_text_free)
    struct reel_table_text *rows = form < 0 ? NULL : reel_table_text_new((enum reel_table_form)form, &sink, &err);
    AUTO(reel_carla_free)
    struct reel_carla *pass = reel_carla_open(r, q, &sink, rows ? reel_table_of_text(rows) : NULL, &err);
    fuzz_expect(pass != NULL, "ask", &err);
    while (!done && reel_carla_step(pass, &done, &err)) {
    }
    fuzz_expect(done || err.code == REEL_CANCELLED || err.code == REEL_LIMIT || err.code == REEL_NOT_FOUND,
                "an answer ends", &err);
}

static void query_all(const uint8_t *data, size_t size) {
    AUTO(reel_recording_free) struct reel_recording *r = fuzz_open(bytes_of(data, size), &reel_format_carla);
    if (!r) {
        return;
    }
    enum { OF = 24 };
    struct fuzz_turns turns = fuzz_turns_of(bytes_of(data, size));
    for (int dialect = REEL_CARLA_0_9_4; dialect <= REEL_CARLA_DEV_2026; dialect++) {
        if (!fuzz_turn(&turns, OF)) {
            continue;
        }
        struct reel_carla_question q = reel_carla_question(REEL_CARLA_INFO);
        q.all = dialect % 2 == 0 || dialect == REEL_CARLA_DEV_2026;
        q.dialect = (enum reel_carla_dialect)dialect;
        query(r, &q, -1);
    }
    for (int topic = REEL_CARLA_INFO; topic <= REEL_CARLA_TRAJECTORY; topic++) {
        if (!fuzz_turn(&turns, OF)) {
            continue;
        }
        struct reel_carla_question q = reel_carla_question((enum reel_carla_topic)topic);
        q.min_time_s = 0;
        q.actor = 24;
        query(r, &q, topic % 3);
        if (topic == REEL_CARLA_COLLISIONS || topic == REEL_CARLA_BLOCKED) {
            query(r, &q, -1);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) {
        return 0;
    }
    if (data[0] == 255) {
        query_all(data + 1, size - 1);
    } else {
        decode_one(data[0], data[1], bytes_of(data + 2, size - 2));
    }
    return 0;
}
