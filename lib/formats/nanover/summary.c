/* The summary of a NanoVer recording: what the archive's directory and the index state, and the simulation's name from
 * the first messages. It reads the end of the archive, its directory, the local header of every member, index.msgpack
 * through a window and, when the messages are stored without compression, the first NAME_MESSAGES_MAX of them, at most
 * NAME_BYTES_MAX bytes in all. The index must name every message's types, and messages must not overlap; otherwise
 * there is no summary. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "formats/nanover/scan.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    SUMMARY_INDEX_MAX = 256 << 20, /* most raw bytes of the index */
    EMPTY_MESSAGE_MAX = 5,         /* size of a message without types: a map's header */
    PROGRESS_BYTES = 4 << 20,
    NAME_MESSAGES_MAX = 64,
    NAME_BYTES_MAX = 4 << 20,
};

struct name_search {              /* search for the simulation's name */
    struct reel_source *messages; /* NULL: not readable here */
    unsigned left;
    uint64_t bytes_left;
};
static inline void reel_auto_name_search(struct name_search *l) {
    reel_source_free(l->messages);
}

static bool search_name(struct name_search *l, struct nanover_scan *s, const struct nanover_claim *e,
                        struct reel_error *err) {
    if (!l->messages || s->named || l->left == 0 || e->length > l->bytes_left) {
        return true;
    }
    l->left--;
    l->bytes_left -= e->length;
    AUTO_MEM uint8_t *data = malloc((size_t)e->length + 1);
    if (!data) {
        return reel_fail_memory(err);
    }
    if (!reel_source_read(l->messages, e->offset, data, (size_t)e->length, err)) {
        return false;
    }
    struct nanover_message m;
    const char *why;
    struct cursor c = cursor_of(bytes_of(data, (size_t)e->length));
    s->named = nanover_message_read(&c, &m, NULL, &why) == MSGPACK_OK && m.simulation_name.size > 0 &&
               m.simulation_name.size < REEL_TEXT_MAX;
    return !s->named || reel_scan_metadata(s->scan, "system.simulation.name", m.simulation_name, err);
}

static bool nanover_refuse(struct nanover_walk *w, uint64_t begin, const char *why, struct reel_error *err) {
    return reel_fail(err, REEL_UNSUPPORTED,
                     "%s at %" PRIu64 " of %" PRIu64 " bytes %s: the contents are unknown until a scan", NANOVER_INDEX,
                     begin, w->size, why);
}

/* Takes the types of a message from its index entry. False when the entry lacks them, or its length is too small for
 * them. */
static bool take_types(const struct nanover_claim *e, struct nanover_message *m) {
    struct cursor types = e->types;
    uint64_t least = 1;
    *m = (struct nanover_message){.n_types = 0};
    if (!e->has_types || e->n_types > NANOVER_TYPES_MAX) {
        return false;
    }
    while (m->n_types < e->n_types) {
        struct msgpack_item item;
        if (msgpack_read(&types, &item) != MSGPACK_OK || item.kind != MSGPACK_STR) {
            return false;
        }
        m->types[m->n_types++] = item.bytes;
        least += item.bytes.size + 2; /* the key and a value */
    }
    return e->length >= least && (m->n_types > 0 || e->length <= EMPTY_MESSAGE_MAX);
}

static bool count_entry(struct nanover_walk *w, struct name_search *l, const struct nanover_claim *e, uint64_t begin,
                        struct reel_error *err) {
    struct nanover_scan *s = w->s;
    const char *problem = nanover_claim_problem(e, s->size);
    struct nanover_message m;
    uint32_t channel = 0;
    bool kept = false;
    if (problem) {
        return nanover_refuse(w, begin, problem, err);
    }
    s->checked += e->length;
    if (s->checked > s->size) {
        return nanover_refuse(w, begin, "has entries that overlap", err);
    }
    if (!take_types(e, &m)) {
        return nanover_refuse(w, begin, "lacks the types of a message", err);
    }
    if (!nanover_find_channel(s, &m, &channel, &kept, err)) {
        return false;
    }
    if (!kept) {
        return nanover_refuse(w, begin, "has too many or too long message types", err);
    }
    s->time_ns = e->has_time ? e->time_ns : s->time_ns;
    const struct reel_channel_stats stats = {
        .count = 1, .bytes = e->length, .first_ns = s->time_ns, .last_ns = s->time_ns};
    return search_name(l, s, e, err) && reel_scan_count(s->scan, channel, &stats, err);
}

