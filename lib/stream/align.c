/* Alignment of several recordings for a merge (stream/stream.h): compatible clocks, and a prefix for each recording. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "reel/time.h"
#include "stream/merge_names.h"
#include "stream/stream.h"

static const struct reel_index_info *info_of(const struct reel_recording *recording) {
    return reel_index_info(reel_recording_index(recording));
}

void reel_merge_span(struct reel_recording *const *recordings, uint32_t n, const struct reel_source_option *sources,
                     int64_t *first_ns, int64_t *last_ns) {
    bool any = false;
    *first_ns = *last_ns = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct reel_index_info *info = info_of(recordings[i]);
        int64_t shift = sources ? sources[i].shift_ns : 0;
        if (info->messages == 0) {
            continue;
        }
        *first_ns = !any || info->start_ns + shift < *first_ns ? info->start_ns + shift : *first_ns;
        *last_ns = !any || info->end_ns + shift > *last_ns ? info->end_ns + shift : *last_ns;
        any = true;
    }
}

/* The start for recordings with relative clocks; false when there is none. */
static bool find_begin(struct reel_recording *const *recordings, uint32_t n, int64_t *begin_ns, bool *wall) {
    bool any = false;
    *wall = false;
    for (uint32_t i = 0; i < n; i++) {
        const struct reel_index_info *info = info_of(recordings[i]);
        if (info->messages == 0) {
            continue;
        }
        bool is_wall = info->clock == REEL_CLOCK_WALL;
        if (!any || (is_wall && (!*wall || info->start_ns < *begin_ns))) {
            *begin_ns = info->start_ns;
            *wall = is_wall;
            any = true;
        }
    }
    return any;
}

static bool shift(const struct reel_index_info *info, int64_t begin_ns, int64_t *shift_ns, struct reel_error *err) {
    int64_t end;
    return (!__builtin_sub_overflow(begin_ns, info->start_ns, shift_ns) &&
            !__builtin_add_overflow(info->end_ns, *shift_ns, &end)) ||
           reel_fail(err, REEL_LIMIT, "times from %lld to %lld ns cannot begin at %lld ns", (long long)info->start_ns,
                     (long long)info->end_ns, (long long)begin_ns);
}

/* ---- prefixes */

size_t reel_name_stem(const char *name) {
    size_t size = strlen(name), cut = 0;
    for (size_t f = 0; reel_formats[f]; f++) {
        for (const char *const *s = reel_formats[f]->suffixes; *s; s++) {
            size_t n = strlen(*s);
            cut = n > cut && n < size && ascii_casecmp(name + size - n, *s) == 0 ? n : cut;
        }
    }
    const char *dot = strrchr(name, '.');
    bool has_suffix = dot && dot > name && dot[-1] != '/' && !strchr(dot, '/');
    return cut > 0 ? size - cut : has_suffix ? (size_t)(dot - name) : size;
}

/* Which of them has this prefix; n: none. */
static uint32_t taken_by(const struct reel_source_option *options, uint32_t n, const char *prefix) {
    uint32_t i = 0;
    while (i < n && strcmp(options[i].prefix, prefix) != 0) {
        i++;
    }
    return i;
}

/* "run1.bag" becomes "/run1"; a second file of that name becomes "/run1_2". numbers[i]: the last that was given to the
 * prefix of i. */
static void make_prefix(struct reel_source_option *options, uint32_t *numbers, uint32_t i, const char *name) {
    enum { STEM_MAX = REEL_PREFIX_ROOM - 16 };
    name += name[0] == '/';
    size_t stem = reel_name_stem(name);
    char *prefix = options[i].prefix;
    stem = stem < STEM_MAX ? stem : STEM_MAX;
    while (stem < strlen(name) && stem > 0 && ((unsigned char)name[stem] & 0xC0) == 0x80) {
        stem--; /* do not cut inside a UTF-8 character */
    }
    snprintf(prefix, REEL_PREFIX_ROOM, "/%.*s", (int)stem, name);
    size_t used = strlen(prefix);
    uint32_t same = taken_by(options, i, prefix);
    numbers[i] = 1;
    while (taken_by(options, i, prefix) < i) {
        snprintf(prefix + used, REEL_PREFIX_ROOM - used, "_%u", ++numbers[same]);
    }
}

