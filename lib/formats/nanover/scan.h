/* One scan of a NanoVer recording, shared by the walk over the index (nanover_index.c), the walk without one (nanover_recover.c) and the
 * summary, which walks the index alone (nanover_summary.c). */
#ifndef REEL_NANOVER_SCAN_H
#define REEL_NANOVER_SCAN_H

#include "formats/nanover/nanover.h"
#include "reel/scan.h"
#include "wire/hash_table.h"
#include "wire/nanover_keys.h"
#include "wire/window.h"

struct nanover_scan {
    struct reel_scan *scan;
    struct reel_source *messages; /* the member's raw bytes, `size` of them */
    uint64_t size;
    uint32_t chunk; /* which they are for the entries … */
    uint64_t base;  /* … and where in it they begin */
    bool plain;     /* stored: base + offset is also the place in the file */
    struct window window;
    uint8_t *jump; /* a message that lies before the window */
    size_t jump_capacity;

    struct hash_table channels; /* message types, packed → 1 + channel */
    struct arena arena;         /* their keys */
    struct grow types;          /* scratch */
    struct nanover_keys keys;   /* of the message that was read last */
    struct nanover_key_sets sets;
    struct {
        uint64_t count, first_offset;
    } quirks[QUIRKS];

    uint64_t taken;   /* messages that are in the index pack */
    uint64_t end;     /* of the last message, in the member; what is read on from when the index breaks off */
    uint64_t checked; /* bytes of messages walked: entries that overlap may not make this more than a few times the member */
    uint64_t told;    /* bytes at the last progress report */
    int64_t time_ns;  /* of the last message */
    uint64_t crc_end; /* the CRC covers [0, crc_end) of the member */
    uint32_t crc;
    bool seen_frame;
    uint64_t run_particles, run_residues; /* of the simulation run, 0 = not told yet */
    bool named;                           /* a simulation name was told */
};

/* Frees channels, sets and what belongs to them. */
void nanover_scan_tables_free(struct nanover_scan *s);

void nanover_quirk_note(struct nanover_scan *s, enum nanover_quirk q, uint64_t offset);
void nanover_quirks_tell(struct nanover_scan *s);
/* A message that is left out. */
__attribute__((format(printf, 4, 5))) void nanover_lost(struct nanover_scan *s, uint64_t offset, uint64_t length, const char *text, ...);

/* The channel of a message's types. *kept is false when there are too many, or they are too long. */
bool nanover_find_channel(struct nanover_scan *s, const struct nanover_message *m, uint32_t *id, bool *kept, struct reel_error *err);

/* Its bytes, valid until the next call; the caller has checked that they lie inside the member and under REEL_MESSAGE_MEMORY_MAX. */
const uint8_t *nanover_scan_bytes(struct nanover_scan *s, uint64_t offset, size_t length, struct reel_error *err);

/* Makes the entry of a message that was read with its keys into s->keys: its channel, its key set, its checks against the run it belongs
 * to. *kept is false when it is of too many channels. The time is the caller's to set. */
bool nanover_entry_make(struct nanover_scan *s, const struct nanover_message *m, uint64_t offset, uint32_t length, struct reel_entry *entry,
                        bool *kept, struct reel_error *err);
bool nanover_entry_give(struct nanover_scan *s, const struct reel_entry *entry, struct reel_error *err);

/* The member's CRC, as far as its bytes come in order. */
void nanover_running_crc(struct nanover_scan *s, uint64_t offset, const uint8_t *data, size_t size);

/* A walk over the index member (nanover_index.c); where it breaks off, nanover_recover() goes on. */
struct nanover_walk {
    struct nanover_scan *s;
    struct window window; /* on the index member */
    struct reel_source *source;
    uint64_t size, at;
    uint64_t base; /* of its bytes in their chunk */
    uint32_t chunk;
};
bool nanover_walk_index(struct nanover_walk *w, struct reel_error *err);
static inline void reel_auto_nanover_walk(struct nanover_walk *w) {
    window_close(&w->window);
    reel_source_free(w->source);
}

struct nanover_claim { /* what an entry of the index says */
    bool sound;        /* offset and length are there */
    uint64_t offset, length;
    bool has_types;
    uint64_t n_types;
    struct cursor types; /* behind the array's header */
    bool has_frame_index;
    uint64_t frame_index;
    bool has_time, float_time;
    int64_t time_ns;
    bool own_keys;                     /* in the entry, beside the three */
    bool own_metadata;                 /* in metadata, beside the three */
    size_t metadata_at, metadata_size; /* from the entry's first byte */
};
/* The steps of that walk: how many entries follow, and the next one with the place where it begins. *why is not NULL when the index breaks
 * off here; the bytes that `e` points at are valid until the next step. */
bool nanover_index_begin(struct nanover_walk *w, uint64_t *count, const char **why, struct reel_error *err);
bool nanover_index_next(struct nanover_walk *w, struct nanover_claim *e, uint64_t *begin, const char **why, struct reel_error *err);
/* Why there can be no such message among `size` bytes; NULL: there can be. */
const char *nanover_claim_problem(const struct nanover_claim *e, uint64_t size);

/* The archive's members, for a scan and a summary (nanover_scan.c). How entries and attachments address a member's raw bytes: in the file
 * itself, or in a chunk of its own. */
bool nanover_address_member(struct reel_scan *scan, const struct zip_member *m, struct reel_chunk *run, uint32_t *chunk, uint64_t *base,
                            struct reel_error *err);
/* The index member as w->source; none when it cannot be had, and then `why` tells. */
bool nanover_open_index(struct reel_scan *scan, const struct nanover_archive *archive, struct nanover_walk *w, struct reel_error *why,
                        struct reel_error *err);
/* Container, clock, metadata and attachments. Compressed attachments are tried as long as `budget` has raw bytes for them. */
bool nanover_tell_archive(struct reel_scan *scan, const struct nanover_archive *archive, uint64_t budget, struct reel_error *err);

/* Reports what the archive's directory and the index say (nanover_summary.c). */
bool nanover_summary(struct reel_scan *scan, struct reel_error *err);

/* Walks messages from `at` on without an index, with times by substitutes (nanover_recover.c). */
bool nanover_recover(struct nanover_scan *s, uint64_t at, struct reel_error *err);

#endif
