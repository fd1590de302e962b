/* The headers of resumable uploads: Upload-Metadata, Upload-Concat, Upload-Checksum, numbers and booleans; and the JSON
 * of upload options. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/uploads/tus.h"
#include "base/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) {
        abort();
    }
}

/* What was taken can be kept, and means the same when it is read again. */
static void keep(const struct upload_options *w) {
    struct reel_error err;
    AUTO_MEM char *text = upload_options_print(w, &err), *again = NULL;
    AUTO_STRUCT(upload_options_done) struct upload_options copy = {0};
    if (text && strlen(text) <= UPLOAD_OPTIONS_JSON_MAX) {
        must(upload_options_parse(&copy, text, &err));
        again = upload_options_print(&copy, &err);
        must(again && strcmp(text, again) == 0);
    }
}

static void try_metadata(const char *text) {
    struct reel_error err = {0};
    AUTO_STRUCT(upload_options_done) struct upload_options w = {0};
    if (tus_metadata(text, &w, &err)) {
        keep(&w);
    } else {
        must(err.code != REEL_OK);
    }
}

static void try_wishes(const char *text) {
    struct reel_error err = {0};
    AUTO_STRUCT(upload_options_done) struct upload_options w = {0};
    if (upload_options_parse(&w, text, &err)) {
        keep(&w);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct reel_error err = {0};
    struct tus_concat concat;
    struct tus_checksum checksum;
    int64_t number;
    bool yes;
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    try_metadata(text);
    try_wishes(text);
    if (tus_concat(text, &concat, &err) && concat.final) {
        must(concat.n >= 1 && concat.n <= SESSION_PARTS_MAX &&
             strlen(concat.parts[concat.n - 1]) == RECORDING_ID_TEXT - 1);
    }
    if (tus_checksum(text, &checksum, &err)) {
        must(checksum.size == 20 || checksum.size == 32);
    }
    must(!tus_number(text, &number) || number >= 0);
    tus_boolean(text, &yes);
    free(text);
    return 0;
}
