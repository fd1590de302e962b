/* See message.h. */
#include "formats/capnproto/message.h"

#include "base/cursor.h"

enum { WORD = 8, NUMBER_MASK = (1 << 29) - 1 };

static bool cp_fail(struct cp_message *m, const uint8_t *at) {
    m->failed_at = m->failed ? m->failed_at : (size_t)(at - m->all.data);
    m->failed = true;
    return false;
}

bool cp_message_open(struct cp_message *m, struct reel_bytes all) {
    struct cursor c = cursor_of(all);
    *m = (struct cp_message){.all = all};
    uint32_t more = cursor_u32le(&c);
    if (c.failed || more >= REEL_CAPNPROTO_SEGMENTS_MAX) {
        return cp_fail(m, all.data);
    }
    struct cursor sizes = cursor_sub(&c, 4 * ((uint64_t)more + 1));
    cursor_take(&c, more % 2 ? 4 : 0);
    for (uint32_t i = 0; i <= more && !c.failed; i++) {
        m->segments[i] = cursor_bytes(&c, (uint64_t)cursor_u32le(&sizes) * WORD);
    }
    m->n = c.failed ? 0 : more + 1;
    return !c.failed || cp_fail(m, all.data);
}

struct cp_place cp_root(void) {
    return (struct cp_place){0, 0};
}

/* `words` words of a segment; empty and failed when they are not there. */
static struct reel_bytes words_at(struct cp_message *m, struct cp_place place, uint64_t words) {
    struct reel_bytes none = bytes_of(m->all.data, 0);
    struct reel_bytes segment = place.segment < m->n ? m->segments[place.segment] : none;
    if (m->failed || place.segment >= m->n || place.at > segment.size || words > (segment.size - place.at) / WORD) {
        cp_fail(m, segment.data + (place.at < segment.size ? place.at : segment.size));
        return none;
    }
    return bytes_of(segment.data + place.at, (size_t)words * WORD);
}
static uint64_t word_at(struct cp_message *m, struct cp_place place) {
    struct reel_bytes word = words_at(m, place, 1);
    return word.size > 0 ? load_u64le(word.data) : 0;
}

static struct cp_place far_place(uint64_t far) {
    return (struct cp_place){(uint32_t)(far >> 32), (size_t)(far >> 3 & NUMBER_MASK) * WORD};
}

/* Where the content of the pointer at *place begins; its word says what it is. */
static uint64_t resolve(struct cp_message *m, struct cp_place *place) {
    uint64_t word = word_at(m, *place);
    if ((word & 3) == 2) {
        struct cp_place pad = far_place(word);
        bool is_double = word >> 2 & 1;
        word = word_at(m, pad);
        *place = pad;
        if (is_double) {
            struct cp_place tag = {pad.segment, pad.at + WORD};
            bool good = (word & 7) == 2;
            *place = far_place(word);
            word = word_at(m, tag);
            return good && (word & 3) < 2 ? word : cp_fail(m, m->all.data);
        }
        if ((word & 3) == 2) {
            return cp_fail(m, m->all.data);
        }
    }
    int64_t words = (int64_t)(int32_t)(uint32_t)word >> 2;
    int64_t at = (int64_t)place->at + WORD + words * WORD;
    place->at = at < 0 ? SIZE_MAX : (size_t)at;
    return word;
}

static struct cp_struct struct_of(struct cp_message *m, struct cp_place place, uint64_t word) {
    uint16_t data = (uint16_t)(word >> 32), pointers = (uint16_t)(word >> 48);
    struct reel_bytes all = words_at(m, place, (uint64_t)data + pointers);
    if (all.size == 0) {
        return (struct cp_struct){.data = all};
    }
    return (struct cp_struct){.data = bytes_of(all.data, (size_t)data * WORD),
                              .bits = (uint64_t)data * 64,
                              .pointers = {place.segment, place.at + (size_t)data * WORD},
                              .n_pointers = pointers};
}

