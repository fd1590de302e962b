/* Times and durations as text. Nothing overflows: values beyond 64 bits of nanoseconds are refused when parsed and
 * saturated when added. */
#include "reel/time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int64_t SECOND_NS = 1000000000;
static const char accepted[] =
    "a time is RFC 3339 (2024-05-01T10:00:00Z, 2024-05-01), a number (bare, or with ns, us, ms, s), +2.5s from "
    "the start, -2.5s from the end, "
    "now or now-1h";

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* ---- numbers with a unit */

static int64_t unit_ns(const char *unit) {
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ns", 1},
                 {"us", 1000},
                 {"ms", 1000000},
                 {"s", 1000000000},
                 {"m", 60000000000LL},
                 {"h", 3600000000000LL},
                 {"d", 86400000000000LL}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(unit, units[i].name) == 0) {
            return units[i].ns;
        }
    }
    return 0;
}

/* The digits after the point, counted in `unit`. Anything finer than a nanosecond is refused, not rounded. */
static bool fraction_ns(const char **text, int64_t unit, int64_t *ns) {
    const int64_t scale_max = SECOND_NS * SECOND_NS; /* further digits must be zeros */
    int64_t scale = 1;
    __int128 sum = 0;
    const char *p = *text;
    if (!is_digit(*p)) {
        return false;
    }
    for (; is_digit(*p); p++) {
        if (scale < scale_max) {
            sum = sum * 10 + (*p - '0');
            scale *= 10;
        } else if (*p != '0') {
            return false;
        }
    }
    *text = p;
    *ns = (int64_t)(sum * unit / scale);
    return sum * unit % scale == 0;
}

/* "2.5s": an unsigned number and its unit. `bare` is the default unit; 0 = a unit is required. */
static bool parse_amount(const char *text, int64_t bare, int64_t *ns) {
    int64_t whole = 0;
    const char *p = text;
    for (; is_digit(*p); p++) {
        if (__builtin_mul_overflow(whole, 10, &whole) || __builtin_add_overflow(whole, *p - '0', &whole)) {
            return false;
        }
    }
    const char *unit_text = p;
    if (*p == '.') {
        unit_text = p + 1 + strspn(p + 1, "0123456789");
    }
    int64_t unit = *unit_text ? unit_ns(unit_text) : bare;
    int64_t fraction = 0;
    if (p == text || unit == 0) {
        return false;
    }
    if (*p == '.') {
        p++;
        if (!fraction_ns(&p, unit, &fraction)) {
            return false;
        }
    }
    return !__builtin_mul_overflow(whole, unit, ns) && !__builtin_add_overflow(*ns, fraction, ns);
}

/* ---- RFC 3339 */

