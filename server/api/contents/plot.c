/* /plot.svg: fields over time as a picture. The SVG loads nothing and has no scripts; names from recordings are escaped
 * text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/contents/contents.h"
#include "api/contents/series.h"
#include "api/digests.h"
#include "api/recording.h"
#include "base/c_locale.h"
#include "base/text_stream.h"
#include "syntax/json_out.h"
#include "syntax/xml_out.h"

enum { PLOT_FIELDS_MAX = 8, WIDTH_DEFAULT = 800, HEIGHT_DEFAULT = 300 };
enum { LEFT = 74, RIGHT = 12, TOP = 28, TIMES = 26 }; /* pixels around the lines */
enum { CHARACTER = 6, DATE = 11 };                    /* the width of one; the number of them before the time of day */
enum { LEGEND = 16, AREA_MIN = 40 };                  /* height of a row of the legend; least height of the lines */
static const char *const colours[PLOT_FIELDS_MAX] = {"#1f77b4", "#d62728", "#2ca02c", "#ff7f0e",
                                                     "#9467bd", "#8c564b", "#e377c2", "#17becf"};

struct plot {
    const struct series *all;
    size_t n;
    unsigned width, height;
    bool any; /* there is a point that can be drawn */
    int64_t first_ns, last_ns;
    double low, high;
};

/* ---- coordinates */

static unsigned area_bottom(const struct plot *p) {
    return p->height - TIMES - LEGEND * (unsigned)p->n;
}
static double x_of(const struct plot *p, int64_t ns) {
    double span = (double)((uint64_t)p->last_ns - (uint64_t)p->first_ns),
           at = (double)((uint64_t)ns - (uint64_t)p->first_ns);
    return LEFT + (p->width - LEFT - RIGHT) * (span > 0 ? at / span : 0.5);
}
static double y_of(const struct plot *p, double value) {
    double span = p->high / 2 - p->low / 2, at = value / 2 - p->low / 2; /* halved, as the difference may overflow */
    return area_bottom(p) - (area_bottom(p) - TOP) * (span > 0 ? at / span : 0.5);
}

static void plot_measure(struct plot *p) {
    for (size_t i = 0; i < p->n; i++) {
        for (size_t k = 0; k < p->all[i].count; k++) {
            const struct reel_point *point = &p->all[i].points[k];
            if (!isfinite(point->value)) {
                continue;
            }
            p->low = !p->any || point->value < p->low ? point->value : p->low;
            p->high = !p->any || point->value > p->high ? point->value : p->high;
            p->first_ns = !p->any || point->time_ns < p->first_ns ? point->time_ns : p->first_ns;
            p->last_ns = !p->any || point->time_ns > p->last_ns ? point->time_ns : p->last_ns;
            p->any = true;
        }
    }
}

/* ---- text */

static void plot_put_text(FILE *f, double x, double y, const char *anchor, const char *text) {
    C_LOCALE;
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    xml_put_text(f, text);
    fputs("</text>\n", f);
}

static void plot_put_number(FILE *f, const struct plot *p, double value) {
    C_LOCALE;
    char text[REEL_NUMBER_TEXT];
    snprintf(text, sizeof text, "%.6g", value);
    plot_put_text(f, LEFT - 6, y_of(p, value) + 4, "end", text);
}

/* With milliseconds if the range is only seconds long; without the date if two labels do not fit. */
static void plot_put_time(FILE *f, const struct plot *p, int64_t ns, const char *anchor) {
    char text[REEL_TIME_TEXT], label[REEL_TIME_TEXT + 4];
    bool fine = (uint64_t)p->last_ns - (uint64_t)p->first_ns < UINT64_C(10000000000),
         relative = p->all[0].clock == REEL_CLOCK_RELATIVE;
    if (relative) {
        reel_time_seconds(ns, text);
    } else {
        reel_time_rfc3339(ns, text);
    }
    size_t whole = strcspn(text, ".") + (fine ? 4 : 0);
    size_t from = !relative && whole > DATE && p->width - LEFT - RIGHT < 2 * CHARACTER * (whole + 1) ? DATE : 0;
    snprintf(label, sizeof label, "%.*s%s", (int)(whole - from), text + from, relative ? " s" : "Z");
    plot_put_text(f, x_of(p, ns), area_bottom(p) + 16, anchor, label);
}

/* ---- the picture */