static struct cp_list list_of(struct cp_message *m, struct cp_place place, uint64_t word) {
    static const uint8_t bits[] = {0, 1, 8, 16, 32, 64, 64};
    struct cp_list l = {.size = (enum cp_size)(word >> 32 & 7), .n = (uint32_t)(word >> 35), .place = place};
    if (l.size != CP_COMPOSITE) {
        l.data = words_at(m, place, ((uint64_t)l.n * bits[l.size] + 63) / 64);
        l.n = m->failed ? 0 : l.n;
        return l;
    }
    uint64_t tag = word_at(m, place), words = l.n;
    l.n = (uint32_t)(tag >> 2 & (NUMBER_MASK * 2U + 1));
    l.words = (uint16_t)(tag >> 32);
    l.n_pointers = (uint16_t)(tag >> 48);
    l.place.at += WORD;
    l.data = words_at(m, l.place, words);
    if ((tag & 3) != 0 || (uint64_t)l.n * ((uint64_t)l.words + l.n_pointers) > words) {
        cp_fail(m, l.data.data);
    }
    l.n = m->failed ? 0 : l.n;
    return l;
}

enum cp_kind cp_follow(struct cp_message *m, struct cp_place at, struct cp_struct *s, struct cp_list *l) {
    *s = (struct cp_struct){.data = bytes_of("", 0)};
    *l = (struct cp_list){.data = bytes_of("", 0)};
    struct cp_place place = at;
    uint64_t word = resolve(m, &place);
    if (word == 0 || m->failed) {
        return CP_NULL;
    }
    if ((word & 3) == 0) {
        *s = struct_of(m, place, word);
        return m->failed ? CP_NULL : CP_STRUCT;
    }
    if ((word & 3) == 1) {
        *l = list_of(m, place, word);
        return m->failed ? CP_NULL : CP_LIST;
    }
    return CP_OTHER;
}
struct cp_struct cp_struct_at(struct cp_message *m, struct cp_place at) {
    struct cp_struct s;
    struct cp_list l;
    cp_follow(m, at, &s, &l);
    return s;
}
struct cp_list cp_list_at(struct cp_message *m, struct cp_place at) {
    struct cp_struct s;
    struct cp_list l;
    cp_follow(m, at, &s, &l);
    return l;
}

uint64_t cp_number(const struct cp_struct *s, uint64_t position, unsigned bits) {
    if ((position + 1) * bits > s->bits) {
        return 0;
    }
    if (bits == 1) {
        return s->data.data[position / 8] >> position % 8 & 1;
    }
    const uint8_t *at = s->data.data + position * (bits / 8);
    return bits == 8 ? *at : bits == 16 ? load_u16le(at) : bits == 32 ? load_u32le(at) : load_u64le(at);
}

bool cp_pointer(const struct cp_struct *s, uint32_t position, struct cp_place *at) {
    *at = (struct cp_place){s->pointers.segment, s->pointers.at + (size_t)position * WORD};
    return position < s->n_pointers;
}

struct cp_struct cp_element(const struct cp_list *l, uint32_t i) {
    static const uint8_t bits[] = {0, 1, 8, 16, 32, 64};
    struct cp_struct s = {.data = bytes_of("", 0)};
    if (l->size == CP_POINTER) {
        s.pointers = (struct cp_place){l->place.segment, l->place.at + (size_t)i * WORD};
        s.n_pointers = 1;
    } else if (l->size == CP_COMPOSITE) {
        size_t at = (size_t)i * ((size_t)l->words + l->n_pointers) * WORD, data = (size_t)l->words * WORD;
        s.data = bytes_of(l->data.data + at, data);
        s.bits = data * 8;
        s.pointers = (struct cp_place){l->place.segment, l->place.at + at + data};
        s.n_pointers = l->n_pointers;
    } else if (l->size > CP_BIT) {
        size_t size = bits[l->size] / 8U;
        s.data = bytes_of(l->data.data + (size_t)i * size, size);
        s.bits = bits[l->size];
    }
    return s;
}

struct reel_bytes cp_bytes(const struct cp_list *l, bool is_text) {
    bool good = l->size == CP_1 && l->n >= is_text;
    return good ? bytes_of(l->data.data, l->n - is_text) : bytes_of("", 0);
}
