/* Finds the position where the walk continues after damage: after the damaged field, by the size in its header, or else
 * at the next plausible field. The search has an allowance, so that the scan stays linear in the size of the file. */
#include "base/bytes.h"
#include "formats/mira/container.h"

enum { COST = 4096 }; /* deducted from the allowance for each read elsewhere */

/* See container.h. */
static bool is_strict(const struct mira_field *f) {
    return mira_size_agrees(f) && (f->type != MIRA_BLOCK || f->size >= MIRA_BLOCK_HEAD) &&
           (f->type != MIRA_MESSAGE || f->message.channel.size > 0);
}

bool mira_inspect(struct mira *t, uint64_t at, struct mira_field *f, bool *yes, struct reel_error *err) {
    struct reel_error why = {0};
    t->search_left -= COST < t->search_left ? COST : t->search_left;
    *yes = mira_field_read(t, &t->peek, at, f, &why) && is_strict(f);
    return *yes || why.code == REEL_DAMAGED || why.code == REEL_OK || reel_error_pass(err, &why);
}

bool mira_is_field(struct mira *t, uint64_t at, bool *yes, struct reel_error *err) {
    struct mira_field f;
    uint64_t left = at < t->source->size ? t->source->size - at : 0;
    *yes = at == t->source->size;
    if (left == 0) {
        return true;
    }
    if (!mira_inspect(t, at, &f, yes, err)) {
        return false;
    }
    *yes |= f.cut && (left < MIRA_FIELD_HEAD || f.size > left - MIRA_FIELD_HEAD); /* the last one, cut by the end of the
                                                                                     file */
    return true;
}

/* Is there a field at `at` that another one follows? Its first bytes are at p. */
static bool is_candidate(struct mira *t, const uint8_t *p, uint64_t at, bool *yes, struct reel_error *err) {
    struct cursor c = cursor_of(bytes_of(p + 1, MIRA_FIELD_HEAD - 1));
    uint32_t size = mira_u32(&c, t->header.big);
    *yes = false;
    if (size < 4 || size > t->source->size - at) {
        return true;
    }
    struct mira_field f;
    if (!mira_inspect(t, at, &f, yes, err)) {
        return false;
    }
    if (*yes && f.end < t->source->size) {
        const uint8_t *next = window_at(&t->peek, f.end, 1, err);
        *yes = next && *next >= MIRA_BLOCK && *next <= MIRA_INDEX;
        return next != NULL;
    }
    return true;
}

/* *to: the next plausible field; the end of the file if there is none. */
static bool mira_search(struct mira *t, uint64_t from, uint64_t *to, struct reel_error *err) {
    uint64_t size = t->source->size;
    *to = size;
    for (uint64_t at = from; at < size && size - at > MIRA_FIELD_HEAD && t->search_left > 0;) {
        const uint8_t *p = window_at(&t->window, at, MIRA_FIELD_HEAD, err);
        if (!p || !mira_progress(t, at, err)) {
            return false;
        }
        size_t held = window_held(&t->window, at) - MIRA_FIELD_HEAD + 1, i = 0;
        while (i < held && (p[i] < MIRA_BLOCK || p[i] > MIRA_INDEX)) {
            i++;
        }
        bool yes = false;
        if (i < held && !is_candidate(t, p + i, at + i, &yes, err)) {
            return false;
        }
        at += i;
        if (yes) {
            *to = at;
            return true;
        }
        at += i < held;
    }
    return true;
}

/* Uses the size of the damaged field, if a field follows there. */
static bool by_size(struct mira *t, uint64_t *to, struct reel_error *err) {
    uint64_t left = t->source->size - t->at;
    *to = t->source->size;
    if (left < MIRA_FIELD_HEAD) {
        return true;
    }
    const uint8_t *p = window_at(&t->window, t->at, MIRA_FIELD_HEAD, err);
    if (!p) {
        return false;
    }
    struct cursor c = cursor_of(bytes_of(p + 1, MIRA_FIELD_HEAD - 1));
    uint64_t size = mira_u32(&c, t->header.big);
    for (int with = 0; with < 2; with++, size -= MIRA_FIELD_HEAD) { /* the size without the header, and with it */
        struct mira_field f;
        bool yes;
        if (size <= MIRA_FIELD_HEAD || size >= left - MIRA_FIELD_HEAD) {
            continue;
        }
        if (!mira_inspect(t, t->at + MIRA_FIELD_HEAD + size, &f, &yes, err)) {
            return false;
        }
        if (yes) {
            *to = f.at;
            return true;
        }
    }
    return true;
}

bool mira_resume(struct mira *t, const char *why, struct reel_error *err) {
    uint64_t from = t->at, size = t->source->size, to;
    if (!by_size(t, &to, err) || (to == size && !mira_search(t, from + 1, &to, err))) {
        return false;
    }
    if (to == size) {
        reel_scan_finding(t->scan, REEL_LOSS, 0, from, size - from,
                          "truncated at byte %llu: %s; the last %llu bytes are lost", (unsigned long long)from, why,
                          (unsigned long long)(size - from));
    } else {
        reel_scan_finding(t->scan, REEL_LOSS, 0, from, to - from, "%s; bytes %llu to %llu are lost", why,
                          (unsigned long long)from, (unsigned long long)to - 1);
    }
    if (t->block.open) {
        t->block.end = to;
    }
    t->at = to;
    return true;
}
