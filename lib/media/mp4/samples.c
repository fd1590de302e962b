/* See mp4.h: from units behind start codes to units behind lengths. */
#include "media/mp4/mp4.h"

static bool samples_is_known(const struct mp4_sets *known, struct reel_bytes unit) {
    for (unsigned i = 0; known && i < known->n; i++) {
        if (bytes_equal(known->items[i], unit)) {
            return true;
        }
    }
    return false;
}

bool mp4_put_sample(struct reel_bytes stream, bool h265, const struct mp4_sets *known, struct reel_sink *out,
                    uint32_t *size, bool *key) {
    struct reel_bytes unit;
    uint64_t from = out->pos;
    bool picture = false;
    *key = false;
    while (nal_next(&stream, &unit)) {
        enum nal_role role = nal_role(unit, h265);
        *key |= role == NAL_KEY_PICTURE;
        picture |= role == NAL_KEY_PICTURE || role == NAL_PICTURE;
        if (role < NAL_VPS || !samples_is_known(known, unit)) {
            reel_sink_u32le(out, __builtin_bswap32((uint32_t)unit.size));
            reel_sink_put_bytes(out, unit);
        }
    }
    *size = picture ? (uint32_t)(out->pos - from) : 0;
    return picture;
}
