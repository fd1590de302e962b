/* Lookup in the tables of formats and writers. */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "convert/writer.h"
#include "index/packed.h"

enum { PROBE_BYTES = 64 << 10 };

const struct reel_format *reel_format_at(size_t i) {
    size_t n = 0;
    while (n < i && reel_formats[n]) {
        n++;
    }
    return reel_formats[n];
}
const char *reel_format_name(const struct reel_format *format) {
    return format->name;
}
const char *reel_format_title(const struct reel_format *format) {
    return format->title;
}

const struct reel_format *reel_format_named(const char *name) {
    for (size_t i = 0; reel_formats[i]; i++) {
        if (strcmp(reel_formats[i]->name, name) == 0) {
            return reel_formats[i];
        }
    }
    return NULL;
}

bool reel_format_names(const char *name) {
    size_t size = strlen(name);
    for (size_t f = 0; reel_formats[f]; f++) {
        for (const char *const *s = reel_formats[f]->suffixes; *s; s++) {
            size_t n = strlen(*s);
            if (n < size && ascii_casecmp(name + size - n, *s) == 0) {
                return true;
            }
        }
    }
    return false;
}

bool reel_format_keeps(const struct reel_format *format, const char *contract) {
    return format->contract && strcmp(format->contract, contract) == 0;
}

static bool formats_fail_unknown(struct reel_error *err) {
    char list[256] = "";
    for (size_t i = 0, used = 0; reel_formats[i] && used < sizeof list; i++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", reel_formats[i]->title);
    }
    return reel_fail(err, REEL_NOT_MINE, "no known recording format; known are %s", list);
}

const struct reel_format *reel_format_probe(struct reel_source *source, struct reel_error *err) {
    size_t size = source->size < PROBE_BYTES ? (size_t)source->size : PROBE_BYTES;
    if (size == 0) {
        reel_fail(err, REEL_NOT_MINE, "the file is empty");
        return NULL;
    }
    AUTO_MEM uint8_t *head = malloc(size); /* of exactly this size, so that sanitizers see what reads past it */
    if (!head) {
        reel_fail_memory(err);
        return NULL;
    }
    if (!reel_source_read(source, 0, head, size, err)) {
        return NULL;
    }
    const struct reel_format *best = NULL;
    int best_bits = 0;
    for (size_t i = 0; reel_formats[i]; i++) {
        int bits = reel_formats[i]->probe(bytes_of(head, size), source, err);
        if (bits < 0) {
            return NULL;
        }
        if (bits > best_bits) {
            best = reel_formats[i];
            best_bits = bits;
        }
    }
    struct reel_error own = {0};
    if (!best && !(best = packed_probe(bytes_of(head, size), source, &own))) {
        own.code == REEL_OK ? formats_fail_unknown(err) : reel_error_pass(err, &own);
    }
    return best;
}

const struct reel_writer *reel_writer_at(size_t i) {
    size_t n = 0;
    while (n < i && reel_writers[n]) {
        n++;
    }
    return reel_writers[n];
}
const char *reel_writer_name(const struct reel_writer *writer) {
    return writer->name;
}
const char *reel_writer_extension(const struct reel_writer *writer) {
    return writer->extension;
}
const char *reel_writer_version(const struct reel_writer *writer) {
    return writer->variant ? writer->variant : "";
}
const char *reel_writer_media_type(const struct reel_writer *writer) {
    return writer->media_type;
}
const char *reel_writer_compressions(const struct reel_writer *writer) {
    return writer->compressions ? writer->compressions : "";
}

const struct reel_writer *reel_writer_named(const char *extension, const char *variant, struct reel_error *err) {
    char list[256] = "";
    size_t used = 0;
    for (size_t i = 0; reel_writers[i]; i++) {
        const struct reel_writer *w = reel_writers[i];
        if (strcmp(w->extension, extension) == 0 &&
            (w->variant == NULL ? variant == NULL : variant && strcmp(w->variant, variant) == 0)) {
            return w;
        }
        if (used < sizeof list) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s%s%s", i ? ", " : "", w->extension,
                                     w->variant ? " version " : "", w->variant ? w->variant : "");
        }
    }
    if (!*extension) {
        reel_fail(err, REEL_UNSUPPORTED, "the name must end in the extension of a format, such as x.mcap; there are %s",
                  list);
        return NULL;
    }
    reel_fail(err, REEL_UNSUPPORTED, "cannot write %s%s%s; can write %s", extension, variant ? " version " : "",
              variant ? variant : "", list);
    return NULL;
}

const struct reel_writer *reel_writer_for_file(const char *file_name, const char *variant, struct reel_error *err) {
    const char *extension = NULL;
    size_t size = strlen(file_name);
    for (size_t i = 0; reel_writers[i]; i++) {
        const char *e = reel_writers[i]->extension;
        size_t n = strlen(e);
        bool ends = n < size && strcmp(file_name + size - n, e) == 0;
        if ((ends || (strchr(e + 1, '.') && strcmp(file_name, e + 1) == 0)) && (!extension || n > strlen(extension))) {
            extension = e;
        }
    }
    const char *dot = strrchr(file_name, '.');
    return reel_writer_named(extension ? extension : dot ? dot : "", variant, err);
}
