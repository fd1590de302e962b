/* Which messages are sound, and where the walk goes on after one that is not: behind it, where sound ones follow; else
 * at the next sync message, or at the next run of sound messages. The search has an allowance, so that the scan stays
 * linear in the size of the file. */
#include "formats/ulog/container.h"

#include "base/bytes.h"
#include "base/cursor.h"

enum {
    RUN = 4,              /* so many sound messages in a row are no coincidence … */
    RUN_AT_END = 2,       /* … and these, if they end where the file does */
    COST = 16,            /* deducted from the allowance for each message that is looked at */
    NAME_MAX_BYTES = 256, /* of a format: more are not looked at, as the allowance is not charged for them */
    PROGRESS_STEP = 4 << 20,
};

uint64_t ulog_section_end(const struct ulog *u, uint64_t at) {
    for (size_t i = 0; i < ULOG_APPENDED; i++) {
        if (u->appended[i] > at) {
            return u->appended[i];
        }
    }
    return u->source->size;
}

bool ulog_progress(struct ulog *u, uint64_t at, struct reel_error *err) {
    if (at < u->report_at) {
        return true;
    }
    u->report_at = at + PROGRESS_STEP;
    return reel_scan_progress(u->scan, u->looking ? 0 : at, u->source->size, err);
}

bool ulog_read(struct ulog *u, struct window *w, uint64_t at, struct ulog_message *m, bool *fits,
               struct reel_error *err) {
    uint64_t left = ulog_section_end(u, at) - at;
    *m = (struct ulog_message){.at = at, .end = at, .data = bytes_of("", 0)};
    *fits = left >= ULOG_HEAD;
    const uint8_t *p = *fits ? window_at(w, at, ULOG_HEAD, err) : NULL;
    if (!p) {
        return !*fits;
    }
    size_t size = load_u16le(p);
    m->type = p[2];
    m->end = at + ULOG_HEAD + size;
    *fits = size <= left - ULOG_HEAD;
    if (*fits && size > 0) {
        p = window_at(w, at, ULOG_HEAD + size, err);
        m->data = bytes_of(p ? p + ULOG_HEAD : NULL, size);
    }
    return p != NULL;
}

/* ---- content */

static bool is_data(const struct ulog *u, struct reel_bytes data, bool known) {
    uint32_t topic = data.size >= 2 ? ulog_topic_of(u, load_u16le(data.data)) : 0;
    if (topic == 0) {
        return data.size > 2 && !known;
    }
    const struct ulog_format *f = u->topics[topic - 1].format;
    return !f || f->state != ULOG_GOOD || (data.size - 2 >= f->shorter && data.size - 2 <= f->size);
}

static bool is_level(struct reel_bytes data, size_t head) {
    return data.size >= head && (data.data[0] < 8 || (data.data[0] >= '0' && data.data[0] <= '7'));
}

static bool is_subscription(struct reel_bytes data) {
    struct reel_bytes name, fields;
    char text[257];
    size_t size = data.size > 3 ? data.size - 3 : 0;
    if (size == 0 || size >= sizeof text - 1) {
        return false;
    }
    memcpy(text, data.data + 3, size);
    text[size] = ':';
    return ulog_format_read(bytes_of(text, size + 1), &name, &fields);
}

bool ulog_is_sound(const struct ulog *u, const struct ulog_message *m, bool known) {
    struct reel_bytes name, value, d = m->data;
    struct ulog_field key;
    size_t skip = m->type == 'M' || m->type == 'Q';
    switch (m->type) {
    case 'B':
        return m->at == ULOG_HEADER && d.size >= ULOG_FLAGS;
    case 'F':
        return ulog_format_read(bytes_of(d.data, d.size <= NAME_MAX_BYTES ? d.size : NAME_MAX_BYTES + 1), &name,
                                &value);
    case 'I':
    case 'M':
    case 'P':
    case 'Q':
        return d.size > skip && ulog_fact_read(bytes_of(d.data + skip, d.size - skip), &key, &value) &&
               (m->type == 'I' || m->type == 'M' || value.size == 4);
    case 'A':
        return is_subscription(d);
    case 'R':
    case 'O':
        return d.size == 2;
    case 'D':
        return is_data(u, d, known);
    case 'L':
        return is_level(d, 1 + 8);
    case 'C':
        return is_level(d, 1 + 2 + 8);
    case 'S':
        return d.size == ULOG_SYNC_SIZE && memcmp(d.data, ULOG_SYNC, ULOG_SYNC_SIZE) == 0;
    default:
        return false;
    }
}

/* ---- the search */

/* Could this be the head of a message? */
static bool may_begin(const uint8_t *p) {
    static const bool types[256] = {['F'] = true, ['I'] = true, ['M'] = true, ['P'] = true, ['Q'] = true, ['A'] = true,
                                    ['R'] = true, ['D'] = true, ['L'] = true, ['C'] = true, ['S'] = true, ['O'] = true};
    return types[p[2]] && (p[0] | p[1]) != 0;
}

/* Does the file end inside of this message, which does not fit? */
static bool is_cut(struct ulog *u, uint64_t at, bool *yes, struct reel_error *err) {
    *yes = u->source->size - at < ULOG_HEAD;
    const uint8_t *p = *yes ? NULL : window_at(&u->peek, at, ULOG_HEAD, err);
    *yes = *yes || (p && may_begin(p));
    return p || *yes;
}

