/* Scans NanoVer recordings: the archive's members, then the walk over index and messages (index.c), or over the
 * messages alone (recover.c). */
#include "formats/nanover/scan.h"
#include "base/ascii.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "chunks/codec.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    DEFLATE_RATIO_MAX = 1100,   /* the best ratio that Deflate can reach is 1032 : 1 */
    EXTRAS_TRIED_MAX = 1 << 30, /* most raw bytes of compressed extra members that a scan unpacks as a check */
};

/* --- members --- */

bool nanover_address_member(struct reel_scan *scan, const struct zip_member *m, struct reel_chunk *run, uint32_t *chunk,
                            uint64_t *base, struct reel_error *err) {
    *run = (struct reel_chunk){.part = 0, .codec = m->codec, .offset = m->offset, .stored = m->stored, .raw = m->raw};
    *chunk = 0;
    *base = m->offset;
    if (m->codec == REEL_CODEC_NONE) {
        return true;
    }
    if (m->raw / DEFLATE_RATIO_MAX > m->stored) {
        return reel_fail(err, REEL_DAMAGED, "%" PRIu64 " compressed bytes cannot become %" PRIu64, m->stored, m->raw);
    }
    *base = 0;
    return reel_scan_chunk(scan, run, chunk, err);
}

static bool open_member(struct reel_scan *scan, const struct zip_member *m, struct reel_source **source,
                        uint32_t *chunk, uint64_t *base, struct reel_error *err) {
    struct reel_chunk run;
    if (!nanover_address_member(scan, m, &run, chunk, base, err)) {
        return false;
    }
    *source = m->codec == REEL_CODEC_NONE ? reel_source_slice(scan->parts[0], m->offset, m->stored, err)
                                          : reel_scan_open_chunk(scan, &run, err);
    return *source != NULL;
}

static bool check_crc(struct nanover_scan *s, const struct zip_member *m, struct reel_error *err) {
    while (m->crc_known && s->crc_end < s->size) {
        size_t size = s->size - s->crc_end < REEL_WINDOW_BYTES ? (size_t)(s->size - s->crc_end) : REEL_WINDOW_BYTES;
        const uint8_t *p = nanover_scan_bytes(s, s->crc_end, size, err);
        if (!p) {
            return false;
        }
        nanover_running_crc(s, s->crc_end, p, size);
        if (!reel_scan_progress(s->scan, s->crc_end, s->size, err)) {
            return false;
        }
    }
    if (m->crc_known && s->crc != m->crc) {
        reel_scan_finding(
            s->scan, REEL_LOSS, 0, m->offset, 0,
            "messages.msgpack has CRC-32 %08x, the archive says %08x: some of its bytes are not those recorded", s->crc,
            m->crc);
    }
    return true;
}

static const char *suffix_type(const char *name) {
    static const struct {
        const char *suffix, *type;
    } types[] = {{".json", "application/json"}, {".msgpack", "application/msgpack"},
                 {".txt", "text/plain"},        {".md", "text/markdown"},
                 {".csv", "text/csv"},          {".html", "text/html"},
                 {".xml", "application/xml"},   {".png", "image/png"},
                 {".jpg", "image/jpeg"},        {".pdb", "chemical/x-pdb"}};
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t n = strlen(types[i].suffix);
        if (size > n && ascii_casecmp(name + size - n, types[i].suffix) == 0) {
            return types[i].type;
        }
    }
    return "application/octet-stream";
}

/* Unpacks a compressed member as a check while the budget lasts, so that an unreadable one is reported by the scan and
 * not only when it is exported. */
static bool try_member(struct reel_scan *scan, const struct zip_member *m, uint64_t *budget, struct reel_error *err) {
    uint64_t raw = m->raw;
    if (m->codec == REEL_CODEC_NONE || m->raw > *budget) {
        return true;
    }
    *budget -= m->raw;
    return codec_measure(m->codec, scan->parts[0], m->offset, m->stored, m->raw, &raw, err) &&
           (raw == m->raw || reel_fail(err, REEL_DAMAGED, "it has %" PRIu64 " bytes instead of %" PRIu64, raw, m->raw));
}

/* Adds every other member as an attachment. */
static bool attach(struct reel_scan *scan, const struct nanover_archive *archive, uint64_t budget,
                   struct reel_error *err) {
    for (size_t i = 0; i < archive->zip.count; i++) {
        const struct zip_member *m = &archive->zip.members[i];
        bool folder = m->name.size > 0 && m->name.data[m->name.size - 1] == '/';
        bool messages = bytes_is(m->name, NANOVER_MESSAGES), index = bytes_is(m->name, NANOVER_INDEX);
        if ((messages && m != archive->messages) || (index && m != archive->index)) {
            reel_scan_finding(scan, REEL_WARNING, 0, m->offset, 0, "an earlier member %s is not used",
                              messages ? NANOVER_MESSAGES : NANOVER_INDEX);
        }
        if (folder || messages || index) {
            continue;
        }
        const char *name = reel_scan_text(scan, m->name, err);
        if (!name) {
            return false;
        }
        struct reel_attachment a = {.name = name, .media_type = suffix_type(name), .size = m->raw};
        struct reel_chunk run;
        struct reel_error why = {.code = REEL_DAMAGED};
        if (m->problem || !try_member(scan, m, &budget, &why) ||
            !nanover_address_member(scan, m, &run, &a.chunk, &a.offset, &why)) {
            if (why.code != REEL_DAMAGED && why.code != REEL_LIMIT) {
                return reel_error_pass(err, &why);
            }
            reel_scan_finding(scan, REEL_LOSS, 0, m->offset, 0, "member %s: %s", name,
                              m->problem ? m->problem : why.text);
            continue;
        }
        if (!reel_scan_attachment(scan, &a, err)) {
            return false;
        }
    }
    return true;
}

