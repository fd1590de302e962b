/* Shared by the files of /dav, the archive as a folder that WebDAV clients mount, read-only:
 *
 *   /dav/COLLECTION/NAME            an original; of a recording of several files a folder of them
 *   /dav/COLLECTION/NAME.as/FILE    the recording in each format with a length that can hold it
 *
 * Names with slashes are paths. */
#ifndef SERVER_API_TREE_DAV_H
#define SERVER_API_TREE_DAV_H

#include "app.h"

#include <stdio.h>

enum dav_kind {
    DAV_ROOT,       /* of collections */
    DAV_COLLECTION, /* and its folders */
    DAV_RECORDING,  /* its only file */
    DAV_PARTS,      /* a recording of several files */
    DAV_PART,       /* one of them */
    DAV_EXPORTS,    /* NAME.as */
    DAV_EXPORT,     /* a file in it */
};
struct dav_node {
    enum dav_kind kind;
    const char *collection, *path; /* path: within the collection; "" is its top */
    struct catalog_recording row;  /* from DAV_RECORDING on */
    const struct catalog_part *part;
    const char *name; /* DAV_EXPORT: of the file */
    char *memory;     /* of collection, path and name */
};
void dav_node_done(struct dav_node *node);

/* dav_find.c: the node of the request's path, for dav_node_done() in any case. False: replied. */
bool dav_find(struct http_request *r, struct dav_node *out);
bool dav_is_shown(const struct catalog_recording *row); /* it has files that can be read */

/* dav_xml.c: a multistatus (RFC 4918) written piece by piece. */
struct dav_entry {
    const char *path; /* "/dav/lab/run.bag"; of a folder with a slash at its end */
    uint64_t size;
    int64_t created_ns, modified_ns; /* 0: unknown */
    const char *etag, *media_type;   /* NULL: none */
};
void dav_put_head(FILE *out);
void dav_put_entry(FILE *out, const struct dav_entry *entry);
void dav_put_tail(FILE *out);

#endif
