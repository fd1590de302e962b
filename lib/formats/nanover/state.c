/* Computes frame and state at a time as one message, to put in front of a cut or to display. Messages are read from the
 * newest backwards, and the first value found for a key counts. So each value is copied once, and of messages with the
 * same keys only the last is read. */
#include "formats/nanover/payload.h"

#include <msgpack.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "stream/initial_state.h"
#include "stream/stream.h"

enum {
    FOLD_MESSAGES_MAX = 1 << 20, /* most messages read for one cut */
    FOLD_KEYS_MAX = 1 << 22,     /* most keys in one frame or state */
};

/* --- which messages count --- */

struct pick {
    struct reel_entry entry;
    bool frame, state;
};
struct picks {
    const struct nanover_sum *sum;
    struct reel_reader *reader;
    struct pick *items;
    size_t count, capacity;
    uint8_t seen[(NANOVER_SETS_MAX + 1) / 8]; /* key sets already found in the current channel */
    bool frame, state;                        /* what the current channel carries … */
    bool frame_done;                          /* … and whether its last reset was passed */
    struct reel_entry reset;                  /* the last reset over all channels */
    bool has_reset, failed;
    struct reel_error *err;
};

static int nanover_state_compare_positions(const struct reel_entry *a, const struct reel_entry *b) {
    if (a->time_ns != b->time_ns) {
        return a->time_ns < b->time_ns ? -1 : 1;
    }
    if (a->chunk != b->chunk) {
        return a->chunk < b->chunk ? -1 : 1;
    }
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}
static int newest_first(const void *a, const void *b) {
    return nanover_state_compare_positions(&((const struct pick *)b)->entry, &((const struct pick *)a)->entry);
}

static bool pick_add(struct picks *p, const struct reel_entry *entry) {
    if (p->count == FOLD_MESSAGES_MAX) {
        return reel_fail(p->err, REEL_LIMIT, "more than %d messages make the state of this instant", FOLD_MESSAGES_MAX);
    }
    if (!GROW_ARRAY(p->items, p->count, p->capacity)) {
        return reel_fail_memory(p->err);
    }
    p->items[p->count++] = (struct pick){.entry = *entry, .frame = p->frame && !p->frame_done, .state = p->state};
    return true;
}

/* Visits the entries of one channel, newest first. */
static bool nanover_visit(void *context, const struct reel_entry *stored) {
    struct picks *p = context;
    struct reel_entry own = *stored, *entry = &own;
    if (p->sum->read_entry && !p->sum->read_entry(p->sum->context, p->reader, entry, p->err)) {
        p->failed = true;
        return false;
    }
    uint32_t set = nanover_key_set(entry);
    bool is_new = set == 0 || (p->seen[set / 8] & 1 << set % 8) == 0;
    p->seen[set / 8] |= (uint8_t)(1 << set % 8);
    if (is_new && !pick_add(p, entry)) {
        p->failed = true;
        return false;
    }
    if (p->frame && !p->frame_done && nanover_is_reset(entry)) {
        p->frame_done = true;
        if (!p->has_reset || nanover_state_compare_positions(&p->reset, entry) < 0) {
            p->reset = *entry;
            p->has_reset = true;
        }
    }
    return p->state || !p->frame_done;
}

static bool carries(const struct reel_channel *channel, const char *type) {
    for (uint32_t i = 0; i < channel->n_topics; i++) {
        if (strcmp(channel->topics[i], type) == 0) {
            return true;
        }
    }
    return false;
}

static bool pick_all(struct picks *p, int64_t time_ns, const bool *wanted) {
    const struct reel_index *index = reel_recording_index(reel_reader_recording(p->reader));
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels; i++) {
        const struct reel_channel *channel = reel_index_channel(index, i);
        p->frame = p->sum->frame && carries(channel, "frame");
        p->state = p->sum->state && carries(channel, "state");
        if (!wanted[i] || (!p->frame && !p->state)) {
            continue;
        }
        p->frame_done = false;
        memset(p->seen, 0, sizeof p->seen);
        if (!reel_reader_reverse(p->reader, i, time_ns, nanover_visit, p, p->err) || p->failed) {
            return false;
        }
    }
    for (size_t i = 0; i < p->count; i++) {
        p->items[i].frame &= !p->has_reset || nanover_state_compare_positions(&p->items[i].entry, &p->reset) >= 0;
    }
    if (p->count > 0) {
        qsort(p->items, p->count, sizeof *p->items, newest_first);
    }
    return true;
}

