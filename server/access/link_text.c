/* See link_text.h. Two targets have the same text only if every route treats them alike. */
#include "access/link_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/text_stream.h"
#include "http/http.h"
#include "syntax/base64.h"

struct pair {
    const char *name, *value; /* NUL-terminated, decoded */
    size_t position;
};

static int compare_pairs(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : x->position < y->position ? -1 : x->position > y->position;
}

static void link_text_put(FILE *f, const char *text) {
    fprintf(f, "%zu:%s\n", strlen(text), text);
}

/* Reads a decimal number at the front, which must be followed by `end`. */
static bool take_number(const char **at, char end, uint64_t *out) {
    char *stop;
    size_t digits = strspn(*at, "0123456789");
    if (digits == 0 || digits >= LINK_NUMBER_MAX - 1 || (digits > 1 && **at == '0') || (*at)[digits] != end) {
        return false;
    }
    *out = strtoull(*at, &stop, 10);
    *at = stop + (end != '\0');
    return true;
}

/* VERSION.TOKEN.MAC */
static bool read_signature(const char *sig, uint64_t expires_s, struct link_claim *out) {
    uint64_t token;
    if (!take_number(&sig, '.', &out->version) || !take_number(&sig, '.', &token) || strlen(sig) != LINK_MAC_TEXT - 1 ||
        !base64url_only(sig, LINK_MAC_TEXT - 1)) {
        return false;
    }
    out->token = (int64_t)token;
    out->expires_s = (int64_t)expires_s;
    memcpy(out->mac, sig, LINK_MAC_TEXT);
    return true;
}

static bool read_claim(const char *sig, const char *exp, struct link_claim *out) {
    uint64_t expires_s;
    return take_number(&exp, '\0', &expires_s) && read_signature(sig, expires_s, out);
}

bool link_key_read(const char *key, char recording[LINK_RECORDING], struct link_claim *out) {
    uint64_t expires_s;
    size_t size = hex_span(key);
    if (size != LINK_RECORDING - 1 || key[size] != '.') {
        return false;
    }
    memcpy(recording, key, size);
    recording[size] = '\0';
    key += size + 1;
    return take_number(&key, '.', &expires_s) && read_signature(key, expires_s, out);
}

/* Adds the path's segments; modifies `path`. */
static bool link_text_put_path(FILE *f, char *path) {
    size_t size;
    for (char *rest = path + 1, *segment; (segment = strsep(&rest, "/"));) {
        if (!http_decode(segment, strlen(segment), false, &size)) {
            return false;
        }
        link_text_put(f, segment);
    }
    return true;
}

/* Splits `query`, modifying it, into the parameters and the values of sig and exp. */
static bool read_query(char *query, struct pair *pairs, size_t *n, const char *claims[2]) {
    static const char *const names[2] = {"sig", "exp"};
    size_t size;
    for (char *rest = query, *pair; rest && (pair = strsep(&rest, "&"));) {
        char *value = strchr(pair, '=');
        if (*pair == '\0') {
            continue;
        }
        if (value) {
            *value++ = '\0';
        }
        if (!http_decode(pair, strlen(pair), true, &size) ||
            (value && !http_decode(value, strlen(value), true, &size))) {
            return false;
        }
        int claimed = strcmp(pair, names[0]) == 0 ? 0 : strcmp(pair, names[1]) == 0 ? 1 : -1;
        if (claimed >= 0 && (claims[claimed] || !value)) {
            return false;
        }
        if (claimed >= 0) {
            claims[claimed] = value;
        } else if (*n == LINK_PARAMS_MAX) {
            return false;
        } else {
            pairs[*n] = (struct pair){.name = pair, .value = value ? value : "", .position = *n};
            ++*n;
        }
    }
    return true;
}

static bool link_text_write_text(FILE *f, char *target, struct pair *pairs, struct link_claim *claim) {
    const char *claims[2] = {NULL, NULL};
    size_t n = 0;
    char *path = strsep(&target, "?");
    if (!link_text_put_path(f, path) || !read_query(target, pairs, &n, claims)) {
        return false;
    }
    if (claim ? !claims[0] || !claims[1] || !read_claim(claims[0], claims[1], claim) : claims[0] || claims[1]) {
        return false;
    }
    qsort(pairs, n, sizeof *pairs, compare_pairs);
    fputs("?\n", f);
    for (size_t i = 0; i < n; i++) {
        link_text_put(f, pairs[i].name);
        link_text_put(f, pairs[i].value);
    }
    return true;
}

bool link_text(const char *target, struct link_claim *claim, char **text, size_t *size) {
    *text = NULL;
    if (target[0] != '/' || strlen(target) > LINK_TARGET_MAX || strpbrk(target, "# \t\r\n")) {
        return false;
    }
    AUTO_MEM char *copy = strdup(target);
    AUTO_MEM struct pair *pairs = calloc(LINK_PARAMS_MAX, sizeof *pairs);
    FILE *f = copy && pairs ? open_memstream(text, size) : NULL;
    bool good = f && link_text_write_text(f, copy, pairs, claim);
    if (f && !text_stream_close(f, text)) {
        return false;
    }
    if (!good) {
        free(*text);
        *text = NULL;
    }
    return good;
}
