/* /dav: the tree as a folder that WebDAV clients mount, read-only. */
#ifndef SERVER_API_TREE_DAV_H
#define SERVER_API_TREE_DAV_H

#include <stdio.h>

#include "http/http.h"

/* dav.c: the handlers */
void api_dav_get(struct http_request *r);
void api_dav_propfind(struct http_request *r);
void api_dav_options(struct http_request *r);

/* tar.c: replies with a folder, whose path ends with a slash ("" is the root), as the parameter `archive` says. */
void dav_reply_archive(struct http_request *r, const char *folder);

/* dav_xml.c: a multistatus (RFC 4918) written piece by piece. */
struct dav_entry {
    const char *path; /* "/dav/lab/run.bag"; of a folder with a slash at its end */
    uint64_t size;
    int64_t modified_ns;           /* 0: unknown */
    const char *etag, *media_type; /* NULL: none */
};
void dav_put_head(FILE *out);
void dav_put_entry(FILE *out, const struct dav_entry *entry);
void dav_put_tail(FILE *out);

#endif