/* --- the fold --- */

struct key {
    uint32_t turn;                 /* the list in which it was found */
    struct reel_bytes name, value; /* packed, with header; empty value: removed */
};
struct keys { /* in the order of discovery, with a hash table */
    struct key *items;
    struct hash_table indexes; /* → index in items + 1 */
    size_t count, capacity;
    size_t n_values; /* number of keys that are not removals */
};
struct fold {
    struct arena arena; /* holds names and values; its limit bounds the result */
    struct keys frame, state;
    uint32_t turn; /* number of lists read so far */
    bool has_frame, has_state, has_reset;
    bool unscanned; /* no scan has checked the messages, so others than NanoVer's are skipped */
};

static bool keys_grow(struct keys *k, struct reel_error *err) {
    if (k->count >= FOLD_KEYS_MAX) {
        return reel_fail(err, REEL_LIMIT, "more than %d keys make the state of this instant", FOLD_KEYS_MAX);
    }
    return GROW_ARRAY(k->items, k->count, k->capacity) || reel_fail_memory(err);
}

/* Keeps the first value found for a key, but the last one within the same list. Copies name and value. */
static bool keys_put(struct fold *f, struct keys *k, struct reel_bytes name, struct reel_bytes value,
                     struct reel_error *err) {
    if (k->count == k->capacity && !keys_grow(k, err)) {
        return false;
    }
    size_t index = hash_table_get(&k->indexes, hash_key_bytes(name));
    if (index != 0 && k->items[index - 1].turn != f->turn) {
        return true;
    }
    uint8_t *copy = arena_alloc(&f->arena, name.size + value.size + 1);
    if (!copy) {
        return reel_fail(err, REEL_LIMIT, "the state of this instant exceeds %d bytes, or there is no memory for it",
                         REEL_DECODED_MAX);
    }
    memcpy(copy, name.data, name.size);
    if (value.size > 0) {
        memcpy(copy + name.size, value.data, value.size);
    }
    struct key key = {
        .turn = f->turn, .name = bytes_of(copy, name.size), .value = bytes_of(copy + name.size, value.size)};
    if (index == 0) {
        if (!hash_table_set(&k->indexes, hash_key_bytes(key.name), k->count + 1, err)) {
            return false;
        }
        index = ++k->count;
        k->n_values += value.size > 0;
    }
    k->items[index - 1] = key;
    return true;
}

/* Adds every pair of a map, or every item of an array as a removal. Keys that are not text are skipped. */
static bool keys_fold(struct fold *f, struct keys *k, struct cursor c, struct reel_error *err) {
    struct msgpack_faults faults = {.text = false};
    struct msgpack_item list;
    enum msgpack_result r = msgpack_read(&c, &list);
    f->turn++;
    for (uint64_t i = 0; i < list.count && r == MSGPACK_OK; i++) {
        struct msgpack_item key;
        r = msgpack_take(&c, &key, REEL_DEPTH_MAX, &faults);
        const uint8_t *value = c.at;
        r = r == MSGPACK_OK && list.kind == MSGPACK_MAP ? msgpack_skip(&c, REEL_DEPTH_MAX, &faults) : r;
        size_t size = (size_t)(c.at - value);
        if (r == MSGPACK_OK && key.kind == MSGPACK_STR && !keys_put(f, k, key.bytes, bytes_of(value, size), err)) {
            return false;
        }
    }
    return r == MSGPACK_OK || reel_fail(err, REEL_CHANGED, "a message is not the one that was scanned");
}

static bool fold_message(struct fold *f, const struct pick *pick, struct reel_bytes message, struct reel_error *err) {
    struct nanover_body body;
    if (nanover_message_body(message, &body) != MSGPACK_OK) {
        return f->unscanned || reel_fail(err, REEL_CHANGED, "message at %llu is not the one that was scanned",
                                         (unsigned long long)pick->entry.offset);
    }
    if (pick->frame && body.has_frame) {
        f->has_frame = true;
        if (!keys_fold(f, &f->frame, body.frame, err)) {
            return false;
        }
    }
    if (!pick->state || !body.has_state) {
        return true;
    }
    f->has_state = true; /* a message applies updates before removals, so backwards its removals come first */
    return (!body.has_removals || keys_fold(f, &f->state, body.removals, err)) &&
           (!body.has_updates || keys_fold(f, &f->state, body.updates, err));
}

