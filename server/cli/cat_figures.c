/* See cat_figures.h. Intervals lie on multiples of their length after the first message; those without messages are not
 * written. */
#include "cli/cat_figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "syntax/csv.h"

enum { BINS = 60 };

const char *cat_time(int64_t ns, enum reel_clock clock, char out[REEL_TIME_TEXT]) {
    clock == REEL_CLOCK_RELATIVE ? reel_time_seconds(ns, out) : reel_time_rfc3339(ns, out);
    return out;
}

struct figure { /* of one channel, or of all */
    uint64_t messages, bytes;
    uint32_t least, most;
};

struct cat_figures {
    const struct reel_stream *stream;
    const struct cat_options *options;
    bool any;
    int64_t begins_ns; /* the interval */
    struct figure all, *channels;
    uint32_t (*bins)[BINS]; /* of each channel's timeline */
};

struct cat_figures *cat_figures_new(const struct reel_stream *stream, const struct cat_options *options) {
    struct cat_figures *f = calloc(1, sizeof *f);
    if (f) {
        f->stream = stream;
        f->options = options;
        f->channels = calloc((size_t)stream->n_channels + 1, sizeof *f->channels);
        f->bins = options->style == CAT_TIMELINE ? calloc((size_t)stream->n_channels + 1, sizeof *f->bins) : NULL;
    }
    if (f && (!f->channels || (options->style == CAT_TIMELINE && !f->bins))) {
        cat_figures_free(f);
        f = NULL;
    }
    return f;
}

void cat_figures_free(struct cat_figures *f) {
    if (f) {
        free(f->channels);
        free(f->bins);
        free(f);
    }
}

static void count_message(struct figure *f, uint32_t size) {
    f->least = f->messages == 0 || size < f->least ? size : f->least;
    f->most = size > f->most ? size : f->most;
    f->messages++;
    f->bytes += size;
}

/* ---- intervals */

static void put_figure(const struct cat_figures *f, const struct figure *figure, const char *topic, struct grow *to) {
    C_LOCALE;
    double seconds = (double)f->options->interval_ns / 1e9, messages = (double)figure->messages;
    char time[REEL_TIME_TEXT], line[200];
    grow_text(to, cat_time(f->begins_ns, f->options->clock, time));
    if (topic) {
        grow_u8(to, ',');
        csv_put(to, bytes_text(topic));
    }
    snprintf(line, sizeof line, ",%" PRIu64 ",%.3f,%.1f,%.1f,%u,%u\n", figure->messages, messages / seconds,
             (double)figure->bytes / seconds, (double)figure->bytes / messages, figure->least, figure->most);
    grow_text(to, line);
}

static void put_interval(struct cat_figures *f, struct grow *to) {
    if (f->options->style == CAT_STATISTICS && f->all.messages > 0) {
        put_figure(f, &f->all, NULL, to);
    }
    for (uint32_t i = 0; i < f->stream->n_channels && f->options->style == CAT_MONITOR; i++) {
        if (f->channels[i].messages > 0) {
            put_figure(f, &f->channels[i], f->stream->channels[i]->name, to);
        }
    }
    f->all = (struct figure){0};
    memset(f->channels, 0, f->stream->n_channels * sizeof *f->channels);
}

/* The interval of this time begins. */
static void begin_interval(struct cat_figures *f, int64_t time_ns, struct grow *to) {
    uint64_t length = (uint64_t)f->options->interval_ns, since = (uint64_t)time_ns - (uint64_t)f->begins_ns;
    if (!f->any) {
        grow_text(to, f->options->style == CAT_MONITOR ? "time,topic," : "time,");
        grow_text(to, "messages,messages_per_s,bytes_per_s,mean_size,min_size,max_size\n");
        f->begins_ns = time_ns;
    } else if (time_ns > f->begins_ns && since >= length) {
        put_interval(f, to);
        f->begins_ns = (int64_t)((uint64_t)f->begins_ns + since / length * length);
    }
    f->any = true;
}

/* ---- timeline */

static void count_bin(struct cat_figures *f, const struct reel_message *m) {
    const struct cat_options *o = f->options;
    double span = (double)o->end_ns - (double)o->start_ns, since = (double)m->time_ns - (double)o->start_ns;
    double bin = span > 0 ? since / span * BINS : 0;
    f->bins[m->channel][bin < 0 ? 0 : bin >= BINS ? BINS - 1 : (unsigned)bin]++;
}

static void put_bar(const uint32_t bins[BINS], struct grow *to) {
    static const char *const levels[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    uint32_t most = 1;
    for (unsigned i = 0; i < BINS; i++) {
        most = bins[i] > most ? bins[i] : most;
    }
    for (unsigned i = 0; i < BINS; i++) {
        uint64_t level = ((uint64_t)bins[i] * 8 + most - 1) / most; /* any message shows */
        grow_text(to, levels[level]);
    }
}

static void put_timeline(const struct cat_figures *f, struct grow *to) {
    char start[REEL_TIME_TEXT], end[REEL_TIME_TEXT], line[160];
    size_t widest = 0;
    for (uint32_t i = 0; i < f->stream->n_channels; i++) {
        size_t size = strlen(f->stream->channels[i]->name);
        widest = size > widest && size <= 60 ? size : widest;
    }
    snprintf(line, sizeof line, "%s … %s\n", cat_time(f->options->start_ns, f->options->clock, start),
             cat_time(f->options->end_ns, f->options->clock, end));
    grow_text(to, line);
    for (uint32_t i = 0; i < f->stream->n_channels; i++) {
        const char *name = f->stream->channels[i]->name;
        grow_text(to, name);
        for (size_t k = strlen(name); k < widest; k++) {
            grow_u8(to, ' ');
        }
        grow_text(to, " |");
        put_bar(f->bins[i], to);
        snprintf(line, sizeof line, "| %" PRIu64 "\n", f->channels[i].messages);
        grow_text(to, line);
    }
}

bool cat_figures_add(struct cat_figures *f, const struct reel_message *m, struct grow *to) {
    if (f->bins) {
        count_bin(f, m);
    } else {
        begin_interval(f, m->time_ns, to);
    }
    count_message(&f->all, m->size);
    count_message(&f->channels[m->channel], m->size);
    return !to->failed;
}

bool cat_figures_end(struct cat_figures *f, struct grow *to) {
    if (f->bins) {
        put_timeline(f, to);
    } else {
        put_interval(f, to);
    }
    return !to->failed;
}
