/* Series as text: JSON with pairs of time and value, CSV and NDJSON with a row per point. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/contents/series.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/text_stream.h"
#include "json_whole.h"
#include "syntax/json_out.h"
#include "tables/table.h"

/* Returns whether the time is a text rather than a number. */
static bool series_text_time_text(const char *format, const struct series *s, int64_t ns, char out[REEL_TIME_TEXT]) {
    if (strcmp(format, "milliseconds") == 0) {
        snprintf(out, REEL_TIME_TEXT, "%lld", (long long)(ns / 1000000 - (ns % 1000000 < 0)));
        return false;
    }
    if (strcmp(format, "seconds") == 0 || strcmp(format, "relative") == 0) {
        reel_time_seconds(format[0] == 'r' ? (int64_t)((uint64_t)ns - (uint64_t)s->zero_ns) : ns, out);
        return false;
    }
    if (strcmp(format, "nanoseconds") == 0) {
        snprintf(out, REEL_TIME_TEXT, "%lld", (long long)ns);
    } else if (s->clock == REEL_CLOCK_RELATIVE) {
        reel_time_seconds(ns, out);
    } else {
        reel_time_rfc3339(ns, out);
    }
    return true;
}

/* ---- JSON */

static void series_text_put_string(FILE *f, const char *string) {
    json_t *text = json_string(string);
    char *quoted = text ? json_whole_text(text, JSON_ENCODE_ANY) : NULL;
    fputs(quoted ? quoted : "\"\"", f);
    free(quoted);
    json_decref(text);
}

static void put_points(FILE *f, const struct series *s, const char *format) {
    char time[REEL_TIME_TEXT], value[REEL_NUMBER_TEXT];
    fputc('[', f);
    for (size_t i = 0; i < s->count; i++) {
        const char *quote = series_text_time_text(format, s, s->points[i].time_ns, time) ? "\"" : "",
                   *mark = isfinite(s->points[i].value) ? "" : "\"";
        series_number(s, s->points[i].value, value);
        fprintf(f, "%s[%s%s%s,%s%s%s]", i > 0 ? "," : "", quote, time, quote, mark, value, mark);
    }
    fputc(']', f);
}

/* One field: its points. Several: an object by field name. Several recordings: a list whose items name their recording.
 */
static void put_json(FILE *f, const struct series *all, size_t n, bool across, const char *format) {
    const char *open = across ? "{\"items\":[" : n > 1 ? "{" : "", *close = across ? "]}" : n > 1 ? "}" : "";
    fputs(open, f);
    for (size_t i = 0; i < n; i++) {
        fputs(i > 0 ? ",\n" : "", f);
        if (across) {
            fprintf(f, "{\"recording\":\"%s\",\"name\":", all[i].recording);
            series_text_put_string(f, all[i].name);
            fputs(",\"field\":", f);
        }
        if (across || n > 1) {
            series_text_put_string(f, all[i].field);
            fputs(across ? ",\"points\":" : ":", f);
        }
        put_points(f, &all[i], format);
        fputs(across ? "}" : "", f);
    }
    fprintf(f, "%s\n", close);
}

/* ---- rows */

static bool series_text_put_text(void *context, const char *text, size_t size) {
    return fwrite(text, 1, size, context) == size;
}

static bool series_text_put_row(const struct reel_table *t, const struct series *s, struct reel_point p, bool across,
                                bool field, const char *format) {
    char time[REEL_TIME_TEXT];
    struct reel_cell cells[4];
    unsigned n = 0;
    bool text = series_text_time_text(format, s, p.time_ns, time);
    if (across) {
        cells[n++] = reel_cell_text(bytes_text(s->recording));
    }
    cells[n++] = text ? reel_cell_text(bytes_text(time)) : reel_cell_json(bytes_text(time));
    if (field) {
        cells[n++] = reel_cell_text(bytes_text(s->field));
    }
    cells[n++] = series_value_is_float32(s, p.value) ? reel_cell_real32((float)p.value) : reel_cell_real(p.value);
    return t->row(t->context, cells, n);
}

/* The CSV of a single field has no column for its name. */
static bool series_text_put_rows(FILE *f, const struct series *all, size_t n, bool across, const char *format,
                                 enum reel_table_form form) {
    static const char *const with_field[] = {"recording", "time", "field", "value"}, *const without[] = {"time",
                                                                                                         "value"};
    bool field = across || n > 1 || form != REEL_TABLE_CSV;
    const struct reel_text_sink sink = {.put = series_text_put_text, .context = f};
    AUTO(reel_table_text_free) struct reel_table_text *text = reel_table_text_new(form, &sink, NULL);
    const struct reel_table *t = text ? reel_table_of_text(text) : NULL;
    bool good = t && (field ? t->columns(t->context, with_field + !across, across ? 4 : 3)
                            : t->columns(t->context, without, 2));
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; good && k < all[i].count; k++) {
            good = series_text_put_row(t, &all[i], all[i].points[k], across, field, format);
        }
    }
    return good && t->end(t->context);
}

/* ---- replies */

void series_reply(struct http_request *r, const struct series *all, size_t n, bool across,
                  const struct rows_form *form) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    const char *format = http_param(r, "time_format") ? http_param(r, "time_format") : "rfc3339";
    bool good = f != NULL;
    if (good && form->form == REEL_TABLE_JSON) {
        put_json(f, all, n, across, format);
    } else if (good) {
        good = series_text_put_rows(f, all, n, across, format, (enum reel_table_form)form->form);
    }
    if (text_stream_close(f, &text) && good) {
        http_reply_bytes(r, 200, form->media_type, text, size);
    } else {
        http_reply_no_memory(r);
    }
    free(text);
}
