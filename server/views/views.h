/* JSON of recordings, topics and findings, one shape for the API and for `reel info --json`. All return a new
 * reference, NULL when memory ends. */
#ifndef SERVER_VIEWS_VIEWS_H
#define SERVER_VIEWS_VIEWS_H

#include <jansson.h>

#include "base/grow.h"
#include "catalog/catalog.h"
#include "convert/writer.h"
#include "index/index.h"

/* A part of a long list: the items from number `from` on. It ends after VIEW_ITEMS_MAX items or about VIEW_TEXT_MAX
 * bytes of text. */
enum { VIEW_ITEMS_MAX = 1000, VIEW_TEXT_MAX = 1 << 20 };
struct view_slice {
    size_t from, limit; /* limit: at most VIEW_ITEMS_MAX */
    size_t next;        /* set: where the next part begins; 0: this is the last */
    bool filled;        /* of topics: messages that are lists without items do not count */
};

/* A catalog row; `index` (may be NULL): its contents. If r has no id (a file outside of a catalog), the members of the
 * catalog are left out. */
/* `announced` of an announced recording. */
struct catalog_fetch;
json_t *view_fetch(const struct catalog_fetch *fetch, enum reel_clock clock);
json_t *view_recording(const struct catalog_recording *r, const struct reel_index *index);

/* [{name, type, encoding, messages, payload_bytes, start, end, start_ns, end_ns, latched, channels: [{id, schema_id, …,
 * metadata}], undecoded}], sorted by name. Channels of one name make one topic; a channel with several topics counts
 * for each. With a slice a topic lists its first channels only, and "more_channels" counts the others. `slice` NULL:
 * all. */
json_t *view_topics(const struct reel_index *index, struct view_slice *slice);
/* The same as text, written topic by topic: as values a page takes ten times the memory. False: no memory. */
bool view_topics_text(const struct reel_index *index, struct view_slice *slice, struct grow *out);

/* {format, container, messages, damaged, lost_bytes, findings_total, findings: [{severity, part, offset, length,
 * text}]} */
/* `times`: of each finding, index_loss_times(); NULL: without them. */
json_t *view_scan(const struct reel_index *index, const struct reel_span *times);

/* [{kind: "changes"|"loses"|"refuses", channel, text}], the first VIEW_ITEMS_MAX. */
json_t *view_loss(const struct reel_loss *loss);

const char *view_severity(enum reel_severity severity);

/* Integers beyond 2^53 as strings (systemd#32355: clients lose digits). */
json_t *view_u64(uint64_t value);
/* Always text: wall clock nanoseconds exceed 2^53, and one type is simpler for clients than two. */
json_t *view_ns(int64_t value);
json_t *view_text(const char *text); /* null for none; bytes that are not UTF-8 as \xNN */
/* RFC 3339 for the wall clock, decimal seconds ("12.345678000") for a relative one. */
json_t *view_time(int64_t ns, enum reel_clock clock);

#endif
