/* A recording as another file. */
#ifndef REEL_CONVERT_H
#define REEL_CONVERT_H

#include "reel/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what can be written */

struct reel_writer;
const struct reel_writer *reel_writer_named(const char *extension, const char *variant,
                                            struct reel_error *err); /* REEL_UNSUPPORTED with the list */
/* The writer that a file name's ending asks for; the longest ending wins (".nanover.zip"), which may be all of the name
 * ("images.zip"). */
const struct reel_writer *reel_writer_for_file(const char *file_name, const char *variant, struct reel_error *err);

/* The conversion report: what a conversion would lose or change. */
enum reel_loss_kind { REEL_CHANGES, REEL_LOSES, REEL_REFUSES };
struct reel_loss;
struct reel_loss *reel_loss_new(void);
void reel_loss_free(struct reel_loss *loss);
REEL_DEFINE_AUTO(struct reel_loss, reel_loss_free);
struct reel_loss_item {
    enum reel_loss_kind kind;
    const char *channel; /* topic, or NULL: the whole file */
    const char *text;
};
const struct reel_loss_item *reel_loss_items(const struct reel_loss *loss, size_t *count);

struct reel_convert_options {
    size_t size;             /* sizeof(struct reel_convert_options) */
    const char *version;     /* of the target format: "1.2" for .bag; NULL: its default */
    const char *compression; /* "zstd", "lz4", "bz2", "zlib", "gzip" as the format knows them; NULL: none */
    bool replace;            /* an existing file; without it that is REEL_CONFLICT */
    struct reel_loss *loss;  /* NULL, or what the target cannot hold is added to it */
    unsigned threads;        /* that render a conversion of more than 64 MiB; 0: one for each core */
};

/* Writes the messages of `selection` (NULL: all) to `path`; its extension names the format (reel_writer_for_file()).
 * The file appears complete under its name or not at all; a pipe or device is written directly. Fails with
 * REEL_UNSUPPORTED when the format cannot hold the recording. `options` and `progress` may be NULL. */
bool reel_convert(struct reel_recording *recording, const struct reel_selection *selection, const char *path,
                  const struct reel_convert_options *options, const struct reel_progress *progress,
                  struct reel_error *err);

#ifdef __cplusplus
}
#endif

#endif