static void free_scan(struct nanover_scan *s) {
    window_close(&s->window);
    reel_source_free(s->messages);
    free(s->jump);
    nanover_scan_tables_free(s);
}

bool nanover_open_index(struct reel_scan *scan, const struct nanover_archive *archive, struct nanover_walk *w,
                        struct reel_error *why, struct reel_error *err) {
    const struct zip_member *m = archive->index;
    if (!m || m->problem) {
        reel_fail(why, REEL_DAMAGED, "%s", m ? m->problem : "it is missing");
        return true;
    }
    w->size = m->raw;
    if (open_member(scan, m, &w->source, &w->chunk, &w->base, why)) {
        return window_open(&w->window, w->source, REEL_WINDOW_BYTES, err);
    }
    if (why->code != REEL_DAMAGED && why->code != REEL_LIMIT) {
        return reel_error_pass(err, why);
    }
    return true;
}

bool nanover_report_archive(struct reel_scan *scan, const struct nanover_archive *archive, uint64_t budget,
                            struct reel_error *err) {
    const struct zip_member *m = archive->messages, *index = archive->index;
    reel_scan_container(scan, m->codec == REEL_CODEC_NONE ? "ZIP, stored" : "ZIP, deflated");
    reel_scan_clock(scan, REEL_CLOCK_RELATIVE, "timestamps count from the start of the recorder");
    if (archive->lost) {
        reel_scan_finding(scan, REEL_LOSS, 0, 0, 0, "%s; members are taken from their local headers", archive->lost);
    }
    if (index && index->codec == REEL_CODEC_NONE && index->offset < m->offset) {
        reel_scan_finding(scan, REEL_NOTE, 0, index->offset, 0, "the index precedes the messages");
    }
    char number[32];
    snprintf(number, sizeof number, "%" PRIu64, m->raw);
    return reel_scan_metadata(scan, "messages.msgpack bytes", bytes_text(number), err) &&
           attach(scan, archive, budget, err);
}

/* The index is opened before the messages, so that a compressed one is chunk 1 (message.h). */
static bool nanover_scan(struct reel_scan *scan, struct reel_error *err) {
    AUTO_STRUCT(nanover_archive_close) struct nanover_archive archive = {.lost = NULL};
    if (!nanover_archive_open(&archive, scan->parts[0], err)) {
        return false;
    }
    const struct zip_member *m = archive.messages;
    if (m->problem) {
        return reel_fail(err, m->foreign ? REEL_UNSUPPORTED : REEL_DAMAGED, "messages.msgpack: %s", m->problem);
    }
    AUTO_STRUCT(free_scan) struct nanover_scan s = {.scan = scan, .size = m->raw, .plain = m->codec == REEL_CODEC_NONE};
    AUTO(nanover_walk) struct nanover_walk w = {.s = &s};
    struct reel_error why = {.code = REEL_OK};
    if (!nanover_open_index(scan, &archive, &w, &why, err)) {
        return false;
    }
    if (!open_member(scan, m, &s.messages, &s.chunk, &s.base, err)) {
        return reel_error_at(err, "messages.msgpack");
    }
    if (!window_open(&s.window, s.messages, REEL_WINDOW_BYTES, err)) {
        return false;
    }
    if (!w.source) {
        reel_scan_finding(scan, REEL_LOSS, 0, 0, 0, "index.msgpack cannot be read: %s", why.text);
    }
    if (!(w.source ? nanover_walk_index(&w, err) : nanover_recover(&s, 0, err)) || !check_crc(&s, m, err)) {
        return false;
    }
    nanover_quirks_report(&s);
    return nanover_report_archive(scan, &archive, EXTRAS_TRIED_MAX, err);
}

/* --- the format --- */

/* Most files begin with the messages member; any other archive must list both members. A ZIP may have other data in
 * front: then the file's suffix decides. */
static int nanover_probe(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    const size_t name = sizeof NANOVER_MESSAGES - 1;
    bool zip = head.size >= ZIP_LOCAL_SIZE && load_u32le(head.data) == ZIP_LOCAL_MAGIC;
    if (zip && load_u16le(head.data + 26) == name && head.size >= ZIP_LOCAL_SIZE + name &&
        memcmp(head.data + ZIP_LOCAL_SIZE, NANOVER_MESSAGES, name) == 0) {
        return 8 * (4 + (int)name);
    }
    const char *suffix = reel_format_nanover.suffixes[0];
    size_t size = strlen(source->name), n = strlen(suffix);
    if (!zip && (size < n || ascii_casecmp(source->name + size - n, suffix) != 0)) {
        return 0;
    }
    AUTO_STRUCT(nanover_archive_close) struct nanover_archive archive = {.lost = NULL};
    struct reel_error why = {0};
    bool mine = nanover_archive_open(&archive, source, &why) && archive.index;
    return mine ? 8 * (4 + (int)name) : reel_error_ignore(err, &why) ? 0 : -1;
}

const struct reel_format reel_format_nanover = {
    .name = "nanover",
    .title = "NanoVer",
    .media_type = "application/zip",
    .suffixes = (const char *const[]){".nanover.zip", NULL},
    .probe = nanover_probe,
    .scan = nanover_scan,
    .summary = nanover_summary,
    .contract = NANOVER_CONTRACT,
    .times_last = true,
    .version = 1,
};