/* Days since 1970 of a Gregorian date, and back; years start in March, so that the leap day comes last. */
static int64_t days_of(int64_t year, int month, int day) {
    int64_t y = year - (month <= 2);
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

static void date_of(int64_t days, int *year, int *month, int *day) {
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t day_of_era = z - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t m = (5 * day_of_year + 2) / 153;
    *day = (int)(day_of_year - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = (int)(year_of_era + era * 400 + (*month <= 2));
}

static bool take_digits(const char **p, int count, int *out) {
    *out = 0;
    for (int i = 0; i < count; i++, (*p)++) {
        if (!is_digit(**p)) {
            return false;
        }
        *out = *out * 10 + (**p - '0');
    }
    return true;
}

static bool take_char(const char **p, const char *any) {
    if (**p == '\0' || !strchr(any, **p)) {
        return false;
    }
    (*p)++;
    return true;
}

static int days_in_month(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

static bool take_date(const char **p, int64_t *days) {
    int year, month, day;
    bool good = take_digits(p, 4, &year) && take_char(p, "-") && take_digits(p, 2, &month) && take_char(p, "-") &&
                take_digits(p, 2, &day);
    if (!good || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) {
        return false;
    }
    *days = days_of(year, month, day);
    return true;
}

/* "Z", "+02:00"; *offset in seconds. */
static bool take_zone(const char **p, int *offset) {
    int hours, minutes;
    bool negative = **p == '-';
    *offset = 0;
    if (take_char(p, "Zz")) {
        return true;
    }
    if (!take_char(p, "+-") || !take_digits(p, 2, &hours) || !take_char(p, ":") || !take_digits(p, 2, &minutes) ||
        hours > 23 || minutes > 59) {
        return false;
    }
    *offset = (negative ? -1 : 1) * (hours * 3600 + minutes * 60);
    return true;
}

static bool parse_rfc3339(const char *p, int64_t *ns) {
    int64_t days, fraction = 0;
    int hour, minute, second, offset;
    if (!take_date(&p, &days)) {
        return false;
    }
    if (!*p) { /* a date alone: its begin */
        return !__builtin_mul_overflow(days, 86400 * SECOND_NS, ns);
    }
    if (!take_char(&p, "Tt ") || !take_digits(&p, 2, &hour) || !take_char(&p, ":") || !take_digits(&p, 2, &minute) ||
        !take_char(&p, ":") || !take_digits(&p, 2, &second) || hour > 23 || minute > 59 || second > 60) {
        return false;
    }
    if (take_char(&p, ".")) {
        if (strspn(p, "0123456789") > 9 || !fraction_ns(&p, SECOND_NS, &fraction)) {
            return false;
        }
    }
    offset = 0;
    if (*p && (!take_zone(&p, &offset) || *p)) {
        return false;
    }
    __int128 sum = ((__int128)days * 86400 + hour * 3600 + minute * 60 + second - offset) * SECOND_NS + fraction;
    *ns = (int64_t)sum;
    return sum >= INT64_MIN && sum <= INT64_MAX;
}

/* ---- numbers since 1970 */

enum {
    CALENDAR_S = 100000000,
    YEAR_S = 366 * 86400
}; /* a recording whose times are later than 1973 has calendar times */

/* Seconds reach to the year 5138; the others begin where these would be in 1973. */
static int64_t magnitude_ns(int64_t number) {
    return number < INT64_C(100000000000)         ? SECOND_NS
           : number < INT64_C(100000000000000)    ? 1000000
           : number < INT64_C(100000000000000000) ? 1000
                                                  : 1;
}

static bool parse_bare(const char *text, size_t digits, struct reel_time *out) {
    out->bare = text[digits] == '\0';
    return out->bare ? parse_amount(text, 1, &out->ns)
                     : digits > 0 && digits < 18 && parse_amount(text, magnitude_ns(strtoll(text, NULL, 10)), &out->ns);
}

/* ---- public functions (reel/time.h) */

static bool parse(const char *text, int64_t bare_unit_ns, struct reel_time *out) {
    const char *p = text;
    *out = (struct reel_time){.kind = REEL_TIME_ABSOLUTE};
    if (strncmp(p, "now", 3) == 0) {
        out->kind = REEL_TIME_FROM_NOW;
        p += 3;
        if (*p == '\0') {
            return true;
        }
    } else if (*p == '+' || *p == '-') {
        out->kind = *p == '+' ? REEL_TIME_FROM_START : REEL_TIME_FROM_END;
    }
    if (out->kind != REEL_TIME_ABSOLUTE) {
        bool negative = *p == '-';
        if ((!negative && *p != '+') || !parse_amount(p + 1, 0, &out->ns)) {
            return false;
        }
        out->ns = negative ? -out->ns : out->ns;
        return true;
    }
    if (strspn(p, "0123456789") == 4 && p[4] == '-') {
        return parse_rfc3339(p, &out->ns);
    }
    size_t number = strspn(p, "0123456789.");
    if (!p[number] && bare_unit_ns == 1) {
        return parse_bare(p, strspn(p, "0123456789"), out);
    }
    return !strpbrk(p + number, "mhd") || strcmp(p + number, "ms") == 0 ? parse_amount(p, bare_unit_ns, &out->ns)
                                                                        : false;
}

bool reel_time_parse(const char *text, int64_t bare_unit_ns, struct reel_time *out, struct reel_error *err) {
    return parse(text, bare_unit_ns, out) ||
           reel_fail(err, REEL_ARGUMENT, "\"%.64s\" is not understood: %s", text, accepted);
}

bool reel_duration_parse(const char *text, int64_t *ns, struct reel_error *err) {
    if (parse_amount(text, 0, ns) && *ns > 0) {
        return true;
    }
    return reel_fail(err, REEL_ARGUMENT,
                     "\"%.64s\" is not a duration: use a positive number with its unit (ns, us, ms, s, m, h, d)", text);
}

static int64_t add_saturated(int64_t a, int64_t b) {
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum)) {
        return sum;
    }
    return b < 0 ? INT64_MIN : INT64_MAX;
}

static bool is_calendar(int64_t ns) {
    return ns >= CALENDAR_S * SECOND_NS;
}

int64_t reel_time_resolve(const struct reel_time *t, int64_t first_ns, int64_t last_ns, int64_t now_ns) {
    switch (t->kind) {
    case REEL_TIME_ABSOLUTE:
        return t->bare && ((first_ns == 0 && last_ns == 0) || is_calendar(last_ns)) ? t->ns * magnitude_ns(t->ns)
                                                                                    : t->ns;
    case REEL_TIME_FROM_START:
        return add_saturated(first_ns, t->ns);
    case REEL_TIME_FROM_END:
        return add_saturated(last_ns, t->ns);
    case REEL_TIME_FROM_NOW:
        return add_saturated(now_ns, t->ns);
    }
    return t->ns;
}

bool reel_time_within(const struct reel_time *t, int64_t first_ns, int64_t last_ns, int64_t *ns,
                      struct reel_error *err) {
    char text[3][REEL_TIME_TEXT], amount[REEL_TIME_TEXT] = "";
    *ns = reel_time_resolve(t, first_ns, last_ns, reel_now_ns());
    if (t->kind != REEL_TIME_ABSOLUTE || (first_ns == 0 && last_ns == 0) ||
        (*ns >= add_saturated(first_ns, -YEAR_S * SECOND_NS) && *ns <= add_saturated(last_ns, YEAR_S * SECOND_NS))) {
        return true;
    }
    bool calendar = is_calendar(last_ns);
    const int64_t times[] = {*ns, first_ns, last_ns};
    for (unsigned i = 0; i < 3; i++) {
        calendar ? reel_time_rfc3339(times[i], text[i]) : reel_time_seconds(times[i], text[i]);
    }
    if (calendar && *ns >= 0 && !is_calendar(*ns)) { /* an offset, most likely */
        size_t n = reel_time_seconds(*ns, amount);
        while (amount[n - 1] == '0') {
            n--;
        }
        amount[n - (amount[n - 1] == '.')] = '\0';
    }
    return reel_fail(err, REEL_ARGUMENT, "%s is more than a year outside of the recording, %s to %s%s%s%s", text[0],
                     text[1], text[2], amount[0] ? "; did you mean +" : "", amount, amount[0] ? "s?" : "");
}

int64_t reel_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* printf takes thousands of instructions per time; a recording's JSON has dozens of times, and every log line has one.
 */
static char *put_digits(char *at, uint32_t value, int digits) {
    for (int i = digits - 1; i >= 0; i--) {
        at[i] = (char)('0' + value % 10);
        value /= 10;
    }
    return at + digits;
}

size_t reel_time_rfc3339(int64_t ns, char out[REEL_TIME_TEXT]) {
    int64_t seconds = ns / SECOND_NS - (ns % SECOND_NS < 0);
    int fraction = (int)((ns % SECOND_NS + SECOND_NS) % SECOND_NS);
    int64_t days = seconds / 86400 - (seconds % 86400 < 0);
    int second = (int)(seconds - days * 86400);
    int year, month, day; /* 1677 to 2262 */
    date_of(days, &year, &month, &day);
    const int values[] = {year, month, day, second / 3600, second / 60 % 60, second % 60, fraction};
    const int digits[] = {4, 2, 2, 2, 2, 2, 9};
    char *at = out;
    for (int i = 0; i < 7; i++) {
        at = put_digits(at, (uint32_t)values[i], digits[i]);
        *at++ = "--T::.Z"[i];
    }
    *at = '\0';
    return (size_t)(at - out);
}

size_t reel_time_seconds(int64_t ns, char out[REEL_TIME_TEXT]) {
    uint64_t size_ns = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    int size = snprintf(out, REEL_TIME_TEXT, "%s%llu.%09llu", ns < 0 ? "-" : "",
                        (unsigned long long)(size_ns / 1000000000), (unsigned long long)(size_ns % 1000000000));
    return (size_t)size;
}