static bool nanover_count_all(struct nanover_walk *w, struct name_search *l, struct reel_error *err) {
    uint64_t count, reported = 0;
    const char *why;
    if (!nanover_index_begin(w, &count, &why, err)) {
        return false;
    }
    for (uint64_t i = 0; i < count && !why; i++) {
        struct nanover_claim e;
        uint64_t begin;
        if (!nanover_index_next(w, &e, &begin, &why, err) || (!why && !count_entry(w, l, &e, begin, err))) {
            return false;
        }
        if (w->at - reported >= PROGRESS_BYTES) {
            reported = w->at;
            if (!reel_scan_progress(w->s->scan, w->at, w->size, err)) {
                return false;
            }
        }
    }
    return !why || nanover_refuse(w, w->at, why, err);
}

/* The index as w->source. */
static bool open_index(struct reel_scan *scan, const struct nanover_archive *archive, struct nanover_walk *w,
                       struct reel_error *err) {
    const struct zip_member *m = archive->messages, *index = archive->index;
    struct reel_error why = {.code = REEL_OK};
    if (archive->lost || m->problem) {
        return reel_fail(err, REEL_UNSUPPORTED, "%s: the contents are unknown until a scan",
                         archive->lost ? archive->lost : m->problem);
    }
    if (index && !index->problem && index->raw > SUMMARY_INDEX_MAX) {
        return reel_fail(err, REEL_UNSUPPORTED,
                         NANOVER_INDEX " has %" PRIu64 " bytes: over %d MiB only a scan reads it", index->raw,
                         SUMMARY_INDEX_MAX >> 20);
    }
    return nanover_open_index(scan, archive, w, &why, err) &&
           (w->source ||
            reel_fail(err, REEL_UNSUPPORTED, NANOVER_INDEX " cannot be read: %s: the contents are unknown until a scan",
                      why.text));
}

/* Adds members as chunks in the same order as a scan: the index, the messages, the others. */
bool nanover_summary(struct reel_scan *scan, struct reel_error *err) {
    AUTO_STRUCT(nanover_archive_close) struct nanover_archive archive = {.lost = NULL};
    AUTO_STRUCT(nanover_scan_tables_free) struct nanover_scan s = {.scan = scan};
    AUTO(nanover_walk) struct nanover_walk w = {.s = &s};
    AUTO(name_search) struct name_search search = {.left = NAME_MESSAGES_MAX, .bytes_left = NAME_BYTES_MAX};
    struct reel_chunk run;
    struct reel_error why = {0};
    bool good = nanover_archive_open(&archive, scan->parts[0], &why) && open_index(scan, &archive, &w, &why);
    if (good) {
        s.size = archive.messages->raw;
        bool plain = archive.messages->codec == REEL_CODEC_NONE;
        search.messages = plain ? reel_source_slice(scan->parts[0], archive.messages->offset, s.size, &why) : NULL;
        good = (!plain || search.messages || reel_error_ignore(err, &why)) &&
               nanover_address_member(scan, archive.messages, &run, &s.chunk, &s.base, &why) &&
               nanover_count_all(&w, &search, &why) && nanover_report_archive(scan, &archive, 0, &why);
    }
    if (why.code == REEL_DAMAGED || why.code == REEL_LIMIT) {
        why.code = REEL_UNSUPPORTED; /* a scan may still read the file */
    }
    return good || reel_error_pass(err, &why);
}
