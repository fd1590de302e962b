/* The interface of a container format: one const table at the end of its scan.c, listed in formats/formats.c. */
#ifndef REEL_INDEX_FORMAT_H
#define REEL_INDEX_FORMAT_H

#include "base/source.h"
#include "index/entry.h"
#include "reel/stream.h"

struct reel_scan;

struct reel_growth_ops;

struct reel_format {
    const char *name, *title, *media_type;
    const char *const *suffixes; /* NULL-terminated, with the dot; the first is the default */

    /* Bits of magic verified in `head` (the first 64 KiB or less) and, if need be, elsewhere; 0 = not mine. Reads
     * little. Negative: this machine failed, and err is set. */
    int (*probe)(struct reel_bytes head, struct reel_source *source, struct reel_error *err);

    /* Walks the parts, reports channels, chunks, entries, attachments, metadata and findings to the builder
     * (index/scan.h). Keeps what is good and notes what is damaged; fails only when nothing can be kept (REEL_NOT_MINE,
     * REEL_DAMAGED), on I/O, memory, or cancel. */
    bool (*scan)(struct reel_scan *scan, struct reel_error *err);

    /* Optional: reports what headers and the file's own index contain – channels, their counts and times
     * (reel_scan_count), clock, container – without reading messages; only its consistency is checked. Reads little
     * however large the file is. Fails with REEL_UNSUPPORTED when the parts have no index of their own or it is
     * inconsistent. */
    bool (*summary)(struct reel_scan *scan, struct reel_error *err);

    /* Optional: turns the record header (`entry.head` bytes) into message fields. `channel` is the entry's. */
    void (*describe)(struct reel_bytes head, const struct reel_entry *entry, const struct reel_channel *channel,
                     struct reel_description *out);

    /* Optional: what entries' extra[] and channels' metadata hold beyond the model, as the name of a contract that a
     * header in wire/ describes; encodings and reports that know the contract need not read the messages again. NULL:
     * only this format reads them. */
    const char *contract;
    bool metadata_records; /* metadata keys "RECORD:key" stand for named records of the container */

    /* Optional, for chunks of REEL_CODEC_ROWS: the rows of the database that `base` holds, as a sparse source of
     * UINT64_MAX bytes. `damaged` is that of the chunk. `base` outlives the rows. */
    struct reel_source *(*open_rows)(struct reel_source *base, bool damaged, struct reel_error *err);

    /* Optional, for chunks of REEL_CODEC_LOGGED: the database `base` with the changes in `log`, which both outlive it.
     */
    struct reel_source *(*open_logged)(struct reel_source *base, struct reel_source *log, struct reel_error *err);

    const char *beside; /* optional: what the name of a further part adds to that of its file ("-wal") */

    /* Optional: is `b` a further part of the recording that `a` is a part of (a .traj and its .state)? Goes by names
     * and content; reads little. Without it a recording of this format is one file. */
    bool (*joins)(struct reel_source *a, struct reel_source *b);
    bool times_last;  /* times are stored behind the messages: in a file that is not complete they are estimates */
    const char *unit; /* optional: the channel whose message begins a unit that its writer may still change until the
                         next one begins (a frame whose duration is patched) */
    bool is_folder;   /* such files are in a folder of their own, which names the recording */

    const struct reel_growth_ops *growth; /* reading a file while it grows (index/growing.h); NULL: cannot be done */

    unsigned version; /* of scan(): a pack made by an older one is rebuilt */
};

/* The table of formats, NULL-terminated (formats/formats.c). */
extern const struct reel_format *const reel_formats[];

bool reel_format_keeps(const struct reel_format *format, const char *contract);

/* The format with the highest probe; REEL_NOT_MINE with the list of formats when none bids. */
const struct reel_format *reel_format_probe(struct reel_source *source, struct reel_error *err);

#endif
