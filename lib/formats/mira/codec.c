/* Messages that are compressed one by one. The compression is not documented, so it is recognised by the first bytes.
 * Only messages that have been decoded successfully are treated as compressed; others are delivered as stored. */
#include "formats/mira/container.h"

#include "base/cleanup.h"
#include "chunks/codec.h"

#include <libdeflate.h>

enum {
    RATIO_MAX = 1032,    /* the highest ratio that deflate can reach */
    SLOW_MIN = 16 << 10, /* the least that is decoded to measure a message */
};

static enum reel_codec mira_codec_of(const uint8_t *p, size_t size) {
    if (size >= 3 && memcmp(p, "BZh", 3) == 0) {
        return REEL_CODEC_BZIP2;
    }
    if (size >= 2 && p[0] == 0x1f && p[1] == 0x8b) {
        return REEL_CODEC_GZIP;
    }
    bool zlib = size >= 2 && (p[0] & 15) == 8 && (p[0] << 8 | p[1]) % 31 == 0;
    return zlib ? REEL_CODEC_ZLIB : REEL_CODEC_NONE;
}

bool mira_codec_known(struct window *w, const struct mira_field *f, bool *known, struct reel_error *err) {
    *known = !f->message.compressed;
    if (*known) {
        return true;
    }
    size_t look = f->message.stored < 4 ? f->message.stored : 4;
    const uint8_t *p = window_at(w, f->message.data_at, look, err);
    *known = p && mira_codec_of(p, look) != REEL_CODEC_NONE;
    return p != NULL;
}

/* Decodes a typical message in memory. False: decode_slow() must decide. */
static bool decodes_fast(struct mira *t, enum reel_codec codec, const uint8_t *p, size_t stored, size_t raw) {
    if (codec == REEL_CODEC_BZIP2 || raw > REEL_CHUNK_MEMORY_MAX || raw / RATIO_MAX > stored) {
        return false;
    }
    if (!t->inflater && !(t->inflater = libdeflate_alloc_decompressor())) {
        return false;
    }
    if (raw > t->inflated_room) {
        size_t room = raw > 2 * t->inflated_room ? raw : 2 * t->inflated_room;
        free(TAKE(t->inflated));
        t->inflated = malloc(room);
        t->inflated_room = t->inflated ? room : 0;
    }
    if (!t->inflated) {
        return false;
    }
    size_t took = 0, gave = 0;
    enum libdeflate_result r =
        codec == REEL_CODEC_ZLIB
            ? libdeflate_zlib_decompress_ex(t->inflater, p, stored, t->inflated, raw, &took, &gave)
            : libdeflate_gzip_decompress_ex(t->inflater, p, stored, t->inflated, raw, &took, &gave);
    return r == LIBDEFLATE_SUCCESS && took == stored && gave == raw;
}

/* Reports a message that does not decode to its stated size. */
static bool decode_slow(struct mira *t, const struct mira_field *f, enum reel_codec *codec, uint64_t *raw,
                        struct reel_error *err) {
    struct reel_error why = {0};
    uint64_t stated = *raw, most = stated < SLOW_MIN ? SLOW_MIN : stated > UINT32_MAX / 2 ? UINT32_MAX : 2 * stated;
    t->verify_left -= most < t->verify_left ? most : t->verify_left;
    if (codec_measure(*codec, t->source, f->message.data_at, f->message.stored, most, raw, &why)) {
        if (*raw != stated) {
            reel_scan_finding(t->scan, REEL_WARNING, 0, f->at, 0,
                              "message at %llu: its %s data decode to %llu bytes, not %llu", (unsigned long long)f->at,
                              codec_name(*codec), (unsigned long long)*raw, (unsigned long long)stated);
        }
        return true;
    }
    if (why.code != REEL_DAMAGED && why.code != REEL_UNSUPPORTED && why.code != REEL_LIMIT) {
        return reel_error_pass(err, &why);
    }
    reel_scan_finding(t->scan, REEL_LOSS, 0, f->message.data_at, f->message.stored, "message at %llu: %s",
                      (unsigned long long)f->at, why.text);
    *codec = REEL_CODEC_NONE;
    return true;
}

bool mira_choose_codec(struct mira *t, struct mira_channel *c, const struct mira_field *f, enum reel_codec *codec,
                       uint64_t *raw, struct reel_error *err) {
    const uint32_t stored = f->message.stored;
    size_t look = stored <= REEL_WINDOW_BYTES ? stored : 4;
    const uint8_t *p = window_at(&t->window, f->message.data_at, look, err);
    if (!p) {
        return false;
    }
    *codec = mira_codec_of(p, look);
    *raw = f->message.raw;
    if (*codec == REEL_CODEC_NONE) {
        c->unknown++;
        return true;
    }
    if (t->verify_left < *raw) { /* many small messages with a very large stated size */
        mira_count(&t->unproved, f->at);
        return true;
    }
    t->verify_left -= *raw;
    return (look == stored && decodes_fast(t, *codec, p, stored, (size_t)*raw)) || decode_slow(t, f, codec, raw, err);
}
