/* Makes index pack entries from messages. Oddities are counted while scanning and reported once at the end, so that a
 * million odd messages make one finding. */
#include "base/cleanup.h"
#include "formats/nanover/scan.h"

#include <inttypes.h>
#include <libdeflate.h>
#include <stdarg.h>
#include <stdio.h>

enum { PROGRESS_BYTES = 8 << 20, PAUSE_NS = 1000000000 };

static const struct {
    enum reel_severity severity;
    const char *text; /* follows "N messages " */
} quirk_texts[QUIRKS] = {
    [QUIRK_TEXT] = {REEL_WARNING, "hold text that is not valid UTF-8"},
    [QUIRK_KEY] = {REEL_WARNING, "hold a map key that is not text: the official reader refuses them"},
    [QUIRK_FRAME_SHAPE] = {REEL_WARNING, "have a frame or a frame.index of the wrong kind"},
    [QUIRK_STATE_SHAPE] = {REEL_WARNING, "have a state that is not made of updates and removals"},
    [QUIRK_LIST] = {REEL_NOTE, "hold packed keys as lists of numbers"},
    [QUIRK_LENGTH] = {REEL_WARNING, "hold packed keys with an incomplete row: the official reader refuses them"},
    [QUIRK_ROWS] = {REEL_WARNING, "hold per-particle values that are not as many as particles"},
    [QUIRK_RANGE] = {REEL_WARNING, "refer to particles or residues that do not exist"},
    [QUIRK_NO_FRAME_INDEX] = {REEL_NOTE, "have a frame without frame.index"},
    [QUIRK_FIRST_FRAME] = {REEL_NOTE, "begin the recording with a frame that is not a reset (frame.index 0)"},
    [QUIRK_NO_POSITIONS] = {REEL_NOTE, "have a frame without particle.positions, which MDAnalysis needs"},
    [QUIRK_TYPES_MISSING] = {REEL_NOTE, "have no types in the index"},
    [QUIRK_TYPES] = {REEL_WARNING, "have types in the index that are not those of the message"},
    [QUIRK_FRAME_INDEX] = {REEL_WARNING, "have a frame.index in the index that is not that of the frame"},
    [QUIRK_FLOAT_TIME] = {REEL_NOTE, "have a timestamp that is not an integer"},
    [QUIRK_NO_TIME] = {REEL_WARNING, "have no usable timestamp: they take that of the message before"},
    [QUIRK_TIME_BACK] = {REEL_WARNING, "are earlier than the message before"},
    [QUIRK_TIME_32] = {REEL_NOTE, "have a timestamp above 2^32 microseconds, which the VR client cannot play"},
    [QUIRK_OFFSET_32] = {REEL_NOTE, "lie above 4 GiB, which the VR client cannot play"},
    [QUIRK_PAUSE] = {REEL_NOTE, "come more than a second after the message before"},
    [QUIRK_GAP] = {REEL_NOTE, "do not follow the message before without a gap"},
    [QUIRK_ENTRY_KEY] = {REEL_WARNING,
                         "have an index entry with keys of its own: the official reader refuses the file"},
    [QUIRK_NOT_KEPT] = {REEL_WARNING, "have so much index metadata of their own that it is not written again"},
    [QUIRK_SETS] =
        {REEL_NOTE,
         "have too many keys, or too many different sets of keys precede them: a cut after them takes longer"},
};

static uint64_t nanover_entry_position(const struct nanover_scan *s, uint64_t offset) {
    return s->plain ? s->base + offset : 0;
}

void nanover_quirk_note(struct nanover_scan *s, enum nanover_quirk q, uint64_t offset) {
    if (s->quirks[q].count++ == 0) {
        s->quirks[q].first_offset = offset;
    }
}

void nanover_quirks_report(struct nanover_scan *s) {
    for (int q = 0; q < QUIRKS; q++) {
        if (s->quirks[q].count > 0) {
            reel_scan_finding(s->scan, quirk_texts[q].severity, 0, nanover_entry_position(s, s->quirks[q].first_offset),
                              0, "%" PRIu64 " message(s) %s; the first is at %" PRIu64 " of messages.msgpack",
                              s->quirks[q].count, quirk_texts[q].text, s->quirks[q].first_offset);
        }
    }
}

