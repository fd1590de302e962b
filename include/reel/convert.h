/* Recordings as files of other formats. */
#ifndef REEL_CONVERT_H
#define REEL_CONVERT_H

#include "reel/stream.h"
#include "reel/threads.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- formats that can be written; constant */

struct reel_writer;
const struct reel_writer *reel_writer_at(size_t i); /* all of them, from 0; NULL: there are no more */
/* By an extension (".bag") and a version (NULL: the default). REEL_UNSUPPORTED with the list. */
const struct reel_writer *reel_writer_named(const char *extension, const char *version, struct reel_error *err);
/* By the ending of a file's name; the longest ending counts (".nanover.zip"), which may be all of the name
 * ("images.zip"). */
const struct reel_writer *reel_writer_for_file(const char *file_name, const char *version, struct reel_error *err);
const char *reel_writer_name(const struct reel_writer *writer);       /* "mcap" */
const char *reel_writer_extension(const struct reel_writer *writer);  /* ".mcap" */
const char *reel_writer_version(const struct reel_writer *writer);    /* "1.2"; "": the only one, or the default */
const char *reel_writer_media_type(const struct reel_writer *writer); /* "application/vnd.mcap" */
/* What reel_convert_options.compression can be, separated by spaces: "zstd lz4"; "": nothing. */
const char *reel_writer_compressions(const struct reel_writer *writer);

/* ---- the conversion report: what a conversion loses or changes */

/* One thread at a time. */
struct reel_loss;
struct reel_loss *reel_loss_new(void);         /* NULL: no memory */
void reel_loss_free(struct reel_loss *losses); /* NULL is fine */
REEL_DEFINE_AUTO(struct reel_loss, reel_loss_free);

enum reel_loss_kind {
    REEL_CHANGES, /* is kept in another form */
    REEL_LOSES,   /* is left out */
    REEL_REFUSES, /* there is no conversion because of this */
};
struct reel_loss_item { /* element of an array: the layout stays */
    enum reel_loss_kind kind;
    const char *channel; /* its topic; NULL: it is about the whole file */
    const char *text;    /* a sentence */
};
/* An array of *count items, valid until something is added. */
const struct reel_loss_item *reel_loss_items(const struct reel_loss *losses, size_t *count);

/* ---- conversions */

struct reel_convert_options {
    size_t size;                      /* sizeof(struct reel_convert_options) */
    const char *version;              /* of the target format: "1.2" for .bag; NULL: its default */
    const char *compression;          /* one of reel_writer_compressions(); NULL: none */
    const struct reel_pair *settings; /* what else the format has, as `reel convert --help` lists it, with _ in place of
                                         -: {"block_size", "65536"}; REEL_ARGUMENT with those that there are */
    size_t n_settings;
    bool replace;              /* an existing file; without it that is REEL_CONFLICT */
    struct reel_loss *loss;    /* NULL, or what the target cannot hold is added to it */
    unsigned threads;          /* that render a conversion of more than 64 MiB; 0: one for each core */
    struct reel_threads *pool; /* reel/threads.h: use these instead; NULL: threads of its own */
};

/* Writes the messages of `selection` (NULL: all) to `path`, whose ending names the format (reel_writer_for_file()). The
 * file appears complete under its name or not at all; a pipe or device is written directly. With a start in the
 * selection, the state and the key frames that the messages build on are put first. `options` and `progress` (in bytes
 * of the output) may be NULL. REEL_UNSUPPORTED: the format cannot hold the recording. */
bool reel_convert(struct reel_recording *recording, const struct reel_selection *selection, const char *path,
                  const struct reel_convert_options *options, const struct reel_progress *progress,
                  struct reel_error *err);

/* Where a conversion goes, piece by piece and in order, on the thread of the caller. Both functions return false, with
 * `err`, to end it. */
struct reel_output {
    bool (*write)(void *context, const void *data, size_t size, struct reel_error *err);
    /* Optional, once all is written: replaces the first bytes, all in one call. Compressed formats whose head depends
     * on what follows (ROS bags) then take one pass. */
    bool (*rewrite)(void *context, const void *data, size_t size, struct reel_error *err);
    void *context;
};

/* The same for any number of recordings as one (reel_selection.sources), by a writer, to any destination.
 * options.version and options.replace do not count. */
bool reel_convert_to(struct reel_recording *const *recordings, uint32_t n, const struct reel_selection *selection,
                     const struct reel_writer *writer, const struct reel_output *output,
                     const struct reel_convert_options *options, const struct reel_progress *progress,
                     struct reel_error *err);

#ifdef __cplusplus
}
#endif

#endif
