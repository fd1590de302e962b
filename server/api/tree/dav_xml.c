/* Multistatus documents. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/tree/dav.h"
#include "base/cleanup.h"
#include "reel/time.h"
#include "syntax/xml_out.h"
#include "views/addresses.h"

static bool dav_xml_is_folder(const struct dav_entry *e) {
    return e->path[strlen(e->path) - 1] == '/';
}

void dav_put_head(FILE *out) {
    fputs("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:multistatus xmlns:D=\"DAV:\">\n", out);
}

void dav_put_tail(FILE *out) {
    fputs("</D:multistatus>\n", out);
}

/* The last segment of the path. */
static void dav_xml_put_name(FILE *out, const struct dav_entry *e) {
    size_t end = strlen(e->path) - dav_xml_is_folder(e), begin = end;
    while (begin > 0 && e->path[begin - 1] != '/') {
        begin--;
    }
    AUTO_MEM char *name = strndup(e->path + begin, end - begin);
    fputs("<D:displayname>", out);
    xml_put_text(out, name ? name : "");
    fputs("</D:displayname>", out);
}

static void put_times(FILE *out, const struct dav_entry *e) {
    char date[HTTP_DATE_TEXT], text[REEL_TIME_TEXT];
    if (e->modified_ns) {
        http_date_text(e->modified_ns, date);
        reel_time_rfc3339(e->modified_ns / 1000000000 * 1000000000, text);
        fprintf(out, "<D:getlastmodified>%s</D:getlastmodified><D:creationdate>%s</D:creationdate>", date, text);
    }
}

void dav_put_entry(FILE *out, const struct dav_entry *e) {
    fputs("<D:response><D:href>", out);
    address_put_path(out, e->path);
    fputs("</D:href><D:propstat><D:prop>", out);
    dav_xml_put_name(out, e);
    put_times(out, e);
    if (dav_xml_is_folder(e)) {
        fputs("<D:resourcetype><D:collection/></D:resourcetype>", out);
    } else {
        fprintf(out, "<D:resourcetype/><D:getcontentlength>%" PRIu64 "</D:getcontentlength>", e->size);
    }
    if (e->media_type) {
        fprintf(out, "<D:getcontenttype>%s</D:getcontenttype>", e->media_type);
    }
    if (e->etag) {
        fputs("<D:getetag>", out);
        xml_put_text(out, e->etag);
        fputs("</D:getetag>", out);
    }
    fputs("</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>\n", out);
}