bool reel_merge_options(struct reel_recording *const *recordings, uint32_t n, const char *const *names,
                        enum reel_align align, struct reel_source_option *out, struct reel_error *err) {
    int64_t begin = 0;
    AUTO_MEM uint32_t *numbers = calloc((size_t)n + 1, sizeof *numbers);
    if (!numbers) {
        return reel_fail_memory(err);
    }
    bool wall = false, aligned = align == REEL_ALIGN_START && find_begin(recordings, n, &begin, &wall);
    for (uint32_t i = 0; i < n; i++) {
        const struct reel_index_info *info = info_of(recordings[i]);
        out[i] = (struct reel_source_option){.wall = info->clock == REEL_CLOCK_WALL};
        make_prefix(out, numbers, i, names[i]);
        if (aligned && info->clock == REEL_CLOCK_RELATIVE && info->messages > 0) {
            out[i].wall = wall;
            if (!shift(info, begin, &out[i].shift_ns, err)) {
                return reel_error_at(err, "%s", names[i]);
            }
        }
    }
    return true;
}

/* Splits "KEY:2.5s", "KEY:-2.5s", or "KEY: 2.5s", which is what a form makes of "KEY:+2.5s". */
static bool parse_shift(const char *text, size_t *key_size, int64_t *shift_ns, struct reel_error *err) {
    const char *colon = strrchr(text, ':'), *number = colon ? colon + 1 : text;
    char sign = *number == '-' ? '-' : '+', amount[48];
    struct reel_time by = {0};
    number += *number == '-' || *number == '+' || *number == ' ';
    if (!colon || snprintf(amount, sizeof amount, "%c%s", sign, number) >= (int)sizeof amount ||
        !reel_time_parse(amount, 0, &by, err)) {
        return reel_fail(err, REEL_ARGUMENT,
                         "\"%.200s\" is not a recording, a colon and a duration, as in NAME:2.5s or NAME:-2.5s", text);
    }
    *key_size = (size_t)(colon - text);
    *shift_ns = by.ns;
    return true;
}

static bool align_move(const struct reel_index_info *info, int64_t by_ns, struct reel_source_option *out,
                       struct reel_error *err) {
    int64_t moved;
    out->shift_ns = by_ns;
    return (!__builtin_add_overflow(info->start_ns, by_ns, &moved) &&
            !__builtin_add_overflow(info->end_ns, by_ns, &moved)) ||
           reel_fail(err, REEL_LIMIT, "times from %lld to %lld ns cannot be moved by %lld ns",
                     (long long)info->start_ns, (long long)info->end_ns, (long long)by_ns);
}

bool reel_merge_shift(struct reel_recording *const *recordings, uint32_t n, const char *const *keys,
                      const char *const *texts, size_t n_texts, struct reel_source_option *out,
                      struct reel_error *err) {
    for (uint32_t i = 0; i < n; i++) {
        out[i].wall = info_of(recordings[0])->clock == REEL_CLOCK_WALL;
    }
    for (size_t t = 0; t < n_texts; t++) {
        size_t size = 0;
        int64_t by_ns = 0;
        bool found = false;
        if (!parse_shift(texts[t], &size, &by_ns, err)) {
            return false;
        }
        for (uint32_t i = 0; i < n; i++) {
            if (strlen(keys[i]) == size && memcmp(keys[i], texts[t], size) == 0) {
                found = true;
                if (!align_move(info_of(recordings[i]), by_ns, &out[i], err)) {
                    return reel_error_at(err, "%s", keys[i]);
                }
            }
        }
        if (!found) {
            return reel_fail(err, REEL_ARGUMENT, "\"%.200s\" names none of the recordings that are merged", texts[t]);
        }
    }
    return true;
}
