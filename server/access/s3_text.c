/* See s3_text.h. */
#include "access/s3_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/hex.h"
#include "base/number.h"
#include "http/http.h"

enum { PARAMS_MAX = 256 };
static const char algorithm[] = "AWS4-HMAC-SHA256";

/* ---- claims */

/* "20150830T123600Z", exactly. */
static bool read_date(const char *text, int64_t *out) {
    struct tm tm = {0};
    char again[S3_DATE_TEXT];
    if (strlen(text) != S3_DATE_TEXT - 1 || sscanf(text, "%4d%2d%2dT%2d%2d%2dZ", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
                                                   &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6) {
        return false;
    }
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    *out = timegm(&tm);
    s3_date(*out, again);
    return strcmp(text, again) == 0;
}

/* Copies text[0, size) if it fits and is not empty. */
static bool copy(const char *text, size_t size, char *out, size_t room) {
    if (size == 0 || size >= room) {
        return false;
    }
    memcpy(out, text, size);
    out[size] = '\0';
    return true;
}

/* ACCESS/DAY/REGION/s3/aws4_request */
static bool read_credential(const char *text, size_t size, const char *date, struct s3_claim *out) {
    static const char end[] = "/s3/aws4_request";
    AUTO_MEM char *all = strndup(text, size);
    if (!all || size < sizeof end || strcmp(all + size - (sizeof end - 1), end) != 0) {
        return false;
    }
    all[size - (sizeof end - 1)] = '\0';
    char *region = strrchr(all, '/');
    if (!region) {
        return false;
    }
    *region++ = '\0';
    char *day = strrchr(all, '/');
    if (!day) {
        return false;
    }
    *day++ = '\0';
    return strlen(day) == 8 && strncmp(day, date, 8) == 0 && copy(all, strlen(all), out->access, sizeof out->access) &&
           copy(region, strlen(region), out->region, sizeof out->region);
}

/* Lower-case names in order, "host" among them: what is not signed could be any host's. */
static bool read_names(const char *text, size_t size, struct s3_claim *out) {
    bool host = false;
    const char *before = "";
    size_t n_before = 0;
    if (!copy(text, size, out->headers, sizeof out->headers)) {
        return false;
    }
    for (const char *at = out->headers;; at++) {
        size_t n = strcspn(at, ";");
        size_t least = n < n_before ? n : n_before;
        int order = memcmp(before, at, least);
        if (n == 0 || order > 0 || (order == 0 && n <= n_before) ||
            strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789-_.") < n) {
            return false;
        }
        host = host || (n == 4 && memcmp(at, "host", 4) == 0);
        before = at;
        n_before = n;
        at += n;
        if (*at == '\0') {
            return host;
        }
    }
}

static bool read_signature(const char *text, size_t size, struct s3_claim *out) {
    uint8_t digest[DIGEST_SHA256];
    return size == SHA256_HEX - 1 && copy(text, size, out->signature, sizeof out->signature) &&
           hex_read(out->signature, sizeof digest, digest);
}

struct field {
    const char *text;
    size_t size;
};
/* The value of NAME=VALUE, fields separated by commas; false: none, or several. */
static bool find_field(const char *fields, const char *name, struct field *out) {
    size_t n = strlen(name);
    unsigned found = 0;
    for (const char *at = fields; *at;) {
        at += strspn(at, " \t,");
        size_t size = strcspn(at, ",");
        if (strncmp(at, name, n) == 0 && at[n] == '=') {
            *out = (struct field){at + n + 1, size - n - 1};
            while (out->size > 0 && out->text[out->size - 1] == ' ') {
                out->size--;
            }
            found++;
        }
        at += size;
    }
    return found == 1;
}

bool s3_claim_header(const char *authorization, const char *date, struct s3_claim *out) {
    struct field credential, headers, signature;
    *out = (struct s3_claim){0};
    if (strlen(authorization) > S3_CLAIM_MAX || strncmp(authorization, algorithm, sizeof algorithm - 1) != 0 || !date) {
        return false;
    }
    const char *fields = authorization + sizeof algorithm - 1;
    return *fields == ' ' && read_date(date, &out->signed_s) && find_field(fields, "Credential", &credential) &&
           find_field(fields, "SignedHeaders", &headers) && find_field(fields, "Signature", &signature) &&
           read_credential(credential.text, credential.size, date, out) &&
           read_names(headers.text, headers.size, out) && read_signature(signature.text, signature.size, out);
}

/* ---- queries */

struct pair {
    char *name, *value; /* value "" without one */
};
struct pairs {
    struct pair items[PARAMS_MAX];
    size_t n;
};

/* Splits and decodes `text`, which is changed. */
static bool split(char *text, struct pairs *out) {
    size_t size;
    for (char *rest = text, *pair; (pair = strsep(&rest, "&"));) {
        char *value = strchr(pair, '=');
        if (*pair == '\0') {
            continue;
        }
        if (value) {
            *value++ = '\0';
        }
        if (out->n == PARAMS_MAX || !http_decode(pair, strlen(pair), true, &size) ||
            (value && !http_decode(value, strlen(value), true, &size))) {
            return false;
        }
        out->items[out->n++] = (struct pair){pair, value ? value : pair + strlen(pair)};
    }
    return true;
}

/* The value of the one parameter of that name; NULL: none, or several. */
static const char *value_of(const struct pairs *pairs, const char *name) {
    const char *value = NULL;
    unsigned n = 0;
    for (size_t i = 0; i < pairs->n; i++) {
        if (strcmp(pairs->items[i].name, name) == 0) {
            value = pairs->items[i].value;
            n++;
        }
    }
    return n == 1 ? value : NULL;
}

static bool read_claim(const struct pairs *pairs, struct s3_claim *out) {
    const char *used = value_of(pairs, "X-Amz-Algorithm"), *credential = value_of(pairs, "X-Amz-Credential"),
               *date = value_of(pairs, "X-Amz-Date"), *expires = value_of(pairs, "X-Amz-Expires"),
               *headers = value_of(pairs, "X-Amz-SignedHeaders"), *signature = value_of(pairs, "X-Amz-Signature");
    uint64_t lifetime_s;
    if (!used || strcmp(used, algorithm) != 0 || !credential || !date || !expires || !headers || !signature ||
        !number_u64(expires, &lifetime_s) || lifetime_s == 0 || lifetime_s > S3_LIFETIME_MAX_S) {
        return false;
    }
    out->lifetime_s = (int64_t)lifetime_s;
    return read_date(date, &out->signed_s) && read_credential(credential, strlen(credential), date, out) &&
           read_names(headers, strlen(headers), out) && read_signature(signature, strlen(signature), out);
}

bool s3_claim_query(const char *query, struct s3_claim *out) {
    AUTO_MEM char *text = strdup(query);
    AUTO_MEM struct pairs *pairs = calloc(1, sizeof *pairs);
    *out = (struct s3_claim){0};
    return text && pairs && split(text, pairs) && read_claim(pairs, out);
}

/* Escapes name and value in one buffer that is the pair's from then on; NULL without memory. */
static char *escape_pair(const struct pair *pair, struct pair *out) {
    size_t room = 3 * strlen(pair->name) + 1, more = 3 * strlen(pair->value) + 1;
    char *text = malloc(room + more);
    if (text && s3_escape(pair->name, false, text, room) && s3_escape(pair->value, false, text + room, more)) {
        *out = (struct pair){text, text + room};
        return text;
    }
    free(text);
    return NULL;
}

static int compare(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->value, y->value);
}