/* --- the message --- */

static void pack_text(msgpack_packer *pk, struct reel_bytes text) {
    msgpack_pack_str_with_body(pk, text.data, text.size);
}
static void pack_word(msgpack_packer *pk, const char *word) {
    pack_text(pk, bytes_text(word));
}

/* Packs all keys that were not removed, except `skip`. */
static void pack_keys(msgpack_packer *pk, msgpack_sbuffer *out, const struct keys *k, const char *skip) {
    for (size_t i = 0; i < k->count; i++) {
        const struct key *key = &k->items[i];
        if (key->value.size > 0 && !(skip && bytes_is(key->name, skip))) {
            pack_text(pk, key->name);
            msgpack_sbuffer_write(out, (const char *)key->value.data, key->value.size);
        }
    }
}

static size_t packed_size(const struct keys *k) {
    size_t size = 0;
    for (size_t i = 0; i < k->count; i++) {
        size += k->items[i].name.size + 5 + k->items[i].value.size;
    }
    return size;
}

/* frame.index 0 stays until the next reset. In a cut it is always present, because for a player the cut is a run that
 * starts here. */
static void pack_frame(const struct fold *f, const struct nanover_sum *sum, msgpack_packer *pk, msgpack_sbuffer *out) {
    bool zero = sum->as_run || f->has_reset, has_index = false;
    for (size_t i = 0; i < f->frame.count; i++) {
        has_index |= bytes_is(f->frame.items[i].name, NANOVER_FRAME_INDEX);
    }
    pack_word(pk, "frame");
    msgpack_pack_map(pk, f->frame.n_values + (zero && !has_index));
    if (zero) {
        pack_word(pk, NANOVER_FRAME_INDEX);
        msgpack_pack_uint64(pk, 0);
    }
    pack_keys(pk, out, &f->frame, zero ? NANOVER_FRAME_INDEX : NULL);
}

static bool pack_message(const struct fold *f, struct nanover_sum *sum, struct reel_error *err) {
    size_t room = packed_size(&f->frame) + packed_size(&f->state) + 128;
    msgpack_sbuffer out = {.data = malloc(room), .alloc = room};
    if (!out.data) {
        return reel_fail_memory(err);
    }
    msgpack_packer pk;
    msgpack_packer_init(&pk, &out, msgpack_sbuffer_write);
    bool frame = sum->as_run ? sum->has_frame : sum->frame, state = sum->as_run ? sum->has_state : sum->state;
    msgpack_pack_map(&pk, (size_t)frame + (size_t)state);
    if (frame) {
        pack_frame(f, sum, &pk, &out);
    }
    if (state) {
        pack_word(&pk, "state");
        msgpack_pack_map(&pk, 2);
        pack_word(&pk, "updates");
        msgpack_pack_map(&pk, f->state.n_values);
        pack_keys(&pk, &out, &f->state, NULL);
        pack_word(&pk, "removals");
        msgpack_pack_array(&pk, 0);
    }
    sum->data = (uint8_t *)out.data;
    sum->size = out.size;
    return true;
}

static void fold_free(struct fold *f) {
    arena_free(&f->arena);
    free(f->frame.items);
    hash_table_free(&f->frame.indexes);
    free(f->state.items);
    hash_table_free(&f->state.indexes);
}
static inline void reel_auto_picks_free(struct picks **p) {
    if (*p) {
        free((*p)->items);
        free(*p);
    }
}

bool nanover_sum_at(struct nanover_sum *sum, struct reel_reader *reader, int64_t time_ns, const bool *wanted,
                    struct reel_error *err) {
    __attribute__((cleanup(reel_auto_picks_free))) struct picks *picks = calloc(1, sizeof *picks);
    if (!picks) {
        return reel_fail_memory(err);
    }
    picks->sum = sum;
    picks->reader = reader;
    picks->err = err;
    if (!pick_all(picks, time_ns, wanted)) {
        return false;
    }
    AUTO_STRUCT(fold_free)
    struct fold fold = {
        .arena = {.max = REEL_DECODED_MAX}, .has_reset = picks->has_reset, .unscanned = sum->read_entry != NULL};
    for (size_t i = 0; i < picks->count; i++) {
        struct reel_bytes message;
        const struct pick *pick = &picks->items[i];
        if ((pick->frame || pick->state) && (!sum->load(sum->context, reader, &pick->entry, &message, err) ||
                                             !fold_message(&fold, pick, message, err))) {
            return false;
        }
    }
    sum->has_frame = fold.has_frame;
    sum->has_state = fold.has_state;
    return pack_message(&fold, sum, err);
}

