/* The selection in the query, and the parameters of row writers. */
#ifndef SERVER_API_SELECTION_H
#define SERVER_API_SELECTION_H

#include "convert/conversion.h"
#include "http/http.h"

enum { API_GLOBS_MAX = 64 };

/* A selection; its texts are owned by the request. */
struct api_selection {
    struct reel_selection selection;
    const char *topics[API_GLOBS_MAX], *exclude[API_GLOBS_MAX], *renames[API_GLOBS_MAX], *where[API_GLOBS_MAX];
    uint32_t channels[API_GLOBS_MAX];
    bool has_start;
};
/* topic, exclude_topic, channel, rename, where, start/from, end/to, every, last, lookback for a recording that spans
 * [first_ns, last_ns]. False: replied (400). */
bool api_select(struct http_request *r, int64_t first_ns, int64_t last_ns, struct api_selection *out);
/* channel, repeated. False: replied. */
uint32_t api_read_channels(struct http_request *r, uint32_t out[API_GLOBS_MAX]);
/* X-Matched: 0, and X-Warning with the reason, when the selection has no message. False: replied. */
bool api_note_matches(struct http_request *r, struct reel_recording *const *recordings, uint32_t n,
                      const struct reel_selection *selection);
bool api_note_conversion(struct http_request *r, struct reel_conversion *conversion);

/* The parameters of row writers: decode, fields, time_format, end_record. `out->fields` points into `*text`, which must
 * stay valid until the render is open. False: replied. */
enum { API_FIELDS_MAX = 256 };
struct api_text {
    const char *fields[API_FIELDS_MAX];
    char *memory;
};
bool api_read_text(struct http_request *r, const struct reel_writer *writer, struct api_text *text,
                   struct reel_write_options *out);
void api_text_done(struct api_text *text);

#endif
