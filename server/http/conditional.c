/* Conditional requests (RFC 9110, 13): entity tags, dates, and their precedence. If-Match and If-Range compare
 * strongly, If-None-Match weakly. */
#include "http/http_internal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const month_names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
static const char *const day_names[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

void http_add_date(struct http_request *r, const char *name, int64_t ns) {
    char date[HTTP_DATE_TEXT];
    http_date_text(ns, date);
    http_add_header(r, name, date);
}

void http_date_text(int64_t ns, char out[HTTP_DATE_TEXT]) {
    conditional_format_date(ns / 1000000000 - (ns % 1000000000 < 0), out);
}

void conditional_format_date(int64_t seconds, char out[HTTP_DATE_TEXT]) {
    time_t when = (time_t)seconds;
    struct tm tm;
    if (!gmtime_r(&when, &tm)) {
        out[0] = '\0';
        return;
    }
    snprintf(out, HTTP_DATE_TEXT, "%s, %02d %s %04d %02d:%02d:%02d GMT", day_names[tm.tm_wday], tm.tm_mday,
             month_names[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static int month_of(const char *name) {
    for (int i = 0; i < 12; i++) {
        if (strcmp(name, month_names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT", and the two obsolete forms, which must be accepted. */
bool conditional_parse_date(const char *text, int64_t *seconds) {
    struct tm tm = {0};
    char month[4] = "";
    int year = 0, end = 0;
    if (sscanf(text, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT%n", &tm.tm_mday, month, &year, &tm.tm_hour,
               &tm.tm_min, &tm.tm_sec, &end) == 6 &&
        end > 0) {
        tm.tm_year = year - 1900;
    } else if (sscanf(text, "%*9[A-Za-z], %2d-%3[A-Za-z]-%2d %2d:%2d:%2d GMT%n", &tm.tm_mday, month, &year, &tm.tm_hour,
                      &tm.tm_min, &tm.tm_sec, &end) == 6 &&
               end > 0) {
        tm.tm_year = year < 70 ? year + 100 : year;
    } else if (sscanf(text, "%*3[A-Za-z] %3[A-Za-z] %2d %2d:%2d:%2d %4d%n", month, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
                      &tm.tm_sec, &year, &end) == 6 &&
               end > 0) {
        tm.tm_year = year - 1900;
    } else {
        return false;
    }
    tm.tm_mon = month_of(month);
    bool sane = text[end] == '\0' && tm.tm_mon >= 0 && tm.tm_mday >= 1 && tm.tm_mday <= 31 && tm.tm_hour >= 0 &&
                tm.tm_hour < 24 && tm.tm_min >= 0 && tm.tm_min < 60 && tm.tm_sec >= 0 && tm.tm_sec <= 60 &&
                tm.tm_year > -1900;
    if (sane) {
        *seconds = timegm(&tm);
    }
    return sane;
}

bool conditional_etag_listed(const char *list, const char *etag, bool weak) {
    bool etag_weak = strncmp(etag, "W/", 2) == 0;
    const char *opaque = etag + (etag_weak ? 2 : 0);
    size_t size = strlen(opaque);
    const char *p = list;
    while (*p) {
        p += strspn(p, " \t,");
        if (*p == '*') {
            return true;
        }
        bool item_weak = strncmp(p, "W/", 2) == 0;
        p += item_weak ? 2 : 0;
        if (*p != '"') {
            return false; /* not a list of entity tags: ignore the rest */
        }
        const char *end = strchr(p + 1, '"');
        if (!end) {
            return false;
        }
        size_t item_size = (size_t)(end + 1 - p);
        if (item_size == size && memcmp(p, opaque, size) == 0 && (weak || (!item_weak && !etag_weak))) {
            return true;
        }
        p = end + 1;
    }
    return false;
}

bool conditional_packed_etag(const char *etag, char out[HTTP_ETAG_TEXT]) {
    size_t size = strlen(etag);
    int n = size > 0 && etag[size - 1] == '"' ? snprintf(out, HTTP_ETAG_TEXT, "%.*s-gzip\"", (int)size - 1, etag) : -1;
    return n > 0 && n < HTTP_ETAG_TEXT;
}

/* The plain and the gzip form have different tags, but both stand for the same state. */
static bool is_state_listed(const char *list, const char *etag) {
    static const char packed_end[] = "-gzip\"";
    char other[HTTP_ETAG_TEXT];
    size_t size = strlen(etag), end = sizeof packed_end - 1;
    if (conditional_etag_listed(list, etag, false)) {
        return true;
    }
    if (size > end && strcmp(etag + size - end, packed_end) == 0) {
        int n = snprintf(other, sizeof other, "%.*s\"", (int)(size - end), etag);
        return n > 0 && (size_t)n < sizeof other && conditional_etag_listed(list, other, false);
    }
    return conditional_packed_etag(etag, other) && conditional_etag_listed(list, other, false);
}

static int64_t modified_seconds(const struct http_validators *v) {
    return v->modified_ns / 1000000000 - (v->modified_ns % 1000000000 < 0);
}

/* If-Match, or else If-Unmodified-Since. */
static bool precondition_holds(const struct http_request *r, const struct http_validators *v) {
    const char *match = http_header(r, "If-Match");
    if (match) {
        return v->etag ? is_state_listed(match, v->etag) : strcmp(match, "*") == 0;
    }
    int64_t since;
    const char *unmodified = http_header(r, "If-Unmodified-Since");
    return !unmodified || v->modified_ns == 0 || !conditional_parse_date(unmodified, &since) ||
           modified_seconds(v) <= since;
}

/* If-None-Match, or else If-Modified-Since. */
static bool is_known_to_client(const struct http_request *r, const struct http_validators *v, bool reads) {
    const char *none = http_header(r, "If-None-Match");
    if (none) {
        return v->etag ? conditional_etag_listed(none, v->etag, true) : strcmp(none, "*") == 0;
    }
    int64_t since;
    const char *modified = http_header(r, "If-Modified-Since");
    return reads && modified && v->modified_ns != 0 && conditional_parse_date(modified, &since) &&
           modified_seconds(v) <= since;
}

unsigned conditional_status(const struct http_request *r, const struct http_validators *v) {
    bool reads = !request_writes(r);
    if (!precondition_holds(r, v)) {
        return 412;
    }
    if (is_known_to_client(r, v, reads)) {
        return reads ? 304 : 412;
    }
    return 0;
}

bool conditional_if_range(const struct http_request *r, const struct http_validators *v) {
    const char *value = http_header(r, "If-Range");
    if (!value) {
        return true;
    }
    if (value[0] == '"' || strncmp(value, "W/", 2) == 0) {
        return v->etag && conditional_etag_listed(value, v->etag, false);
    }
    int64_t date;
    return v->modified_ns != 0 && conditional_parse_date(value, &date) && date == modified_seconds(v);
}

bool http_if_absent(const struct http_request *r) {
    return http_header(r, "If-None-Match") != NULL; /* key.c has refused all but "*" */
}

bool http_if_match(const struct http_request *r, const char *etag) {
    const char *match = http_header(r, "If-Match");
    return !match || is_state_listed(match, etag);
}