/* --- in front of a cut --- */

static bool add_initial_state(struct nanover_sum *sum, int64_t time_ns, struct reel_initial_state *initial,
                              struct reel_error *err) {
    struct reel_bytes types[2];
    unsigned n_types = 0;
    if (sum->has_frame) {
        types[n_types++] = bytes_text("frame");
    }
    if (sum->has_state) {
        types[n_types++] = bytes_text("state");
    }
    struct arena arena = {.max = 1 << 16};
    struct reel_channel channel;
    const uint64_t extra[REEL_ENTRY_EXTRAS] = {sum->has_frame, sum->has_frame};
    bool good = (nanover_channel(&arena, types, n_types, &channel) || reel_fail_memory(err)) &&
                reel_initial_state_add(initial, &channel, time_ns, TAKE(sum->data), sum->size, extra, err);
    arena_free(&arena);
    return good;
}

static bool load_entry(void *context, struct reel_reader *reader, const struct reel_entry *entry,
                       struct reel_bytes *out, struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(reel_reader_recording(reader));
    enum legacy_kind kind = legacy_channel_kind(reel_index_channel(index, entry->channel));
    struct reel_bytes raw;
    if (!stream_may_decode(entry->size, err)) {
        return false;
    }
    if (kind == LEGACY_NONE) {
        return reel_reader_payload(reader, entry, out, err);
    }
    return reel_reader_payload(reader, entry, &raw, err) && legacy_convert(context, kind, raw, out, err);
}

/* Fills the extra columns that the entry would have in a NanoVer file. */
static bool nanover_state_read_entry(void *context, struct reel_reader *reader, struct reel_entry *entry,
                                     struct reel_error *err) {
    struct reel_bytes message;
    if (!load_entry(context, reader, entry, &message, err)) {
        return false;
    }
    nanover_fill_entry(message, entry);
    return true;
}
static bool is_foreign(const struct reel_reader *reader) {
    return !nanover_is_own(reel_recording_index(reel_reader_recording(reader)));
}

static bool sum_in_front(struct nanover_sum *sum, struct reel_reader *reader, int64_t time_ns, const bool *wanted,
                         struct reel_initial_state *initial, struct reel_error *err) {
    bool good = nanover_sum_at(sum, reader, time_ns, wanted, err) &&
                ((!sum->has_frame && !sum->has_state) || add_initial_state(sum, time_ns, initial, err));
    free(TAKE(sum->data));
    return good;
}

bool nanover_state_at(struct reel_reader *reader, int64_t time_ns, const bool *wanted,
                      struct reel_initial_state *initial, struct reel_error *err) {
    AUTO_STRUCT(legacy_converter_done) struct legacy_converter converter = {.n_pairs = 0};
    struct nanover_sum sum = {.frame = true, .state = true, .as_run = true, .load = load_entry, .context = &converter};
    sum.read_entry = is_foreign(reader) ? nanover_state_read_entry : NULL;
    return sum_in_front(&sum, reader, time_ns, wanted, initial, err);
}

bool nanover_is_there(const struct reel_index *index) {
    bool any = nanover_is_own(index);
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels && !any; i++) {
        any = nanover_holds(reel_index_channel(index, i));
    }
    return any;
}

bool nanover_moment(struct reel_reader *reader, int64_t time_ns, bool frame, uint8_t **data, size_t *size,
                    struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(reel_reader_recording(reader));
    uint32_t n = reel_index_info(index)->n_channels;
    AUTO_STRUCT(legacy_converter_done) struct legacy_converter converter = {.n_pairs = 0};
    AUTO_MEM bool *wanted = calloc(n ? n : 1, sizeof *wanted);
    if (!wanted) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        wanted[i] = nanover_holds(reel_index_channel(index, i));
    }
    struct nanover_sum sum = {.frame = frame, .state = !frame, .load = load_entry, .context = &converter};
    sum.read_entry = is_foreign(reader) ? nanover_state_read_entry : NULL;
    bool good = nanover_sum_at(&sum, reader, time_ns, wanted, err);
    *data = good ? sum.data : NULL;
    *size = good ? sum.size : 0;
    if (!good) {
        free(sum.data);
    }
    return good;
}
