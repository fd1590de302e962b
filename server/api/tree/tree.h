/* The archive as one tree of folders and files, read-only. WebDAV (dav.c), S3 (s3.c), the Hub's protocol (hf.c) and
 * archives of a folder (tar.c) are ways to read it.
 *
 *   COLLECTION/NAME                 an original; of a recording of several files a folder of them
 *   COLLECTION/NAME.as/FILE         the recording in each format with a length that can hold it
 *   datasets/NAME/…      a dataset, as LeRobot v3 has it (datasets/layout.h)
 *   tables/NAME/recording=ID/part.parquet   the messages of a topic or type, as a table for each recording
 *   searches/NAME/FORMAT/COLLECTION/NAME    what a saved search finds, in one format
 *
 * Names with slashes are paths. A path is written without a slash at its begin; "" is the root. A collection that is
 * called like a root (struct tree_root) hides it.
 *
 * Each file has an exact length and an entity tag; of files that are made from recordings these are planned when they
 * are needed. To add a root (datasets/): write a struct tree_root and name it in roots[] of tree.c; its find() sets the
 * node's `file`, three functions, and its list() calls tree_add() in the order of paths. */
#ifndef SERVER_API_TREE_TREE_H
#define SERVER_API_TREE_TREE_H

#include "api/export/tar_archive.h"
#include "app.h"

struct tree_node;
struct dataset_layout;
struct layout_file;

struct tree_properties {
    uint64_t size;
    char etag[64];
    bool is_digest; /* the tag is the SHA-256 of the bytes */
    bool has_crc;   /* their CRC-32 is known, which a ZIP archive begins a file with */
    uint32_t crc;
    const char *media_type; /* static */
    /* Of a file of a dataset: what it was found in, as long as that is held. Entries of a page hold it. */
    struct dataset_layout *layout;
    const struct layout_file *file;
};
/* What a file is made of. */
struct tree_file {
    /* Its length and tag. REEL_BUSY: not known after wait_ns; it is being planned, so come again. REEL_NOT_FOUND: it
     * turns out that there is no such file. */
    bool (*properties)(struct http_request *r, const struct tree_node *node, int64_t wait_ns,
                       struct tree_properties *out, struct reel_error *err);
    /* Its bytes, for a response that has others, too; with the tag that they have. */
    bool (*open)(struct http_request *r, const struct tree_node *node, struct tar_content *out, char etag[64],
                 struct reel_error *err);
    /* Replies with it: ranges and conditions of the request apply. */
    void (*reply)(struct http_request *r, const struct tree_node *node);
};

struct tree_node {
    const struct tree_file *file; /* NULL: a folder */
    struct catalog_recording row; /* of a file of a recording, and of a recording's folders; else zeroed */
    const struct catalog_part *part;
    const char *name;     /* of a conversion: its file name, by whose ending the format is chosen */
    const char *channels; /* of a conversion: struct api_export_file; NULL: all */
    int64_t modified_ns;  /* 0: not known */
    char sha[SHA1_HEX];   /* of the dataset that the file is of; "": of none */
    char *memory;         /* of the texts above */
    void *state;          /* of the root that found the node */
    void (*free_state)(void *state);
};
void tree_node_done(struct tree_node *node);

/* What a path names for the caller of the request. *found false: nothing. REEL_BUSY: a dataset that it may be in is not
 * planned after wait_ns. tree_node_done() in any case. */
bool tree_find(struct http_request *r, const char *path, int64_t wait_ns, struct tree_node *out, bool *found,
               struct reel_error *err);
static const int64_t TREE_FIND_WAIT_NS = INT64_C(8000000000);

/* ---- lists */

enum { TREE_PAGE_MAX = 1000, TREE_ENTRY_MEMORY = 1024, TREE_PAGE_MEMORY = TREE_PAGE_MAX * TREE_ENTRY_MEMORY };
struct tree_query {     /* the memory of an entry and of its text, with names of usual length, is TREE_ENTRY_MEMORY */
    const char *prefix; /* of the paths: "lab/" is what is in the folder lab, "lab/2024-" what begins so in it */
    const char *after;  /* only paths after this one, and if it ends with a slash after all in that folder; "": all */
    /* Files of all folders below, and no folders; else what has a slash after the prefix is listed as a folder. Files
     * that are made from recordings are in a deep list only if the prefix names their folder (NAME.as/, datasets/,
     * searches/, tables/): there would be many of each recording, and they have to be planned to be listed. */
    bool deep;
    uint32_t limit;  /* 1 … TREE_PAGE_MAX */
    int64_t wait_ns; /* for the lengths of all that is listed */
};
struct tree_entry {
    char *path; /* a folder's ends with a slash */
    bool is_folder;
    int64_t modified_ns; /* 0: not known */
    struct tree_properties p;
};
struct tree_page {
    struct tree_entry *items;
    uint32_t n;
    bool more; /* go on after the path of the last item */
};
void tree_page_done(struct tree_page *page);
/* A page in the order of the bytes of the paths. It is complete or fails: REEL_BUSY: some files are being planned, come
 * again; REEL_LIMIT: a folder has more than can be listed. */
bool tree_list(struct http_request *r, const struct tree_query *q, struct tree_page *out, struct reel_error *err);

/* ---- for roots */

/* A list while it is made. `base` is in front of the paths that the root uses. */
struct tree_lister {
    struct http_request *r;
    const struct tree_query *q; /* prefix and after are below the base */
    const char *base;
    struct tree_page *out;
    bool ended;   /* set by tree_add(): the page is full, or what follows is not in the list */
    bool unknown; /* a length is not known yet: at the end the list fails with REEL_BUSY */
    int64_t until_ns;
    uint32_t planned; /* how many plans were begun */
};
/* Adds a file, or with `properties` NULL a path in a folder: of a list that is not deep its folder below the prefix, of
 * a deep one nothing. Paths that the query does not ask for, and repeated ones, are left out. Paths come in order. */
bool tree_add(struct tree_lister *l, const char *path, int64_t modified_ns, const struct tree_properties *properties,
              struct reel_error *err);
bool tree_asks(const struct tree_lister *l, const char *path);  /* tree_add() would add it as a file */
bool tree_enters(const struct tree_lister *l, const char *dir); /* the prefix is in this folder ("a/b/") or is it */
/* Adds a file whose properties have to be planned, as the node that has it says: if that is not done in time, the list
 * goes on without and is unknown. */
bool tree_add_planned(struct tree_lister *l, const char *path, const struct tree_node *node, struct reel_error *err);

struct tree_root {
    const char *name; /* the first segment of its paths */
    bool is_whole;    /* only for callers who may see all collections */
    /* `path` is below the name; "" is the root itself. */
    bool (*find)(struct http_request *r, const char *path, int64_t wait_ns, struct tree_node *out, bool *found,
                 struct reel_error *err);
    bool (*list)(struct tree_lister *l, struct reel_error *err);
};
extern const struct tree_root tree_datasets, tree_searches, tree_tables;
/* Opens a file of a dataset as it was when it got these properties. */
bool tree_dataset_open(struct http_request *r, const struct tree_properties *properties, struct tar_content *out,
                       struct reel_error *err);
/* collections.c: the paths of one collection. */
bool tree_collection_find(struct http_request *r, const char *collection, const char *path, struct tree_node *out,
                          bool *found, struct reel_error *err);
bool tree_collection_list(struct tree_lister *l, const char *collection, struct reel_error *err);

/* ---- files of recordings */
extern const struct tree_file tree_original, tree_conversion; /* files.c */
bool tree_is_shown(const struct catalog_recording *row);      /* it has files that can be read */

#endif
