/* multipart/form-data bodies, parsed by libmicrohttpd. Fields are passed on in pieces, so memory is bounded. */
#include <stdlib.h>

#include "base/ascii.h"
#include "http/http_internal.h"

enum { FORM_BUFFER_BYTES = 64 << 10 }; /* larger buffers mean fewer calls */

struct http_form {
    struct MHD_PostProcessor *parser;
    http_form_field field;
    void *context;
    bool stopped;
};

static enum MHD_Result on_field(void *context, enum MHD_ValueKind kind, const char *name, const char *file_name,
                                const char *type, const char *coding, const char *data, uint64_t at, size_t size) {
    struct http_form *form = context;
    (void)kind, (void)type, (void)coding;
    form->stopped = form->stopped || !form->field(form->context, name ? name : "", file_name, at, data, size);
    return form->stopped ? MHD_NO : MHD_YES;
}

struct http_form *http_form_new(struct http_request *r, http_form_field field, void *context) {
    static const char kind[] = "multipart/form-data";
    const char *type = http_header(r, "Content-Type");
    struct http_form *form = type && ascii_ncasecmp(type, kind, sizeof kind - 1) == 0 ? calloc(1, sizeof *form) : NULL;
    if (!form) {
        return NULL;
    }
    form->field = field;
    form->context = context;
    form->parser = MHD_create_post_processor(r->mhd, FORM_BUFFER_BYTES, on_field, form);
    if (!form->parser) {
        free(form);
        return NULL;
    }
    return form;
}

bool http_form_piece(struct http_form *form, const void *data, size_t size) {
    return !form->stopped && MHD_post_process(form->parser, data, size) == MHD_YES && !form->stopped;
}

bool http_form_free(struct http_form *form) {
    bool whole = !form || MHD_destroy_post_processor(form->parser) == MHD_YES;
    whole = whole && !(form && form->stopped);
    free(form);
    return whole;
}
