/* See members.h. */
#include "media/members.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "syntax/utf8.h"
#include "syntax/zip_write.h"

enum { FOLDER_MAX = 200, NAME_ROOM = FOLDER_MAX + 80, PART_MEMBERS = 4096 };

struct note {
    int64_t time_ns;
    uint64_t size;
    uint32_t crc, channel;
    char extension[8];
};

bool members_open(struct reel_write *w, struct reel_error *err) {
    return rows_open(&((struct members_run *)w->run)->rows, w, err);
}

void members_close(struct reel_write *w) {
    rows_close(&((struct members_run *)w->run)->rows);
}

/* ---- names */

/* A topic as a folder, unless some part of it means something else in a path. */
static bool members_is_folder(const char *topic) {
    bool good = strlen(topic) <= FOLDER_MAX && utf8_valid(bytes_text(topic));
    for (const char *part = topic; good && part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL) {
        good = *part != '\0' && *part != '/' && *part != '.';
    }
    for (const char *p = topic; good && *p; p++) {
        good = (uint8_t)*p >= ' ' && !strchr("\\:*?\"<>|", *p);
    }
    return good;
}

static void member_name(const struct reel_write *w, uint64_t group, const struct note *note, char name[NAME_ROOM]) {
    enum { SECOND = 1000000000 };
    const struct members_totals *totals = w->totals;
    const char *topic = w->stream->channels[note->channel]->name;
    uint64_t size = note->time_ns < 0 ? 0 - (uint64_t)note->time_ns : (uint64_t)note->time_ns;
    char folder[FOLDER_MAX + 1], number[24] = "";
    topic += topic[0] == '/';
    snprintf(folder, sizeof folder, members_is_folder(topic) ? "%s" : "topic", topic);
    if (!members_is_folder(topic)) {
        snprintf(folder, sizeof folder, "topic_%" PRIu32, note->channel);
    }
    if (totals->numbered) {
        snprintf(number, sizeof number, "_%06" PRIu64, group);
    }
    snprintf(name, NAME_ROOM, "%s/%s%010" PRIu64 ".%09" PRIu64 "%s%s", folder, note->time_ns < 0 ? "-" : "",
             size / SECOND, size % SECOND, number, note->extension);
}

/* Runs through the stream once, by the index alone: names are made while other groups are, so what they depend on is
 * known before. */
static bool find_ties(struct reel_write *w, struct members_totals *totals, struct reel_error *err) {
    struct reel_message m;
    struct reel_position first = {0};
    int64_t last_ns = 0;
    enum reel_step step;
    uint64_t n = 0;
    for (; (step = stream_next(w->stream, &m, err)) == REEL_STEP_MESSAGE; n++) {
        first = n == 0 ? reel_position_of(&m) : first;
        totals->numbered |= n > 0 && reel_write_time(w, &m) == last_ns;
        last_ns = reel_write_time(w, &m);
    }
    return step == REEL_STEP_END && (n == 0 || stream_seek(w->stream, &first, err));
}

bool members_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    (void)out;
    return !w->planning || find_ties(w, w->totals, err);
}

/* ---- members */

static bool is_of_the_payload(enum reel_code code) {
    return code == REEL_UNSUPPORTED || code == REEL_DAMAGED || code == REEL_LIMIT;
}

static bool make_member(struct reel_write *w, const struct reel_message *m, member_make *make, struct member *member,
                        struct reel_error *err) {
    struct members_run *run = w->run;
    struct reel_bytes payload;
    struct reel_error why = {0};
    const struct reel_decoder *decoder;
    if (!rows_decoder(&run->rows, w, m->channel, &decoder, err) || !reel_stream_payload(w->stream, m, &payload, err)) {
        return false;
    }
    bool good = decoder && m->size <= REEL_DECODED_MAX && make(decoder, payload, member, &why);
    if (!good && why.code != REEL_OK && !is_of_the_payload(why.code)) {
        return reel_error_pass(err, &why);
    }
    if (!good) {
        *member = (struct member){.data = payload, .extension = ".bin"};
    }
    return true;
}

static bool members_put_member(struct reel_write *w, const struct reel_message *m, member_make *make,
                               struct reel_sink *out, struct reel_error *err) {
    struct member member = {0};
    if (!make_member(w, m, make, &member, err)) {
        return false;
    }
    AUTO_MEM uint8_t *own = member.own;
    struct reel_sink hash = {.hashing = true};
    char name[NAME_ROOM];
    struct note note = {.time_ns = reel_write_time(w, m), .size = member.data.size, .channel = m->channel};
    reel_sink_put_bytes(&hash, member.data);
    note.crc = hash.crc;
    snprintf(note.extension, sizeof note.extension, "%s", member.extension);
    member_name(w, w->group, &note, name);
    zip_put_local(out, name, note.crc, note.size, false);
    reel_sink_put_bytes(out, member.data);
    return reel_write_note(w, &note, sizeof note, err);
}

bool members_put(struct reel_write *w, member_make *make, struct reel_sink *out, struct reel_error *err) {
    struct reel_message m;
    if (reel_write_next(w, &m, err) != REEL_STEP_MESSAGE) {
        return false;
    }
    if (!w->planning) {
        return members_put_member(w, &m, make, out, err);
    }
    reel_sink_fill(out, 0, (uint64_t)m.size + NAME_ROOM);
    reel_write_pack(w);
    return true;
}

/* ---- the directory */

uint64_t members_tail_parts(struct reel_write *w) {
    return reel_write_groups(w) / PART_MEMBERS + 1;
}

bool members_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err) {
    uint64_t n = reel_write_groups(w), end = (part + 1) * PART_MEMBERS < n ? (part + 1) * PART_MEMBERS : n;
    (void)err;
    for (uint64_t i = part * PART_MEMBERS; i < end; i++) {
        const struct reel_group *group = reel_write_group(w, i);
        const struct note *note = (const void *)group->note;
        char name[NAME_ROOM];
        member_name(w, i, note, name);
        zip_put_central(out, name, note->crc, note->size, group->offset, false);
    }
    if (part + 1 == members_tail_parts(w)) {
        zip_put_end(out, n > 0 ? reel_write_tail_offset(w, 0) : 0, n);
    }
    return true;
}

bool members_accept(const struct reel_channel *channel, const char *const *types, const char *what,
                    struct reel_loss *loss) {
    const char *slash = strrchr(channel->type, '/'), *dot = strrchr(channel->type, '.');
    const char *name = slash ? slash + 1 : dot ? dot + 1 : channel->type;
    for (; *types; types++) {
        if (strcmp(name, *types) == 0) {
            return true;
        }
    }
    reel_loss_add(loss, REEL_REFUSES, channel,
                  "messages of the type \"%s\" are no %s; select topics with topic=", channel->type, what);
    return false;
}
