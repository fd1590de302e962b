/* Internals of recording MCAP: record.c (chunks as messages come), record_resume.c (going on with a file), record_end.c
 * (the summary, for which the file's records are walked, so that memory does not grow with their number). */
#ifndef REEL_FORMATS_MCAP_RECORD_H
#define REEL_FORMATS_MCAP_RECORD_H

#include "base/grow.h"
#include "base/hash_table.h"
#include "base/window.h"
#include "formats/mcap/write.h"
#include "record/record.h"

struct mcap_recorder {
    struct reel_recorder base;
    struct mcap_positions positions;
    struct grow records; /* of the chunk being gathered */
    struct grow packed;  /* compressed; and room for what surrounds a chunk */
    enum reel_codec codec;
    size_t chunk_bytes;
    uint32_t n_schemas;
    struct hash_table schemas; /* Schema records but for their id → id */
    struct arena schema_records;
};

/* Walks the records of a file that begins with the magic: those of the data section. */
struct mcap_record {
    uint64_t at, length; /* of its content, which begins at + MCAP_RECORD_HEAD */
    uint8_t op;
};
struct mcap_records {
    struct reel_source *source;
    struct window window;
    uint64_t at;
};
bool mcap_records_open(struct mcap_records *w, int fd, uint64_t size, struct reel_error *err);
void mcap_records_close(struct mcap_records *w);
/* False at the end: no complete record follows, or, with err set, the file cannot be read. */
bool mcap_records_next(struct mcap_records *w, struct mcap_record *r, struct reel_error *err);
/* The first bytes of a record's content, which has as many; NULL with err. */
const uint8_t *mcap_records_view(struct mcap_records *w, const struct mcap_record *r, size_t size,
                                 struct reel_error *err);

/* Finds the ids in use and the end of what is complete, and cuts the file there. */
bool mcap_recorder_resume(struct mcap_recorder *m, struct reel_error *err);
/* Remembers a Schema record: channels that need an equal one refer to it. `at_id` is where its id stands, the rest
 * follows. */
bool mcap_recorder_note_schema(struct mcap_recorder *m, struct reel_bytes content, struct reel_error *err);
/* Writes DataEnd, the summary and the footer. */
bool mcap_recorder_finish(struct reel_recorder *r, struct reel_error *err);

#endif
