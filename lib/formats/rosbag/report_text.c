/* The figures of a bag as text, in the form of `rosbag info`: a table, or YAML. Output equals rosbag's byte for byte,
 * including its mistakes. */
#include "base/c_locale.h"
#include "formats/rosbag/report_info.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

enum { SIZE_TEXT = 32, TIME_TEXT = 64 };

__attribute__((format(printf, 2, 3))) static void rosbag_print(struct grow *out, const char *format, ...) {
    C_LOCALE;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int n = vsnprintf(NULL, 0, format, arguments);
    char *at = n < 0 ? NULL : (char *)grow_take(out, (size_t)n + 1);
    if (at) {
        vsnprintf(at, (size_t)n + 1, format, again);
        out->size--; /* the NUL */
    }
    va_end(again);
    va_end(arguments);
}

/* --- how rosbag writes numbers --- */

static const char *scaled(double value, double step, const char *const *units, char out[SIZE_TEXT]) {
    C_LOCALE;
    for (size_t i = 0; units[i]; i++, value /= step) {
        if (value < step) {
            snprintf(out, SIZE_TEXT, "%.1f %s", value, units[i]);
            return out;
        }
    }
    return "-";
}

static const char *size_text(double bytes, char out[SIZE_TEXT]) {
    static const char *const units[] = {"KB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB", NULL};
    return scaled(bytes / 1024, 1024, units, out);
}

static const char *rate_text(double hz, char out[SIZE_TEXT]) {
    static const char *const units[] = {"Hz", "kHz", "MHz", "GHz", "THz", "PHz", "EHz", "ZHz", "YHz", NULL};
    return scaled(hz, 1000, units, out);
}

/* Local time; the fraction is rounded separately, so that .999 becomes .00 of the same second. */
static const char *rosbag_time_text(double s, char out[TIME_TEXT]) {
    C_LOCALE;
    time_t whole = (time_t)s;
    struct tm parts;
    char fraction[16];
    snprintf(fraction, sizeof fraction, "%.2f", s - (double)whole);
    size_t n = localtime_r(&whole, &parts) ? strftime(out, TIME_TEXT, "%b %d %Y %H:%M:%S", &parts) : 0;
    snprintf(out + n, TIME_TEXT - n, "%s", fraction + 1);
    return out;
}

static const char *duration_text(double s, char out[TIME_TEXT]) {
    C_LOCALE;
    long long whole = (long long)s, minutes = whole / 60;
    if (minutes >= 60) {
        snprintf(out, TIME_TEXT, "%lldhr %lld:%02llds (%llds)", minutes / 60, minutes % 60, whole % 60, whole);
    } else if (minutes > 0) {
        snprintf(out, TIME_TEXT, "%lld:%02llds (%llds)", minutes, whole % 60, whole);
    } else {
        snprintf(out, TIME_TEXT, "%.1fs", s);
    }
    return out;
}

/* --- columns are as wide as their longest text, counted in characters --- */