/* *yes: a run of sound messages begins at `at`, or the file ends there. */
static bool is_run(struct ulog *u, uint64_t at, bool known, bool *yes, struct reel_error *err) {
    uint64_t end = u->source->size;
    *yes = true;
    for (unsigned n = 0; *yes && n < RUN; n++) {
        struct ulog_message m;
        bool fits = at < end, cut = true;
        u->search_left -= COST < u->search_left ? COST : u->search_left;
        if ((fits && !ulog_read(u, &u->peek, at, &m, &fits, err)) || (!fits && !is_cut(u, at, &cut, err))) {
            return false;
        }
        if (!fits) {
            *yes = cut && (!known || n >= RUN_AT_END);
            return true;
        }
        *yes = ulog_is_sound(u, &m, known);
        if (*yes && n == 0 && m.type == 'S') {
            return true;
        }
        at = m.end;
    }
    return true;
}

/* How many of `n` bytes there are before what could be a message. */
static size_t skip_others(const uint8_t *p, size_t n) {
    size_t i = 0;
    while (i < n && !may_begin(p + i)) {
        i++;
    }
    return i;
}

/* *to: where sound messages begin before `end`; the end of the file when the allowance is used up. */
static bool search(struct ulog *u, uint64_t from, uint64_t end, uint64_t *to, struct reel_error *err) {
    uint64_t size = u->source->size;
    for (uint64_t at = from; at < end && end - at >= ULOG_HEAD && u->search_left > 0; at++) {
        const uint8_t *p = window_at(&u->window, at, ULOG_HEAD, err);
        if (!p || !ulog_progress(u, at, err)) {
            return false;
        }
        size_t held = window_held(&u->window, at), n = (held < end - at ? held : (size_t)(end - at)) - ULOG_HEAD + 1;
        size_t skipped = skip_others(p, n);
        bool yes = skipped < n;
        at += yes ? skipped : skipped - 1; /* at++ follows */
        u->search_left -= skipped + 1 < u->search_left ? skipped + 1 : u->search_left;
        if (yes && !is_run(u, at, true, &yes, err)) {
            return false;
        }
        if (yes) {
            *to = at;
            return true;
        }
    }
    *to = u->search_left > 0 ? end : size;
    return true;
}

static bool is_empty(struct ulog *u, uint64_t at, bool *yes, struct reel_error *err) {
    *yes = true;
    while (*yes && at < u->source->size) {
        uint64_t left = u->source->size - at;
        size_t size = left < REEL_WINDOW_BYTES ? (size_t)left : REEL_WINDOW_BYTES;
        const uint8_t *p = window_at(&u->window, at, size, err);
        if (!p) {
            return false;
        }
        for (size_t i = 0; *yes && i < size; i++) {
            *yes = p[i] == 0;
        }
        at += size;
    }
    return true;
}

static void report(struct ulog *u, uint64_t from, uint64_t to, const char *why, bool empty) {
    unsigned long long first = from, bytes = to - from;
    if (u->looking) {
        return;
    }
    if (empty) {
        reel_scan_finding(u->scan, REEL_NOTE, 0, from, to - from, "the last %llu bytes are zeros: space for more",
                          bytes);
    } else if (to == u->source->size) {
        reel_scan_finding(u->scan, REEL_LOSS, 0, from, to - from,
                          "truncated at byte %llu: %s; the last %llu bytes are lost", first, why, bytes);
    } else if (to == ulog_section_end(u, from)) {
        reel_scan_finding(u->scan, REEL_LOSS, 0, from, to - from,
                          "the log was cut at byte %llu before data were appended; %llu bytes are lost", first, bytes);
    } else {
        reel_scan_finding(u->scan, REEL_LOSS, 0, from, to - from, "%s; bytes %llu to %llu are lost", why, first,
                          first + bytes - 1);
    }
}

/* *to: behind a message of a type that is not known, or of a known one with another content, if others follow there
 * and none begin in it. */
static bool skip(struct ulog *u, const struct ulog_message *m, uint64_t *to, struct reel_error *err) {
    bool known_type = memchr("BFIMPQARDLCSO", m->type, 13) != NULL, follows = m->data.size > 0;
    struct ulog_count *count = !known_type                                    ? &u->unknown
                               : m->type == 'D' && ulog_is_sound(u, m, false) ? &u->orphans
                                                                              : &u->misfits;
    const uint64_t at = m->at, end = m->end;
    *to = at;
    if (follows && !is_run(u, end, false, &follows, err)) {
        return false;
    }
    if (!follows) {
        return true;
    }
    if (!search(u, at + 1, end, to, err)) {
        return false;
    }
    if (*to == end) {
        ulog_count(count, at);
    } else {
        *to = at;
    }
    return true;
}

bool ulog_resume(struct ulog *u, const struct ulog_message *m, bool fits, struct reel_error *err) {
    const char *why = fits ? "a message is damaged" : "a message is longer than what is left";
    const uint64_t from = m->at;
    uint64_t to = from;
    bool empty = false;
    if (fits && !skip(u, m, &to, err)) {
        return false;
    }
    if (to == from) {
        if (!search(u, from + 1, ulog_section_end(u, from), &to, err) ||
            (to == u->source->size && !is_empty(u, from, &empty, err))) {
            return false;
        }
        report(u, from, to, why, empty);
    }
    u->at = to;
    return true;
}