void nanover_lost(struct nanover_scan *s, uint64_t offset, uint64_t length, const char *text, ...) {
    char why[256];
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(why, sizeof why, text, arguments);
    va_end(arguments);
    reel_scan_finding(s->scan, REEL_LOSS, 0, nanover_entry_position(s, offset), length,
                      "message at %" PRIu64 " of messages.msgpack: %s", offset, why);
}

const uint8_t *nanover_scan_bytes(struct nanover_scan *s, uint64_t offset, size_t length, struct reel_error *err) {
    if (offset >= s->window.offset) { /* the window only moves forward, so every byte is read once however the entries
                                         jump */
        return window_at(&s->window, offset, length, err);
    }
    if (length > s->jump_capacity) {
        free(TAKE(s->jump));
        s->jump_capacity = 0;
        s->jump = malloc(length);
        if (!s->jump) {
            reel_fail_memory(err);
            return NULL;
        }
        s->jump_capacity = length;
    }
    static const uint8_t nothing;
    return length == 0 ? &nothing : reel_source_read(s->messages, offset, s->jump, length, err) ? s->jump : NULL;
}

void nanover_running_crc(struct nanover_scan *s, uint64_t offset, const uint8_t *data, size_t size) {
    if (offset == s->crc_end) {
        s->crc = libdeflate_crc32(s->crc, data, size);
        s->crc_end += size;
    }
}

/* --- channels --- */

/* Packs the types of a message as a hash table key. */
static bool pack_types(struct grow *out, const struct nanover_message *m, struct reel_error *err) {
    out->size = 0;
    for (unsigned t = 0; t < m->n_types; t++) {
        grow_u64(out, m->types[t].size);
        grow_put(out, m->types[t].data, m->types[t].size);
    }
    return !out->failed || reel_fail_memory(err);
}

static bool nanover_entry_add_channel(struct nanover_scan *s, const struct nanover_message *m, uint32_t *id, bool *kept,
                                      struct reel_error *err) {
    struct arena scratch = {.max = 16 << 20};
    struct reel_channel channel;
    *kept = s->channels.count < REEL_CHANNELS_MAX && nanover_channel(&scratch, m->types, m->n_types, &channel);
    bool good = !*kept || reel_scan_channel(s->scan, &channel, id, err);
    arena_free(&scratch);
    if (!good || !*kept) {
        return good;
    }
    void *types = arena_copy(&s->arena, s->types.data, s->types.size);
    return types ? hash_table_set(&s->channels, hash_key_bytes(bytes_of(types, s->types.size)), (uintptr_t)*id + 1, err)
                 : reel_fail_memory(err);
}

bool nanover_find_channel(struct nanover_scan *s, const struct nanover_message *m, uint32_t *id, bool *kept,
                          struct reel_error *err) {
    if (!pack_types(&s->types, m, err)) {
        return false;
    }
    uintptr_t known = hash_table_get(&s->channels, hash_key_bytes(bytes_of(s->types.data, s->types.size)));
    *kept = true;
    *id = (uint32_t)known - 1;
    return known > 0 || nanover_entry_add_channel(s, m, id, kept, err);
}

void nanover_scan_tables_free(struct nanover_scan *s) {
    hash_table_free(&s->channels);
    arena_free(&s->arena);
    free(TAKE(s->types.data));
    nanover_keys_free(&s->keys);
    nanover_key_sets_free(&s->sets);
}

/* --- entries --- */

