/* Checks the archive: the catalog by itself, the catalog against the stored files, the stored files against the catalog. */
#ifndef SERVER_FSCK_H
#define SERVER_FSCK_H

#include "app.h"
#include "reel/scan.h"

enum fsck_kind {
    FSCK_CATALOG,  /* the database's file, or its rows among each other: only a rebuild helps */
    FSCK_TOTALS,   /* what is counted as it changes is not what is there */
    FSCK_SEARCH,   /* words */
    FSCK_FILE,     /* a stored file is gone or of another size, or one that is not copied is gone or changed */
    FSCK_INDEX,    /* an index pack is gone, damaged or of another version */
    FSCK_MANIFEST, /* a manifest is gone, or does not say what the catalog says */
    FSCK_UNKNOWN,  /* a manifest names a recording that the catalog does not have */
    FSCK_ORPHAN,   /* a file under blobs/ that nobody uses */
    FSCK_LEFTOVER, /* of work that ended in the middle */
};
const char *fsck_kind_name(enum fsck_kind kind);

struct fsck_options {
    const char *data;
    const char *const *roots; /* folders below which files lie that are not copied, NULL-terminated: these are looked at; NULL: none is */
    bool repair, rebuild;     /* rebuild: the catalog is made again from the manifests; it repairs too */
    const struct reel_progress *progress; /* counts recordings, then files */
    /* Hears of everything found; `subject` names a recording or file. `mended` NULL: nothing was done about it, else what. */
    void (*found)(void *context, enum fsck_kind kind, const char *subject, const char *text, const char *repaired);
    void *context;
};
struct fsck_report {
    uint64_t found, repaired;
    uint64_t recordings, files, manifests; /* looked at */
    uint64_t elsewhere;                    /* files that are not copied and lie below none of the roots: not looked at */
    bool alone;                            /* no server was there: all was looked at */
    char old_catalog[64];                  /* after a rebuild, where it is; "": there was none */
};
/* False: it could not be done (REEL_CONFLICT: a server is there, and something is to be mended). */
bool fsck_run(const struct fsck_options *options, struct fsck_report *out, struct reel_error *err);

#endif
