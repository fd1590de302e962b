/* Internals of the rosbag2 reader: vfs.c (SQLite reads from a reel_source), open.c (a connection that is safe with a
 * hostile database), source.c (rows as a source), topics.c and walk.c (one database), meta.c (metadata.yaml), files.c
 * (the files of a bag, also inside archives), parts.c (which files belong together, and their order), scan.c (the scan,
 * and the format). The tables decide what the recording holds; metadata.yaml adds to it and is compared with it. */
#ifndef REEL_FORMATS_ROSBAG2_CONTAINER_H
#define REEL_FORMATS_ROSBAG2_CONTAINER_H

#include <sqlite3.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "formats/rosbag2/layout.h"
#include "index/format.h"
#include "index/scan.h"

extern const struct reel_format reel_format_rosbag2;

/* --- repair.c --- */

struct rosbag2;
struct rosbag2_repair { /* pages that replace others or follow the last page */
    uint32_t page_size;
    uint32_t root, first, count; /* page numbers: `root`, and first … first + count - 1 */
    uint64_t leaves;             /* pages with messages that the tree does not lead to */
    uint64_t damaged, kept;      /* damaged pages with messages, and how many messages on them are readable */
    uint8_t *data;               /* the pages in this order */
};
/* Checks whether SQLite finds all messages; reads every page with messages. *out is NULL when it does, or when nothing
 * can be repaired. */
bool rosbag2_repair_new(struct rosbag2 *db, struct reel_source *source, struct rosbag2_repair **out,
                        struct reel_error *err);
void rosbag2_repair_free(struct rosbag2_repair *repair);
REEL_DEFINE_AUTO(struct rosbag2_repair, rosbag2_repair_free);

/* --- vfs.c --- */

struct rosbag2_file_view { /* what a connection reads from; must outlive the connection */
    struct reel_source *source;
    const struct rosbag2_repair *repair; /* NULL: none */
    uint64_t size;                       /* size that SQLite sees; more than the source's when the file is cut */
    struct reel_error failure;           /* last error of the source */
};
/* Opens the source's database read-only, without journal and locks. Reads beyond the end of a cut file return damage.
 * Returns an SQLite result code; *db may be set either way. */
int rosbag2_vfs_open(struct rosbag2_file_view *view, sqlite3 **db);

/* --- open.c --- */

/* A connection. Do not move it while it is open. Its cost is bounded by the size of the file. */
struct rosbag2 {
    sqlite3 *sqlite;
    struct rosbag2_file_view view;
    uint64_t ops_left;   /* thousands of steps of SQLite's virtual machine */
    uint64_t bytes_left; /* bytes of values that may still be read: rows that share pages cannot multiply the file's
                            size */
};

bool rosbag2_open(struct rosbag2 *db, struct reel_source *source, const struct rosbag2_repair *repair,
                  struct reel_error *err);
void rosbag2_close(struct rosbag2 *db);

/* *there: a plain table of that name exists (no view, no virtual table, with rowids that no column hides). */
bool rosbag2_has_table(struct rosbag2 *db, const char *table, bool *there, struct reel_error *err);
bool rosbag2_has_column(const struct rosbag2 *db, const char *table, const char *column);
/* NULL with err. Finalize with AUTO(statement). */
sqlite3_stmt *rosbag2_prepare(struct rosbag2 *db, const char *sql, struct reel_error *err);
static inline void reel_auto_statement(sqlite3_stmt **statement) {
    sqlite3_finalize(*statement);
}
/* A text or blob of the current row, valid until the next step; empty for other types. False when more bytes were read
 * than the file can hold. */
bool rosbag2_column(struct rosbag2 *db, sqlite3_stmt *statement, int column, struct reel_bytes *out,
                    struct reel_error *err);
/* Converts SQLite's result to `err`. Returns false. */
bool rosbag2_fail(const struct rosbag2 *db, int rc, const char *what, struct reel_error *err);
/* True when the result means damaged bytes, so that other rows may still be readable. */
bool rosbag2_is_damage(int rc);

/* --- source.c --- */

/* The rows as a source. With `damaged`, the database is repaired as during the scan. */
struct reel_source *rosbag2_open_rows(struct reel_source *base, bool damaged, struct reel_error *err);

/* --- meta.c --- */

enum { ROSBAG2_YAML_MAX = 4 << 20 };

struct rosbag2_meta_topic {
    const char *name, *type, *serialization, *qos, *hash;
    uint64_t count;
    bool counted;
};
struct rosbag2_meta {
    bool present;
    const char *version, *storage, *compression_mode, *compression_format, *distro;
    uint64_t messages;
    bool counted;
    struct rosbag2_meta_topic *topics;
    size_t n_topics, cap_topics;
    const char **paths;
    size_t n_paths, cap_paths;
    struct reel_pairs custom;
    size_t cap_custom;
};
/* Reads metadata.yaml; texts go to `arena`. REEL_DAMAGED when it is invalid; what was read before the damage is kept.
 */