static char *join(const struct pairs *pairs) {
    size_t size = 1;
    for (size_t i = 0; i < pairs->n; i++) {
        size += strlen(pairs->items[i].name) + strlen(pairs->items[i].value) + 2;
    }
    char *text = malloc(size), *at = text;
    for (size_t i = 0; at && i < pairs->n; i++) {
        at = stpcpy(stpcpy(at, i ? "&" : ""), pairs->items[i].name);
        at = stpcpy(stpcpy(at, "="), pairs->items[i].value);
    }
    if (at) {
        *at = '\0';
    }
    return text;
}

char *s3_canonical_query(const char *query) {
    AUTO_MEM char *text = strdup(query);
    AUTO_MEM struct pairs *sent = calloc(1, sizeof *sent);
    AUTO_MEM struct pairs *escaped = calloc(1, sizeof *escaped);
    char *out = NULL;
    if (!text || !sent || !escaped || !split(text, sent)) {
        return NULL;
    }
    bool good = true;
    for (size_t i = 0; good && i < sent->n; i++) {
        if (strcmp(sent->items[i].name, "X-Amz-Signature") != 0) {
            good = escape_pair(&sent->items[i], &escaped->items[escaped->n]);
            escaped->n += good;
        }
    }
    qsort(escaped->items, escaped->n, sizeof *escaped->items, compare);
    out = good ? join(escaped) : NULL;
    for (size_t i = 0; i < escaped->n; i++) {
        free(escaped->items[i].name);
    }
    return out;
}

char *s3_canonical_path(const char *path, size_t size) {
    AUTO_MEM char *text = strndup(path, size);
    size_t room, decoded;
    if (!text || !http_decode(text, size, false, &decoded)) {
        return NULL;
    }
    room = 3 * decoded + 2;
    char *out = malloc(room);
    if (out && !s3_escape(text, true, out, room)) {
        free(TAKE(out));
    }
    return out;
}

void s3_canonical_value(char *value) {
    char *to = value;
    for (const char *from = value + strspn(value, " \t"); *from; from++) {
        bool space = *from == ' ' || *from == '\t';
        if (!space || (from[1] && from[1] != ' ' && from[1] != '\t')) {
            *to++ = space ? ' ' : *from;
        }
    }
    *to = '\0';
}
