/* See addresses.h. */
#include "views/addresses.h"

#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "base/cleanup.h"
#include "base/text_stream.h"

static void addresses_put_escaped(FILE *f, const char *text, const char *marks) {
    for (; *text; text++) {
        bool plain = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
                     (*text >= '0' && *text <= '9') || strchr(marks, *text);
        fprintf(f, plain ? "%c" : "%%%02X", (unsigned char)*text);
    }
}

void address_put_escaped(FILE *f, const char *text) {
    addresses_put_escaped(f, text, "-._~");
}

void address_put_path(FILE *f, const char *path) {
    addresses_put_escaped(f, path, "-._~/");
}

static void put_public(FILE *f, const char *url) {
    size_t size = strlen(url);
    while (size > 0 && url[size - 1] == '/') {
        size--;
    }
    fwrite(url, 1, size, f);
}

void address_put_base(FILE *f, const struct http_request *r) {
    const char *url = http_app(r)->config.public_url, *host = http_header(r, "Host");
    if (url) {
        put_public(f, url);
    } else if (host) {
        fprintf(f, "%s://%s", http_is_secure(r) ? "https" : "http", host);
    } else {
        fputs(http_server_url(http_server_of(r)), f);
    }
}

/* BASE/PATH/ID/REST, and the last part of `name` if there is one. NULL: no memory. */
static json_t *link_of(const struct http_request *r, const char *path, const char *id, const char *rest,
                       const char *name) {
    const char *url = http_app(r)->config.public_url, *slash = name ? strrchr(name, '/') : NULL;
    AUTO_MEM char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f) {
        return NULL;
    }
    put_public(f, url ? url : "");
    fprintf(f, "%s/%s%s", path, id, rest);
    address_put_escaped(f, slash ? slash + 1 : name ? name : "");
    return text_stream_close(f, &text) ? json_string(text) : NULL;
}

json_t *address_links(const struct http_request *r, const struct catalog_recording *row) {
    static const char api[] = "/api/v1/recordings";
    json_t *links = json_object();
    json_object_set_new(links, "self", link_of(r, api, row->id, "", NULL));
    json_object_set_new(links, "file",
                        link_of(r, api, row->id, "/file/", row->n_parts > 0 ? row->parts[0].file_name : row->name));
    json_object_set_new(links, "topics", link_of(r, api, row->id, "/topics", NULL));
    json_object_set_new(links, "messages", link_of(r, api, row->id, "/messages", NULL));
    json_object_set_new(links, "page", link_of(r, "/recordings", row->id, "", NULL));
    return links;
}
