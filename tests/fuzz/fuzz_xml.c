/* Fuzzes XML: an answer of a bucket, and a folder for WebDAV clients whose path is the input, which must be XML that
 * says its name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/tree/dav.h"
#include "base/cleanup.h"
#include "recordings/names.h"
#include "store/s3/xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static void on_text(void *context, const char *path, const char *text) {
    size_t *elements = context;
    must(strlen(text) < S3_XML_TEXT, "a text is bounded");
    *elements += path[0] != '\0';
}

struct found {
    const char *name;
    bool is_there;
};
static void on_name(void *context, const char *path, const char *text) {
    struct found *f = context;
    size_t n = strlen(path);
    f->is_there = f->is_there || (n > 11 && strcmp(path + n - 11, "displayname") == 0 && strcmp(text, f->name) == 0);
}

static void list_folder(const char *name) {
    AUTO_MEM char *path = NULL, *text = NULL;
    size_t length = 0;
    struct found found = {.name = names_file(name)};
    must(asprintf(&path, "/dav/lab/%s", name) > 0, "memory");
    FILE *out = open_memstream(&text, &length);
    must(out, "memory");
    dav_put_head(out);
    dav_put_entry(out, &(struct dav_entry){.path = path, .size = 7, .modified_ns = 1, .etag = "\"a\""});
    dav_put_tail(out);
    must(fclose(out) == 0 && s3_xml(text, length, on_name, &found), "it is XML");
    must(found.is_there, "it says the name");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t elements = 0;
    AUTO_MEM char *name = strndup((const char *)data, size);
    struct reel_error err = {0};
    s3_xml((const char *)data, size, on_text, &elements);
    must(elements <= size, "no more elements than bytes");
    if (names_check("lab", name, &err)) {
        list_folder(name);
    }
    return 0;
}