static void put_axes(FILE *f, const struct plot *p) {
    C_LOCALE;
    unsigned width = p->width - LEFT - RIGHT, height = area_bottom(p) - TOP;
    fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"%u\" height=\"%u\" fill=\"none\" stroke=\"#999\"/>\n", LEFT, TOP, width,
            height);
    if (!p->any) {
        plot_put_text(f, p->width / 2.0, (TOP + area_bottom(p)) / 2.0, "middle", "no values in this interval");
        return;
    }
    plot_put_number(f, p, p->high);
    if (p->low < p->high) {
        double middle = p->low / 2 + p->high / 2;
        fprintf(f, "<path d=\"M%d %.1fH%u\" stroke=\"#ddd\"/>\n", LEFT, y_of(p, middle), p->width - RIGHT);
        plot_put_number(f, p, middle);
        plot_put_number(f, p, p->low);
    }
    if (p->first_ns < p->last_ns) {
        plot_put_time(f, p, p->first_ns, "start");
        plot_put_time(f, p, p->last_ns, "end");
    } else {
        plot_put_time(f, p, p->first_ns, "middle");
    }
}

static void plot_put_line(FILE *f, const struct plot *p, size_t i) {
    C_LOCALE;
    const struct series *s = &p->all[i];
    size_t drawn = 0, last = 0;
    fprintf(f, "<polyline fill=\"none\" stroke=\"%s\" stroke-linejoin=\"round\" points=\"", colours[i]);
    for (size_t k = 0; k < s->count; k++) {
        if (isfinite(s->points[k].value)) {
            fprintf(f, "%s%.1f,%.1f", drawn++ > 0 ? " " : "", x_of(p, s->points[k].time_ns),
                    y_of(p, s->points[k].value));
            last = k;
        }
    }
    fputs("\"/>\n", f);
    if (drawn == 1) { /* a line of one point is invisible */
        struct reel_point one = s->points[last];
        fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n", x_of(p, one.time_ns),
                y_of(p, one.value), colours[i]);
    }
}

static void put_legend(FILE *f, const struct plot *p, size_t i) {
    C_LOCALE;
    double y = area_bottom(p) + TIMES + LEGEND * (double)i + 8;
    fprintf(f, "<path d=\"M%d %.1fh18\" stroke=\"%s\" stroke-width=\"3\"/>\n", LEFT, y - 4, colours[i]);
    plot_put_text(f, LEFT + 24, y, "start", p->all[i].field);
}

static void put_plot(FILE *f, const struct plot *p, const char *title) {
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" role=\"img\"",
            p->width, p->height, p->width, p->height);
    fputs(" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n<title>", f);
    xml_put_text(f, title);
    fprintf(f, "</title>\n<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n", p->width, p->height);
    plot_put_text(f, LEFT, 18, "start", title);
    put_axes(f, p);
    for (size_t i = 0; i < p->n; i++) {
        plot_put_line(f, p, i);
        put_legend(f, p, i);
    }
    fputs("</svg>\n", f);
}

/* ---- the request */

static bool plot_read_text(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    (void)err;
    memcpy(buffer, (const char *)context + offset, size);
    return true;
}

static void plot_reply(struct http_request *r, struct plot *p, const char *title) {
    char *text = NULL, etag[64];
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    plot_measure(p);
    if (f) {
        put_plot(f, p, title);
    }
    if (!text_stream_close(f, &text)) {
        http_reply_no_memory(r);
        return;
    }
    api_etag(text, etag);
    http_reply_file(r, &(struct http_file){.length = size,
                                           .etag = etag,
                                           .media_type = "image/svg+xml",
                                           .fd = -1,
                                           .read = plot_read_text,
                                           .free = free,
                                           .context = text});
}

static bool read_plot(struct http_request *r, const char **fields, struct plot *out) {
    size_t n = http_params(r, "field", fields, PLOT_FIELDS_MAX);
    uint64_t width = WIDTH_DEFAULT, height = HEIGHT_DEFAULT, least = TOP + AREA_MIN + TIMES + LEGEND * n;
    http_param_u64(r, "width", &width);
    if (http_param_u64(r, "height", &height) && height < least) {
        http_reply_bad_param(r, "height", "at least %llu for %zu fields", (unsigned long long)least, n);
        return false;
    }
    *out = (struct plot){.width = (unsigned)width, .height = (unsigned)height, .n = n};
    return true;
}

void api_plot(struct http_request *r) {
    const char *fields[PLOT_FIELDS_MAX];
    struct plot p;
    struct api_recording a;
    struct series_request q;
    struct series_error trouble;
    size_t done = 0;
    if (!read_plot(r, fields, &p) || !api_open_messages(r, &a)) {
        return;
    }
    struct series *all = calloc(p.n, sizeof *all);
    if (!all) {
        http_reply_no_memory(r);
    } else if (series_query(r, reel_recording_index(a.recording), &q)) {
        q.max_points = p.width;
        while (done < p.n && series_read(r, &a, &q, fields[done], &all[done], &trouble)) {
            done++;
        }
        p.all = all;
        if (done == p.n) {
            plot_reply(r, &p, a.row.name);
        } else {
            series_refuse(r, &trouble);
        }
    }
    series_free(all, p.n);
    api_recording_done(&a);
}
