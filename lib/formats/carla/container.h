/* Internals of the CARLA recorder format. scan.c: the walk; layouts.c: layout variants that only the packets show
 * (floats or doubles, numbering, writer); write.c, join.c, accept.c: the .log writer. Packets and channels:
 * formats/carla/layout.h. */
#ifndef REEL_FORMATS_CARLA_CONTAINER_H
#define REEL_FORMATS_CARLA_CONTAINER_H

#include "base/window.h"
#include "convert/writer.h"
#include "formats/carla/layout.h"
#include "index/format.h"
#include "index/scan.h"

extern const struct reel_format reel_format_carla;
extern const struct reel_writer reel_writer_carla;

/* --- the scan --- */

enum carla_quirk { /* reported one by one at first, then counted */
                   CARLA_OUTSIDE,
                   CARLA_NO_END,
                   CARLA_MISFIT,
                   CARLA_UNWALKED,
                   CARLA_NUMBER,
                   CARLA_ELAPSED,
                   CARLA_NO_POSITION,
                   CARLA_NO_TRAFFIC_LIGHT,
                   CARLA_QUIRKS
};

struct carla_scan {
    struct reel_scan *scan;
    struct reel_source *source;
    struct window window;
    uint64_t at, report_at;
    uint64_t quirks[CARLA_QUIRKS];

    struct carla_header header;
    const char *header_digits; /* as hex; in the scan's memory */
    int64_t date_ns;           /* 0 when the clock is relative */
    struct carla_layout layout;
    bool vec_proved, ids_proved; /* proved by records */
    bool attributes_proved;
    uint64_t wrapped;                 /* number of lists whose total has wrapped at 65536 */
    uint64_t wide;                    /* number of totals of 32 bits */
    uint64_t disordered, disorder_at; /* packets before others of their frame; the first */

    uint32_t channels[256];
    bool met[256];
    uint8_t kinds[256];

    uint64_t frames, frame_at; /* number so far; position of the last start packet */
    bool open;                 /* the last frame has not ended */
    bool cut;                  /* the file ends inside a packet */
    bool has[CARLA_KINDS];     /* packets of this frame */
    enum carla_kind before;    /* the last of them */
    struct carla_frame frame;  /* of the last start */
    double elapsed;            /* the time used, never decreasing */
    int64_t time_ns;
};

__attribute__((format(printf, 4, 5))) void carla_report(struct carla_scan *s, enum carla_quirk quirk, uint64_t offset,
                                                        const char *text, ...);

/* --- layouts.c: layouts derived from the packets, and metadata of the file --- */
void carla_detect_ids(struct carla_scan *s, uint8_t id); /* by the position of the first packet of 21…23 in the frame */
void carla_detect_ids_by_size(struct carla_scan *s, uint8_t id, uint16_t total, uint32_t size);
void carla_detect_vec_by_size(struct carla_scan *s, enum carla_kind kind, uint16_t total, uint32_t size); /* a
                                                                                                             CARLA_LIST
                                                                                                             with
                                                                                                             records */
void carla_detect_vec_by_walk(struct carla_scan *s, enum carla_kind kind, struct reel_bytes data); /* a list of variable
                                                                                                      records */
void carla_detect_attributes(struct carla_scan *s, struct reel_bytes data); /* of an event add packet */
bool carla_report_header(struct carla_scan *s, struct reel_error *err);
bool carla_report_file(struct carla_scan *s, struct reel_error *err); /* channels and metadata, at the end */

/* --- scan.c --- */
enum { CARLA_WALKED_MAX = 64 << 20 /* bytes of one packet whose records are walked */ };
bool carla_is_wide(enum carla_kind kind, const uint8_t *data, uint32_t size);

/* --- scan_damage.c --- */
/* What is wrong with the packet at s->at; "": nothing. `p`: its head, NULL where the file ends in it. */
bool carla_check_head(struct carla_scan *s, const uint8_t *p, uint64_t left, char why[160], struct reel_error *err);
/* The packet at s->at is incomplete: reports it and continues at the end of the next frame, or of the file. */
bool carla_resume(struct carla_scan *s, const char *why, struct reel_error *err);

/* --- join.c --- */
/* Joins a list of the state before a cut with the same list of the first frame: records of `initial` whose key is not
 * in `own`, then all of `own`. *out must be freed. *joined false: they do not fit in one packet. */
bool carla_join(enum carla_kind kind, const struct carla_layout *layout, struct reel_bytes initial,
                struct reel_bytes own, struct reel_bytes *out, bool *joined, struct reel_error *err);

/* --- accept.c: reel_writer.accepts and accepts_all --- */
bool carla_accepts(const struct reel_channel *channel, struct reel_loss *loss);
bool carla_accepts_all(const struct reel_stream *stream, struct reel_loss *loss);

#endif
