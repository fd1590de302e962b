/* Internals of the CARLA recorder format. scan.c: the walk; layouts.c: layout variants that only the packets show (floats or doubles,
 * numbering, writer); write.c, join.c: the .log writer. Packets and channels: wire/carla.h. */
#ifndef REEL_FORMATS_CARLA_CARLA_H
#define REEL_FORMATS_CARLA_CARLA_H

#include "reel/format.h"
#include "reel/scan.h"
#include "reel/write.h"
#include "wire/carla.h"
#include "wire/window.h"

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
    int64_t date_ns; /* 0 when the clock is relative */
    struct carla_layout layout;
    bool vec_proved, ids_proved; /* by records; before that by less */
    bool attributes_proved;
    uint64_t wrapped; /* lists whose total has wrapped at 65536 */

    uint32_t channels[256];
    bool met[256];
    uint8_t kinds[256];

    uint64_t frames, frame_at; /* so far; start packet of the last one */
    bool open;                 /* it has not ended */
    bool cut;                  /* the file ends inside a packet */
    bool has[CARLA_KINDS];     /* packets of this frame */
    struct carla_frame frame;  /* of the last start */
    double elapsed;            /* the time used, never decreasing */
    int64_t time_ns;
};

__attribute__((format(printf, 4, 5))) void carla_report(struct carla_scan *s, enum carla_quirk quirk, uint64_t offset, const char *text,
                                                        ...);

/* --- layouts.c: layouts derived from the packets, and metadata of the file --- */
void carla_detect_ids(struct carla_scan *s, uint8_t id); /* by its place in the frame, when the first of 21…23 comes */
void carla_detect_ids_by_size(struct carla_scan *s, uint8_t id, uint16_t total, uint32_t size);
void carla_detect_vec_by_size(struct carla_scan *s, enum carla_kind kind, uint16_t total, uint32_t size); /* a CARLA_LIST with records */
void carla_detect_vec_by_walk(struct carla_scan *s, enum carla_kind kind, struct reel_bytes data);        /* a list of variable records */
void carla_detect_attributes(struct carla_scan *s, struct reel_bytes data);                               /* of an event add packet */
bool carla_report_header(struct carla_scan *s, struct reel_error *err);
bool carla_report_file(struct carla_scan *s, struct reel_error *err); /* channels and metadata, at the end */

/* --- join.c: a list of the state before a cut and the list of its first frame, as one --- */
/* Records of `front` whose key `own` has not, then all of `own`; *out from malloc. *joined false: they cannot be one packet. */
bool carla_join(enum carla_kind kind, const struct carla_layout *layout, struct reel_bytes front, struct reel_bytes own,
                struct reel_bytes *out, bool *joined, struct reel_error *err);

#endif