/* Checks a frame against the other frames of its run. */
static void check_run(struct nanover_scan *s, const struct nanover_message *m, uint64_t offset) {
    bool reset = m->has_frame_index && m->frame_index == 0;
    if (!s->seen_frame && !reset) {
        nanover_quirk_note(s, QUIRK_FIRST_FRAME, offset);
    }
    s->seen_frame = true;
    if (reset) {
        s->run_particles = s->run_residues = 0;
    } else if (!m->has_positions) {
        nanover_quirk_note(s, QUIRK_NO_POSITIONS, offset);
    }
    s->run_particles = m->particles > 0 ? m->particles : s->run_particles;
    s->run_residues = m->residues > 0 ? m->residues : s->run_residues;
    if (s->run_particles > 0 && m->rows > 0 && m->rows != s->run_particles &&
        (m->quirks & UINT32_C(1) << QUIRK_ROWS) == 0) {
        nanover_quirk_note(s, QUIRK_ROWS, offset);
    }
    if ((s->run_particles > 0 && m->bond_end > s->run_particles) ||
        (s->run_residues > 0 && m->residue_end > s->run_residues)) {
        nanover_quirk_note(s, QUIRK_RANGE, offset);
    }
}

static void check_position(struct nanover_scan *s, uint64_t offset, uint32_t length) {
    if (offset != s->end) {
        nanover_quirk_note(s, QUIRK_GAP, offset);
    }
    if (offset > UINT32_MAX) {
        nanover_quirk_note(s, QUIRK_OFFSET_32, offset);
    }
    s->end = offset + length > s->end ? offset + length : s->end;
}

bool nanover_entry_make(struct nanover_scan *s, const struct nanover_message *m, uint64_t offset, uint32_t length,
                        struct reel_entry *entry, bool *kept, struct reel_error *err) {
    uint32_t channel = 0, set = 0;
    if (!nanover_find_channel(s, m, &channel, kept, err)) {
        return false;
    }
    if (!*kept) {
        nanover_lost(s, offset, length, "its message types are too many or too long for one channel more");
        return true;
    }
    if (m->has_frame || m->has_state) {
        if (!nanover_key_sets_id(&s->sets, &s->keys, &set, err)) {
            return false;
        }
        if (set == 0) {
            nanover_quirk_note(s, QUIRK_SETS, offset);
        }
    }
    for (uint32_t q = 0, left = m->quirks; left != 0; q++, left >>= 1) {
        if ((left & 1) != 0) {
            nanover_quirk_note(s, (enum nanover_quirk)q, offset);
        }
    }
    if (m->has_frame) {
        check_run(s, m, offset);
    }
    check_position(s, offset, length);
    if (!s->named && m->simulation_name.size > 0 && m->simulation_name.size < REEL_TEXT_MAX) {
        s->named = true;
        if (!reel_scan_metadata(s->scan, "system.simulation.name", m->simulation_name, err)) {
            return false;
        }
    }
    bool reset = m->has_frame_index && m->frame_index == 0;
    *entry = (struct reel_entry){.offset = s->base + offset, .channel = channel, .chunk = s->chunk, .size = length};
    entry->extra[0] = (uint64_t)set << 1 | (uint64_t)reset;
    entry->extra[1] = m->has_frame_index ? m->frame_index + 1 : 0;
    return true;
}

bool nanover_entry_emit(struct nanover_scan *s, const struct reel_entry *entry, struct reel_error *err) {
    uint64_t offset = entry->offset - s->base;
    if (s->taken > 0 && entry->time_ns < s->time_ns) {
        nanover_quirk_note(s, QUIRK_TIME_BACK, offset);
    } else if (s->taken > 0 && (uint64_t)entry->time_ns - (uint64_t)s->time_ns > PAUSE_NS) {
        nanover_quirk_note(s, QUIRK_PAUSE, offset);
    }
    if (entry->time_ns / 1000 > UINT32_MAX) {
        nanover_quirk_note(s, QUIRK_TIME_32, offset);
    }
    s->time_ns = entry->time_ns;
    s->taken++;
    if (s->checked - s->reported >= PROGRESS_BYTES) {
        s->reported = s->checked;
        if (!reel_scan_progress(s->scan, s->checked < s->size ? s->checked : s->size, s->size, err)) {
            return false;
        }
    }
    return reel_scan_entry(s->scan, entry, err);
}
