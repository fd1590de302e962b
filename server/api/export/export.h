/* Files of recordings, for other routes than their own. */
#ifndef SERVER_API_EXPORT_EXPORT_H
#define SERVER_API_EXPORT_EXPORT_H

#include "api/recording.h"
#include "convert/writer.h"

/* file.c: replies with an original file. */
void api_reply_part(struct http_request *r, const struct catalog_recording *row, const struct catalog_part *part);

/* A file that a recording is converted to. */
struct api_export_file {
    const char *name;     /* by whose ending the format is chosen */
    const char *channels; /* of the topic with this name, without its leading slash or with it, and of this type; NULL:
                             all */
};
/* convert.c: replies with the recording `key` (as catalog_get() takes it) as that file; parameters of the request
 * apply. */
void api_export(struct http_request *r, const char *key, const struct api_export_file *file);
/* The length and the entity tag of a whole recording as that file, for a request without parameters of exports.
 * REEL_UNSUPPORTED: its format is not planned or cannot hold the recording; REEL_NOT_FOUND: no such channel; REEL_BUSY:
 * not known after wait_ns; it is being planned, unless that is costly, which *costly then says. */
bool api_export_size(struct http_request *r, const struct api_recording *a, const struct api_export_file *file,
                     int64_t wait_ns, uint64_t *size, char etag[64], bool *costly, struct reel_error *err);
/* The same file, to be read by a response of several; its memory is the caller's to reserve. NULL: as above. */
struct reel_planned_output *api_export_open(struct http_request *r, const struct api_recording *a,
                                            const struct api_export_file *file, char etag[64], struct reel_error *err);
/* A recording as a member `name` of an archive: the conversion that the request asks for, or (`cut` set) its part from
 * cut[0] to cut[1] of the recording's own time. etag: names its bytes. NULL with err: it cannot be had; NULL without:
 * replied. */
struct reel_conversion *api_member(struct http_request *r, const struct api_recording *a, const char *name,
                                   const int64_t *cut, char etag[64], struct reel_error *err);

/* write_params.c: the options that only some writers have, as parameters; ends with {0}. */
const struct http_param *api_write_params(void);
/* The variant that one of them selects (storage=sqlite3); NULL: none. */
const char *api_write_variant(const struct http_request *r);
/* Those that the request sends, checked. False: replied. */
bool api_read_write_options(struct http_request *r, const struct reel_writer *writer, struct reel_write_values *values);

/* ---- the handlers */
/* tar.c */
void api_recordings_tar(struct http_request *r);
/* file.c */
void api_file(struct http_request *r);
/* inputs.c */
void api_convert(struct http_request *r);
void api_merge(struct http_request *r);
void api_search_export(struct http_request *r);
/* zip.c */
void api_search_zip(struct http_request *r);

#endif
