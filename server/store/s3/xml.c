/* See xml.h. Entities are never defined by an answer of S3; a document type is refused, and with it every expansion. */
#include "store/s3/xml.h"

#include <expat.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum { PATH_BYTES = 256 };

struct walk {
    XML_Parser parser;
    void (*text)(void *context, const char *path, const char *text);
    void *context;
    unsigned depth; /* of open elements */
    char path[PATH_BYTES];
    size_t length; /* of the text */
    char data[S3_XML_TEXT];
};

static void stop(struct walk *w) {
    XML_StopParser(w->parser, XML_FALSE);
}

static void on_start(void *context, const char *name, const char **attributes) {
    struct walk *w = context;
    size_t used = strlen(w->path);
    (void)attributes;
    if (w->depth++ > 0) {
        int n = snprintf(w->path + used, sizeof w->path - used, "%s%s", used > 0 ? "/" : "", name);
        if (n < 0 || (size_t)n >= sizeof w->path - used || w->depth > S3_XML_DEPTH) {
            stop(w);
        }
    }
    w->length = 0;
}

static void xml_on_end(void *context, const char *name) {
    struct walk *w = context;
    (void)name;
    w->data[w->length] = '\0';
    if (--w->depth > 0) {
        w->text(w->context, w->path, w->data);
        char *slash = strrchr(w->path, '/');
        *(slash ? slash : w->path) = '\0';
    }
    w->length = 0;
}

static void xml_on_text(void *context, const char *data, int size) {
    struct walk *w = context;
    if ((size_t)size >= sizeof w->data - w->length) {
        stop(w);
        return;
    }
    memcpy(w->data + w->length, data, (size_t)size);
    w->length += (size_t)size;
}

static void on_doctype(void *context, const char *name, const char *system, const char *public, int internal) {
    (void)name, (void)system, (void)public, (void)internal;
    stop(context);
}

bool s3_xml(const char *data, size_t size, void (*text)(void *context, const char *path, const char *text),
            void *context) {
    AUTO_MEM struct walk *w = calloc(1, sizeof *w);
    XML_Parser parser = w && size <= INT_MAX ? XML_ParserCreate("UTF-8") : NULL;
    if (!parser) {
        return false;
    }
    w->parser = parser;
    w->text = text;
    w->context = context;
    XML_SetUserData(parser, w);
    XML_SetElementHandler(parser, on_start, xml_on_end);
    XML_SetCharacterDataHandler(parser, xml_on_text);
    XML_SetStartDoctypeDeclHandler(parser, on_doctype);
    bool good = XML_Parse(parser, data, (int)size, 1) == XML_STATUS_OK;
    XML_ParserFree(parser);
    return good;
}
