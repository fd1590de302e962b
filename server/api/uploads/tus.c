/* See tus.h. A header with any invalid part is rejected as a whole; its length is checked before anything is copied. */
#include "api/uploads/tus.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/hex.h"
#include "base/number.h"
#include "recordings/names.h"
#include "syntax/base64.h"

bool tus_number(const char *text, int64_t *out) {
    return text[0] != '-' && number_i64(text, out);
}

bool tus_boolean(const char *text, bool *out) {
    *out = text[0] == '?' && text[1] == '1';
    return text[0] == '?' && (text[1] == '0' || text[1] == '1') &&
           (text[2] == '\0' || text[2] == ';' || text[2] == ' ');
}

/* ---- Upload-Metadata */

static bool tus_read_pair(struct upload_options *w, char file_name[UPLOAD_OPTION_TEXT], const char *key,
                          const char *value, size_t size, struct reel_error *err) {
    bool known, is_file_name = strcmp(key, "filename") == 0;
    json_t *text = memchr(value, '\0', size) ? NULL : json_stringn(value, size);
    if (!text) {
        return reel_fail(err, REEL_ARGUMENT, "Upload-Metadata: %.40s is no UTF-8 text", key);
    }
    bool good = is_file_name || upload_options_set(w, key, text, &known, err); /* unknown keys are ignored, as tus
                                                                                  allows any */
    if (is_file_name) {
        snprintf(file_name, UPLOAD_OPTION_TEXT, "%s",
                 size < UPLOAD_OPTION_TEXT ? names_file(json_string_value(text)) : "");
    }
    json_decref(text);
    return good || reel_error_at(err, "Upload-Metadata");
}

bool tus_metadata(const char *text, struct upload_options *w, struct reel_error *err) {
    char file_name[UPLOAD_OPTION_TEXT] = "";
    size_t size = strlen(text);
    AUTO_MEM char *copy = size <= SESSION_METADATA_MAX ? strdup(text) : NULL;
    AUTO_MEM uint8_t *value = malloc(SESSION_METADATA_MAX + 4);
    if (size > SESSION_METADATA_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "Upload-Metadata is longer than %d bytes", SESSION_METADATA_MAX);
    }
    if (!copy || !value) {
        return reel_fail_memory(err);
    }
    for (char *rest = copy, *pair; (pair = strsep(&rest, ","));) {
        pair += strspn(pair, " ");
        size_t key = strcspn(pair, " "), value_size;
        char *coded = pair + key + strspn(pair + key, " ");
        size_t coded_size = strcspn(coded, " ");
        if (key == 0 && !*coded) {
            continue;
        }
        bool ends = coded[coded_size + strspn(coded + coded_size, " ")] == '\0';
        pair[key] = '\0';
        if (!ends || !base64_read(bytes_of(coded, coded_size), value, &value_size)) {
            return reel_fail(
                err, REEL_ARGUMENT,
                "Upload-Metadata must be pairs of a key and a value in base64, with commas between: %.40s is none",
                pair);
        }
        if (!tus_read_pair(w, file_name, pair, (const char *)value, value_size, err)) {
            return false;
        }
    }
    if (!w->name[0]) {
        memcpy(w->name, file_name, sizeof w->name);
    }
    return true;
}

/* ---- Upload-Concat */

bool tus_concat(const char *text, struct tus_concat *out, struct reel_error *err) {
    enum { ID = RECORDING_ID_TEXT - 1 };
    out->n = 0;
    out->final = strncmp(text, "final;", 6) == 0;
    if (!out->final) {
        return strcmp(text, "partial") == 0 ||
               reel_fail(err, REEL_ARGUMENT,
                         "Upload-Concat is \"partial\", or \"final;\" and the addresses of uploads");
    }
    if (strlen(text) > SESSION_METADATA_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "Upload-Concat is longer than %d bytes", SESSION_METADATA_MAX);
    }
    for (const char *at = text + 6 + strspn(text + 6, " "); *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        const char *id = n > ID ? at + n - ID : NULL;
        if (!id || id[-1] != '/' || hex_span(id) != ID) {
            return reel_fail(err, REEL_ARGUMENT, "Upload-Concat: %.*s is not the address of an upload",
                             n < 80 ? (int)n : 80, at);
        }
        if (out->n == SESSION_PARTS_MAX) {
            return reel_fail(err, REEL_ARGUMENT, "Upload-Concat: at most %d parts are put together", SESSION_PARTS_MAX);
        }
        snprintf(out->parts[out->n++], RECORDING_ID_TEXT, "%.*s", ID, id);
        at += n;
    }
    return out->n > 0 || reel_fail(err, REEL_ARGUMENT, "Upload-Concat has no parts");
}

/* ---- Upload-Checksum */

bool tus_checksum(const char *text, struct tus_checksum *out, struct reel_error *err) {
    size_t name = strcspn(text, " "), size = text[name] ? strlen(text + name + 1) : 0;
    uint8_t raw[48];
    bool sha1 = name == 4 && strncmp(text, "sha1", 4) == 0, sha256 = name == 6 && strncmp(text, "sha256", 6) == 0;
    if (!sha1 && !sha256) {
        return reel_fail(err, REEL_ARGUMENT, "Upload-Checksum: the algorithm must be one of " TUS_ALGORITHMS);
    }
    if (size > 44 || !base64_read(bytes_of(text + name + 1 - !text[name], size), raw, &out->size) ||
        out->size != (sha1 ? 20 : 32)) {
        return reel_fail(err, REEL_ARGUMENT,
                         "Upload-Checksum must be the algorithm, a space, and the digest in base64");
    }
    memcpy(out->digest, raw, out->size);
    strcpy(out->algorithm, sha1 ? "sha1" : "sha256");
    return true;
}
