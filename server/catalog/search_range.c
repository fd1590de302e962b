/* Ranges of q=: size:>100M, duration:<5s, messages:1000..2000, created:2024-06. Each bound is itself a range (a date is
 * a whole day), so that ">" means after all of it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "catalog/search.h"
#include "reel/time.h"

static const int64_t DAY_NS = 86400000000000;

/* Days since 1970 of a date of the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
    int64_t y = year - (month <= 2), era = y / 400, of_era = y - era * 400,
            of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* As many digits as `digits`. */
static bool read_digits(const char **at, unsigned digits, int64_t *out) {
    *out = 0;
    for (unsigned i = 0; i < digits; i++, ++*at) {
        if (**at < '0' || **at > '9') {
            return false;
        }
        *out = *out * 10 + (**at - '0');
    }
    return true;
}

bool search_date(const char *text, int64_t *min, int64_t *max) {
    int64_t year, month, day = 0;
    bool good =
        read_digits(&text, 4, &year) && *text++ == '-' && read_digits(&text, 2, &month) && month >= 1 && month <= 12;
    bool whole_month = good && *text == '\0';
    if (!good || year < 1970 || year > 2261 ||
        (!whole_month && (*text++ != '-' || !read_digits(&text, 2, &day) || *text))) {
        return false;
    }
    int64_t first = days_of(year, month, 1), next = month == 12 ? days_of(year + 1, 1, 1) : days_of(year, month + 1, 1);
    if (!whole_month && (day < 1 || day > next - first)) {
        return false;
    }
    first += whole_month ? 0 : day - 1;
    next = whole_month ? next : first + 1;
    *min = first * DAY_NS;
    *max = next * DAY_NS - 1;
    return true;
}

/* ---- bounds */

/* `digits` of the text times the factor, at most INT64_MAX; a whole number exactly. */
static bool read_scaled(const char *text, size_t digits, uint64_t factor, int64_t *out) {
    char number[20] = "";
    uint64_t whole;
    double real;
    if (digits == 0 || digits >= sizeof number || *text == '.') {
        return false;
    }
    memcpy(number, text, digits);
    if (number_u64(number, &whole)) {
        *out = __builtin_mul_overflow(whole, factor, &whole) || whole > INT64_MAX ? INT64_MAX : (int64_t)whole;
        return true;
    }
    if (!number_real(number, &real)) {
        return false;
    }
    real *= (double)factor;
    *out = real < 9e18 ? (int64_t)real : INT64_MAX;
    return true;
}

/* 1000, 1.5G, 64Ki; with bytes a B may follow. */
static bool read_amount(const char *text, bool bytes, int64_t *out, struct reel_error *err) {
    static const struct {
        const char *unit;
        uint64_t factor;
    } units[] = {{"", 1},     {"k", 1000},     {"M", 1000000},  {"G", 1000000000}, {"T", 1000000000000},
                 {"K", 1000}, {"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30},   {"Ti", UINT64_C(1) << 40}};
    size_t digits = strspn(text, "0123456789."), size = strlen(text + digits);
    size -= bytes && size > 0 && text[digits + size - 1] == 'B';
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].unit) == size && strncmp(units[i].unit, text + digits, size) == 0 &&
            read_scaled(text, digits, units[i].factor, out)) {
            return true;
        }
    }
    return reel_fail(err, REEL_ARGUMENT,
                     bytes ? "\"%.40s\" is no size: write 500, 100M, 1.5G or 64Ki"
                           : "\"%.40s\" is no number: write 1000 or 5k",
                     text);
}

static bool search_range_read_time(const char *text, int64_t *min, int64_t *max, struct reel_error *err) {
    struct reel_time t;
    struct reel_error none;
    if (search_date(text, min, max)) {
        return true;
    }
    if (!reel_time_parse(text, 1, &t, &none) || t.kind == REEL_TIME_FROM_START || t.kind == REEL_TIME_FROM_END) {
        return reel_fail(err, REEL_ARGUMENT,
                         "\"%.40s\" is no date: write 2024-06-11, 2024-06, 2024-06-11T10:00:00Z or now-7d", text);
    }
    *min = *max = reel_time_resolve(&t, 0, 0, reel_now_ns());
    return true;
}

static bool read_bound(enum search_kind kind, const char *text, int64_t *min, int64_t *max, struct reel_error *err) {
    bool good;
    if (kind == SEARCH_CREATED) {
        return search_range_read_time(text, min, max, err);
    }
    if (kind == SEARCH_DURATION) {
        *min = 0;
        good = strcmp(text, "0") == 0 || strcmp(text, "0s") == 0 || reel_duration_parse(text, min, err);
    } else {
        good = read_amount(text, kind == SEARCH_SIZE, min, err);
    }
    *max = *min;
    return good;
}

bool search_range(enum search_kind kind, const char *text, int64_t *min, int64_t *max, struct reel_error *err) {
    char first[64];
    const char *dots = strstr(text, ".."), *second = dots ? dots + 2 : NULL;
    char op = *text == '<' || *text == '>' ? *text : '=';
    bool with_equal = op != '=' && text[op == *text] == '=';
    text += (op == *text) + with_equal;
    size_t size = dots && dots > text ? (size_t)(dots - text) : strlen(text);
    if (*text == '\0' || (second && (op != '=' || !*second))) {
        return reel_fail(err, REEL_ARGUMENT, "a bound is missing; a range is written >a, >=a, <a, <=a or a..b");
    }
    if (size >= sizeof first) {
        return reel_fail(err, REEL_ARGUMENT, "this bound is longer than %zu characters", sizeof first - 1);
    }
    memcpy(first, text, size);
    first[size] = '\0';
    int64_t low, high, ignored;
    if (!read_bound(kind, first, &low, &high, err) || (second && !read_bound(kind, second, &ignored, &high, err))) {
        return false;
    }
    if (second && high < low) {
        return reel_fail(err, REEL_ARGUMENT, "the first bound is above the second");
    }
    bool above = op == '>', below = op == '<';
    *min = below ? INT64_MIN : !above || with_equal ? low : high < INT64_MAX ? high + 1 : high;
    *max = above ? INT64_MAX : !below || with_equal ? high : low > INT64_MIN ? low - 1 : low;
    return true;
}
