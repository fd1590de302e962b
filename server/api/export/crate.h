/* ro-crate-metadata.json: what a package contains as an RO-Crate 1.2 (JSON-LD, one flat list of entities). */
#ifndef SERVER_API_EXPORT_CRATE_H
#define SERVER_API_EXPORT_CRATE_H

#include <jansson.h>

#include "api/recording.h"

struct crate;
void crate_free(struct crate *crate); /* NULL is fine */
REEL_DEFINE_AUTO(struct crate, crate_free);
/* NULL: no memory. The other functions remember that there was none. */
struct crate *crate_new(const json_t *deposit);

/* A recording, with its times and topics. */
void crate_add_recording(struct crate *crate, const struct api_recording *a);
/* A file by its path in the package. `recording`: an original of it; NULL: of none. */
void crate_add_file(struct crate *crate, const char *path, const char *media_type,
                    const struct catalog_recording *recording);
/* That it was converted from the recording; `report`: path of the conversion reports. */
void crate_add_conversion(struct crate *crate, const char *path, const struct catalog_recording *recording,
                          const char *report);
/* What is known of the file when it has been read. */
void crate_set_sum(struct crate *crate, const char *path, uint64_t size, const char *sha256);

/* Malloc'd; NULL: no memory. */
char *crate_text(const struct crate *crate);

#endif