bool rosbag2_meta_read(struct rosbag2_meta *meta, struct arena *arena, struct reel_bytes yaml, struct reel_error *err);
void rosbag2_meta_free(struct rosbag2_meta *meta); /* its tables; not the texts */

/* --- files.c --- */

enum rosbag2_kind {
    ROSBAG2_OTHER,
    ROSBAG2_DATABASE,
    ROSBAG2_MCAP,
    ROSBAG2_YAML,
    ROSBAG2_LOG, /* by its name */
    ROSBAG2_ZSTD,
    ROSBAG2_GZIP,
    ROSBAG2_ZIP,
    ROSBAG2_TAR
};

struct rosbag2_file { /* a file of the bag, unpacked */
    enum rosbag2_kind kind;
    struct reel_source *source;
    bool own; /* `source` belongs to this struct, not to the scan */
    struct reel_location location;
    const char *name, *path; /* path: with its folders in an archive */
    bool has_log;            /* a database: a log of it is there, be it good or not */
};
struct rosbag2_files {
    struct rosbag2_file *items; /* files inside others come after them */
    size_t count, capacity;
    const char *problem; /* why a member of an archive cannot be read; NULL: all can */
    const char *packed;  /* "ZIP", "tar", "zstd", "tar.gz" … of the first packed file; NULL: none is packed */
};
/* The kind of a file, from its first bytes. */
enum rosbag2_kind rosbag2_kind_of(struct reel_bytes head);
/* True when an archive or a packed file holds files of a bag. Reads only a little of it. */
bool rosbag2_holds_bag(enum rosbag2_kind kind, struct reel_bytes head, struct reel_source *source, bool *holds,
                       struct reel_error *err);
/* Finds the files of the bag in the scan's parts, and adds chunks for files that are not parts. */
bool rosbag2_files_find(struct rosbag2_files *files, struct reel_scan *scan, struct arena *arena,
                        struct reel_error *err);
void rosbag2_files_free(struct rosbag2_files *files);
bool rosbag2_names_data(const char *name); /* a data file, by its ending */
bool rosbag2_names_log(const char *name);  /* the log of a database */
const char *rosbag2_last_part(const char *path);

/* --- topics.c, walk.c: one database --- */

struct rosbag2_channel { /* of the recording: identified by name, type and encoding */
    const char *name, *type, *encoding;
    uint32_t id;
    enum { ROSBAG2_UNSEEN, ROSBAG2_PLAIN, ROSBAG2_PACKED } payload; /* decided by the first message */
    uint64_t count;
};
struct rosbag2_topic { /* a row of the table topics */
    int64_t id;
    struct rosbag2_channel *channel;
};
struct rosbag2_scan {
    struct reel_scan *scan;
    struct arena arena;
    struct rosbag2_meta meta;
    struct rosbag2_files files;
    const char *distro; /* from the table schema; NULL: the table is missing */
    void *channels;     /* tsearch() tree of struct rosbag2_channel */
    struct rosbag2_channel **list;
    size_t n_list, cap_list;
    uint64_t done, total;   /* bytes, for progress */
    uint64_t unpack_left;   /* bytes that compressed messages may still unpack to while they are checked */
    uint64_t messages;      /* added so far */
    bool has_metadata_file; /* metadata.yaml exists as a file, not only inside the databases */
};

/* --- parts.c --- */

enum reel_joins rosbag2_joins(struct reel_source *const *parts, uint32_t n, struct reel_source *other);
/* The bag's n files of that kind in order: as metadata.yaml lists them, then by number. NULL with err; from malloc. */
const struct rosbag2_file **rosbag2_in_order(const struct rosbag2_scan *s, enum rosbag2_kind kind, size_t *n,
                                             struct reel_error *err);

/* One .db3 file, and what is known about it before its messages are walked. */
struct rosbag2_base {
    struct rosbag2_scan *s;
    const struct rosbag2_file *file;
    struct rosbag2 db;
    struct rosbag2_repair *repair;
    uint32_t rows; /* number of the chunk of its rows */
    int version;
    struct rosbag2_topic *topics; /* by id */
    size_t n_topics, cap_topics, n_placeholders;
};
__attribute__((format(printf, 3, 4))) void rosbag2_finding(const struct rosbag2_base *b, enum reel_severity severity,
                                                           const char *text, ...);

/* Reads the schema version, topics and metadata. REEL_NOT_MINE when the tables are missing. */
bool rosbag2_read_topics(struct rosbag2_base *b, struct reel_error *err);
/* Reads the metadata.yaml stored in a database of version 3 or later, unless one was read already. */
bool rosbag2_read_metadata(struct rosbag2_base *b, struct reel_error *err);
/* The channel of a topic id. An id that the table lacks gets a placeholder channel. *out NULL: too many of those. */
bool rosbag2_channel_of(struct rosbag2_base *b, int64_t topic_id, struct rosbag2_channel **out, struct reel_error *err);
bool rosbag2_walk(struct rosbag2_base *b, struct reel_error *err);

#endif
