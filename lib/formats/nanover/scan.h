/* State of a scan of a NanoVer recording, shared by the walk over the index (index.c), the walk without one (recover.c)
 * and the summary, which reads the index alone (summary.c). */
#ifndef REEL_FORMATS_NANOVER_SCAN_H
#define REEL_FORMATS_NANOVER_SCAN_H

#include "base/hash_table.h"
#include "base/window.h"
#include "formats/nanover/container.h"
#include "formats/nanover/keys.h"
#include "index/scan.h"

struct nanover_scan {
    struct reel_scan *scan;
    struct reel_source *messages; /* the raw bytes of the messages member, `size` of them */
    uint64_t size;
    uint32_t chunk; /* the chunk that entries refer to … */
    uint64_t base;  /* … and the offset of the member in it */
    bool plain;     /* stored without compression: base + offset is also the position in the file */
    struct window window;
    uint8_t *jump; /* buffer for a message that is before the window */
    size_t jump_capacity;

    struct hash_table channels; /* packed message types → channel + 1 */
    struct arena arena;         /* the keys of `channels` */
    struct grow types;          /* scratch */
    struct nanover_keys keys;   /* keys of the last message read */
    struct nanover_key_sets sets;
    struct {
        uint64_t count, first_offset;
    } quirks[QUIRKS];

    uint64_t taken; /* number of messages in the index pack */
    uint64_t end;   /* end of the last message in the member; reading goes on here when the index breaks off */
    /* bytes of messages read; bounded to a small multiple of the member, because entries may overlap */
    uint64_t checked;
    uint64_t reported; /* `checked` at the last progress report */
    int64_t time_ns;   /* time of the last message */
    uint64_t crc_end;  /* the CRC covers [0, crc_end) of the member */
    uint32_t crc;
    bool seen_frame;
    uint64_t run_particles, run_residues; /* of the current simulation run, 0: unknown */
    bool named;                           /* a simulation name was reported */
};

/* Frees channels, key sets and their memory. */
void nanover_scan_tables_free(struct nanover_scan *s);

void nanover_quirk_note(struct nanover_scan *s, enum nanover_quirk q, uint64_t offset);
void nanover_quirks_report(struct nanover_scan *s);
/* Reports a message that is left out. */
__attribute__((format(printf, 4, 5))) void nanover_lost(struct nanover_scan *s, uint64_t offset, uint64_t length,
                                                        const char *text, ...);

/* Finds or adds the channel for a message's types. *kept is false when there are too many channels, or the types are
 * too long. */
bool nanover_find_channel(struct nanover_scan *s, const struct nanover_message *m, uint32_t *id, bool *kept,
                          struct reel_error *err);

/* Bytes of the messages member, valid until the next call. The caller has checked that they are inside the member and
 * at most REEL_MESSAGE_MEMORY_MAX. */
const uint8_t *nanover_scan_bytes(struct nanover_scan *s, uint64_t offset, size_t length, struct reel_error *err);

/* Makes the entry of a message whose keys were read into s->keys: finds its channel and key set, and checks it against
 * its run. *kept is false when there are too many channels. The caller sets the time. */
bool nanover_entry_make(struct nanover_scan *s, const struct nanover_message *m, uint64_t offset, uint32_t length,
                        struct reel_entry *entry, bool *kept, struct reel_error *err);
bool nanover_entry_emit(struct nanover_scan *s, const struct reel_entry *entry, struct reel_error *err);

/* Updates the member's CRC, as far as its bytes come in order. */
void nanover_running_crc(struct nanover_scan *s, uint64_t offset, const uint8_t *data, size_t size);

/* A walk over the index member (index.c); where it breaks off, nanover_recover() goes on. */
struct nanover_walk {
    struct nanover_scan *s;
    struct window window; /* over the index member */
    struct reel_source *source;
    uint64_t size, at;
    uint64_t base; /* offset of the index member in its chunk */
    uint32_t chunk;
};
bool nanover_walk_index(struct nanover_walk *w, struct reel_error *err);
static inline void reel_auto_nanover_walk(struct nanover_walk *w) {
    window_close(&w->window);
    reel_source_free(w->source);
}

struct nanover_claim { /* the content of an index entry */
    bool sound;        /* offset and length are present */
    uint64_t offset, length;
    bool has_types;
    uint64_t n_types;
    struct cursor types; /* after the array's header */
    bool has_frame_index;
    uint64_t frame_index;
    bool has_time, float_time;
    int64_t time_ns;
    bool own_keys;                     /* the entry has keys besides the three known ones */
    bool own_metadata;                 /* the metadata have keys besides the three known ones */
    size_t metadata_at, metadata_size; /* from the first byte of the entry */
};
/* Steps of that walk: the number of entries, and the next entry with its position. *why is set when the index breaks
 * off here; bytes that `e` points at are valid until the next step. */
bool nanover_index_begin(struct nanover_walk *w, uint64_t *count, const char **why, struct reel_error *err);
bool nanover_index_next(struct nanover_walk *w, struct nanover_claim *e, uint64_t *begin, const char **why,
                        struct reel_error *err);
/* The reason why no such message can be among `size` bytes; NULL: it can. */
const char *nanover_claim_problem(const struct nanover_claim *e, uint64_t size);

/* scan.c. Decides how entries and attachments address a member's raw bytes: in the file itself, or in a chunk of its
 * own. */
bool nanover_address_member(struct reel_scan *scan, const struct zip_member *m, struct reel_chunk *run, uint32_t *chunk,
                            uint64_t *base, struct reel_error *err);
/* Opens the index member as w->source; none when it cannot be read, and then `why` has the reason. */
bool nanover_open_index(struct reel_scan *scan, const struct nanover_archive *archive, struct nanover_walk *w,
                        struct reel_error *why, struct reel_error *err);
/* Reports container, clock, metadata and attachments. Compressed attachments are checked as long as `budget` has raw
 * bytes for them. */
bool nanover_report_archive(struct reel_scan *scan, const struct nanover_archive *archive, uint64_t budget,
                            struct reel_error *err);

/* Reports what the archive's directory and the index state, without a scan (summary.c). */
bool nanover_summary(struct reel_scan *scan, struct reel_error *err);

/* Reads messages from `at` on without an index, with estimated times (recover.c). */
bool nanover_recover(struct nanover_scan *s, uint64_t at, struct reel_error *err);

#endif
