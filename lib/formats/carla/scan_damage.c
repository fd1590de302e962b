/* Packets that are not whole, and where the scan continues after one. */
#include "base/bytes.h"
#include "formats/carla/container.h"

#include <stdio.h>

enum { FRAMES_AHEAD_MAX = 1 << 24 /* how far the frame number may be */ };

/* *is: a packet may begin at `at`, or the file ends there. Used only after a packet whose size may never have been
 * patched. */
static bool plausible(struct carla_scan *s, uint64_t at, bool *is, struct reel_error *err) {
    uint64_t left = s->source->size - at;
    *is = true;
    if (left < CARLA_PACKET_HEAD) {
        return true;
    }
    const uint8_t *p = window_at(&s->window, at, CARLA_PACKET_HEAD, err);
    if (!p) {
        return false;
    }
    enum carla_kind kind = (enum carla_kind)s->kinds[p[0]];
    uint8_t id = p[0];
    uint32_t size = load_u32le(p + 1);
    if (size > left - CARLA_PACKET_HEAD || size > CARLA_WALKED_MAX) {
        *is = false;
    } else if (kind == CARLA_UNKNOWN) {
        *is = id >= CARLA_USER_ID;
    } else if (!carla_is_list(kind) || size == 0) {
        *is = size == 0 ? kind != CARLA_FRAME_START : size == carla_facts[kind].fixed;
    } else if (carla_facts[kind].body != CARLA_LIST || size < 2) {
        *is = size >= 2;
    } else {
        p = window_at(&s->window, at, CARLA_PACKET_HEAD + (size < 4 ? 2 : 4), err);
        *is = p && (carla_is_wide(kind, p + CARLA_PACKET_HEAD, size) ||
                    size == 2 + (uint64_t)load_u16le(p + CARLA_PACKET_HEAD) * carla_record_size(kind, &s->layout));
    }
    return p;
}

/* *found: the next frame end that a plausible frame start follows; the size of the file if there is none. */
static bool next_frame_end(struct carla_scan *s, uint64_t from, uint64_t *found, struct reel_error *err) {
    static const uint8_t sign[] = {1, 0, 0, 0, 0, 0, CARLA_START_SIZE, 0, 0, 0};
    enum { SEEN = sizeof sign + 8 }; /* up to the number of the frame */
    uint64_t size = s->source->size;
    *found = size;
    while (from < size && size - from >= SEEN) {
        size_t n = size - from < REEL_WINDOW_BYTES ? (size_t)(size - from) : REEL_WINDOW_BYTES;
        const uint8_t *p = window_at(&s->window, from, n, err);
        if (!p || !reel_scan_progress(s->scan, from, size, err)) {
            return false;
        }
        for (const uint8_t *at = p;
             (at = memmem(at, n - (size_t)(at - p), sign, sizeof sign)) && (size_t)(at - p) + SEEN <= n; at++) {
            if (load_u64le(at + sizeof sign) - s->frame.id - 1 < FRAMES_AHEAD_MAX) {
                *found = from + (uint64_t)(at - p);
                return true;
            }
        }
        from += n - (SEEN - 1);
    }
    return true;
}

bool carla_check_head(struct carla_scan *s, const uint8_t *p, uint64_t left, char why[160], struct reel_error *err) {
    uint8_t id = p ? p[0] : 0;
    uint32_t size = p ? load_u32le(p + 1) : 0;
    why[0] = '\0';
    if (!p) {
        snprintf(why, 160, "at %llu, %llu bytes are not a packet", (unsigned long long)(s->at),
                 (unsigned long long)(left));
        return true;
    }
    if (size > left - CARLA_PACKET_HEAD) {
        snprintf(why, 160, "packet %u at %llu: %u bytes exceed the remaining %llu", id, (unsigned long long)(s->at),
                 size, (unsigned long long)(left - CARLA_PACKET_HEAD));
        return true;
    }
    bool unpatched = size == 0 && carla_is_patched((enum carla_kind)s->kinds[id]), follows = true,
         odd_start =
             s->frames > 0 && s->kinds[id] == CARLA_FRAME_START && (size == 0 || size > CARLA_START_SIZE); /* shorter
                                                                                                              ones
                                                                                                              exist
                                                                                                            */
    if ((unpatched || odd_start) && !plausible(s, s->at + CARLA_PACKET_HEAD + size, &follows, err)) {
        return false;
    }
    if (!follows && unpatched) {
        snprintf(why, 160, "packet %u at %llu has size 0 but data follow: its size was never written", id,
                 (unsigned long long)(s->at));
    } else if (!follows) {
        snprintf(why, 160, "packet %u at %llu of %u bytes is not the start of a frame, and no packet follows", id,
                 (unsigned long long)(s->at), size);
    }
    return true;
}

bool carla_resume(struct carla_scan *s, const char *why, struct reel_error *err) {
    uint64_t found;
    if (!next_frame_end(s, s->at + 1, &found, err)) {
        return false;
    }
    s->cut = found == s->source->size;
    reel_scan_finding(s->scan, REEL_LOSS, 0, s->at, found - s->at,
                      s->cut ? "%s: the file is truncated there" : "%s: continued at the end of a frame", why);
    s->at = found;
    return true;
}