static int rosbag_width_of(const char *text) {
    int n = 0;
    for (; *text; text++) {
        n += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return n;
}

static int wider(int width, const char *text) {
    int n = rosbag_width_of(text);
    return n > width ? n : width;
}

static void pad(struct grow *out, const char *text, int width) {
    rosbag_print(out, "%s%*s", text, width - rosbag_width_of(text), "");
}

struct widths {
    int name, type, count, rate;
};

static struct widths widths_of(const struct bag_figures *f) {
    struct widths w = {0};
    char text[SIZE_TEXT];
    for (size_t i = 0; i < f->n_topics; i++) {
        const struct bag_topic *t = &f->topics[i];
        w.name = wider(w.name, t->name);
        snprintf(text, sizeof text, "%llu", (unsigned long long)t->messages);
        w.count = wider(w.count, text);
        w.rate = t->rate > 0 ? wider(w.rate, rate_text(t->rate, text)) : w.rate;
    }
    for (size_t i = 0; i < f->n_types; i++) {
        w.type = wider(w.type, f->types[i].name);
    }
    return w;
}

/* --- the table: a label and a value a row, labels padded to the widest --- */

struct rows {
    struct grow *out;
    int label; /* width, with the colon */
};

static void label(struct rows *rows, const char *name) {
    rosbag_print(rows->out, "%s%s", name, *name ? ":" : "");
    rosbag_print(rows->out, "%*s ", rows->label - rosbag_width_of(name) - (*name != '\0'), "");
}

static void row(struct rows *rows, const char *name, const char *value) {
    label(rows, name);
    rosbag_print(rows->out, "%s\n", value);
}

static bool is_none(const struct bag_codec *c) {
    return strcmp(c->name, "none") == 0;
}

static bool any_compressed(const struct bag_figures *f) {
    for (unsigned i = 0; i < BAG_CODECS; i++) {
        if (f->codecs[i].chunks > 0 && !is_none(&f->codecs[i])) {
            return true;
        }
    }
    return false;
}

static struct bag_codec sum_of(const struct bag_figures *f) {
    struct bag_codec sum = {0};
    for (unsigned i = 0; i < BAG_CODECS; i++) {
        sum.raw += f->codecs[i].raw;
        sum.stored += f->codecs[i].stored;
    }
    return sum;
}

static double percent(const struct bag_codec *c) {
    return c->raw > 0 ? 100.0 * (double)c->stored / (double)c->raw : 0;
}

static void put_compression(struct rows *rows, const struct bag_figures *f) {
    label(rows, "compression");
    if (f->chunks == 0) {
        rosbag_print(rows->out, "none");
    }
    for (unsigned i = 0; i < BAG_CODECS && f->codecs[i].chunks > 0; i++) {
        const struct bag_codec *c = &f->codecs[i];
        rosbag_print(rows->out, "%s%s [%llu/%llu chunks", i > 0 ? ", " : "", c->name, (unsigned long long)c->chunks,
                     (unsigned long long)f->chunks);
        if (!is_none(c)) {
            rosbag_print(rows->out, "; %.2f%%", percent(c));
        }
        rosbag_print(rows->out, "]");
    }
    rosbag_print(rows->out, "\n");
}

static void put_sizes(struct rows *rows, const struct bag_figures *f) {
    struct bag_codec sum = sum_of(f);
    double duration = f->end_s - f->start_s;
    char raw[SIZE_TEXT], stored[SIZE_TEXT], raw_rate[SIZE_TEXT], stored_rate[SIZE_TEXT];
    const char *raw_text = size_text((double)sum.raw, raw), *stored_text = size_text((double)sum.stored, stored);
    int width = wider(rosbag_width_of(raw_text), stored_text), rate = 0;
    if (duration > 0) {
        rate = wider(rosbag_width_of(size_text((double)sum.raw / duration, raw_rate)),
                     size_text((double)sum.stored / duration, stored_rate));
    }
    label(rows, "uncompressed");
    rosbag_print(rows->out, "%*s", width, raw_text);
    if (duration > 0) {
        rosbag_print(rows->out, " @ %*s/s", rate, size_text((double)sum.raw / duration, raw_rate));
    }
    rosbag_print(rows->out, "\n");
    label(rows, "compressed");
    rosbag_print(rows->out, "%*s", width, stored_text);
    if (duration > 0) {
        rosbag_print(rows->out, " @ %*s/s (%.2f%%)", rate, size_text((double)sum.stored / duration, stored_rate),
                     percent(&sum));
    }
    rosbag_print(rows->out, "\n");
}

static void put_types(struct rows *rows, const struct bag_figures *f, const struct widths *w) {
    for (size_t i = 0; i < f->n_types; i++) {
        label(rows, i == 0 ? "types" : "");
        pad(rows->out, f->types[i].name, w->type);
        rosbag_print(rows->out, " [%s]\n", f->types[i].md5);
    }
}

static void rosbag_put_topics(struct rows *rows, const struct bag_figures *f, const struct widths *w) {
    char rate[SIZE_TEXT];
    for (size_t i = 0; i < f->n_topics; i++) {
        const struct bag_topic *t = &f->topics[i];
        label(rows, i == 0 ? "topics" : "");
        pad(rows->out, t->name, w->name);
        rosbag_print(rows->out, "   %*llu %s", w->count, (unsigned long long)t->messages,
                     t->messages > 1 ? "msgs" : "msg ");
        rosbag_print(rows->out, t->rate > 0 ? " @ %*s : " : "   %*s : ", w->rate,
                     t->rate > 0 ? rate_text(t->rate, rate) : "");
        pad(rows->out, t->type, w->type);
        if (t->connections > 1) {
            rosbag_print(rows->out, " (%u connections)", t->connections);
        }
        rosbag_print(rows->out, "\n");
    }
}

static void put_span(struct rows *rows, const struct bag_figures *f) {
    char text[TIME_TEXT];
    row(rows, "duration", duration_text(f->end_s - f->start_s, text));
    label(rows, "start");
    rosbag_print(rows->out, "%s (%.2f)\n", rosbag_time_text(f->start_s, text), f->start_s);
    label(rows, "end");
    rosbag_print(rows->out, "%s (%.2f)\n", rosbag_time_text(f->end_s, text), f->end_s);
}

static void rosbag_put_path(struct rows *rows, const struct bag_figures *f, const char *path) {
    row(rows, "path", path);
    label(rows, "version");
    rosbag_print(rows->out, "%s%s\n", f->version, f->no_index ? " (unindexed)" : "");
}

void bag_info_text(const struct bag_figures *f, const char *path, struct grow *out) {
    bool compressed = any_compressed(f);
    char size[SIZE_TEXT];
    struct rows rows = {.out = out,
                        .label = (int)strlen(f->short_    ? "version:"
                                             : compressed ? "uncompressed:"
                                                          : "compression:")};
    rosbag_put_path(&rows, f, path);
    if (!f->short_) {
        put_span(&rows, f);
    }
    row(&rows, "size", size_text((double)f->size, size));
    if (!f->short_) {
        const struct widths w = widths_of(f);
        label(&rows, "messages");
        rosbag_print(out, "%llu\n", (unsigned long long)f->messages);
        put_compression(&rows, f);
        if (compressed) {
            put_sizes(&rows, f);
        }
        put_types(&rows, f, &w);
        rosbag_put_topics(&rows, f, &w);
    }
    while (out->size > 0 && (out->data[out->size - 1] == ' ' || out->data[out->size - 1] == '\n')) {
        out->size--; /* the last row has no trailing blanks */
    }
}

/* --- YAML --- */

static void yaml_topic(const struct bag_figures *f, const struct bag_topic *t, struct grow *out) {
    rosbag_print(out, "    - topic: %s\n      type: %s\n", t->name, t->type);
    rosbag_print(out, "      messages: %llu\n", f->version1 ? 0ULL : (unsigned long long)t->messages); /* rosbag counts
                                                                                                          only messages
                                                                                                          in chunks here
                                                                                                        */
    if (t->connections > 1) {
        rosbag_print(out, "      connections: %u\n", t->connections);
    }
    if (t->rate > 0) {
        rosbag_print(out, "      frequency: %.4f\n", t->rate);
    }
}

void bag_info_yaml(const struct bag_figures *f, const char *path, struct grow *out) {
    rosbag_print(out, "path: %s\nversion: %s%s\n", path, f->version, f->no_index ? " (unindexed)" : "");
    if (f->short_) {
        rosbag_print(out, "size: %llu\nindexed: False\n", (unsigned long long)f->size);
        return;
    }
    rosbag_print(out, "duration: %.6f\nstart: %.6f\nend: %.6f\n", f->end_s - f->start_s, f->start_s, f->end_s);
    rosbag_print(out, "size: %llu\nmessages: %llu\nindexed: True\n", (unsigned long long)f->size,
                 (unsigned long long)f->messages);
    rosbag_print(out, "compression: %s\n", f->chunks == 0 ? "none" : f->codecs[0].name);
    if (any_compressed(f)) {
        struct bag_codec sum = sum_of(f);
        rosbag_print(out, "uncompressed: %llu\ncompressed: %llu\n", (unsigned long long)sum.raw,
                     (unsigned long long)sum.stored);
    }
    rosbag_print(out, "types:\n");
    for (size_t i = 0; i < f->n_types; i++) {
        rosbag_print(out, "    - type: %s\n      md5: %s\n", f->types[i].name, f->types[i].md5);
    }
    rosbag_print(out, "topics:\n");
    for (size_t i = 0; i < f->n_topics; i++) {
        yaml_topic(f, &f->topics[i], out);
    }
}
