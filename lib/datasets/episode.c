/* See dataset.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "datasets/episode.h"
#include "datasets/table.h"

const char *const dataset_drop_names[DATASET_DROPS] = {"",           "too_old",  "unreadable",
                                                       "other_size", "off_grid", "other_run"};

static const char *const own_columns[] = {"timestamp", "frame_index", "episode_index", "index", "task_index"};
enum { OWN_COLUMNS = sizeof own_columns / sizeof *own_columns };

/* ---- what a dataset may be */

bool dataset_feature_is_video(const struct dataset_feature *f) {
    static const char prefix[] = "observation.images.";
    return strncmp(f->name, prefix, sizeof prefix - 1) == 0 || strcmp(f->name, "observation.image") == 0;
}

static bool is_own(const char *name) {
    for (unsigned i = 0; i < OWN_COLUMNS; i++) {
        if (ascii_casecmp(name, own_columns[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool check_feature(const struct dataset_spec *spec, uint32_t at, struct reel_error *err) {
    const struct dataset_feature *f = &spec->features[at];
    if (f->name[0] == '\0' || strlen(f->name) > 255 || strchr(f->name, '/') || is_own(f->name)) {
        return reel_fail(err, REEL_ARGUMENT,
                         "\"%.100s\" is no name of a feature: it has 1 to 255 bytes without \"/\", and is not that of "
                         "a column that every dataset has",
                         f->name);
    }
    for (uint32_t i = 0; i < at; i++) {
        if (ascii_casecmp(f->name, spec->features[i].name) == 0) {
            return reel_fail(err, REEL_ARGUMENT, "there are two features \"%.200s\"", f->name);
        }
    }
    if (dataset_feature_is_video(f) && f->n_sources != 1) {
        return reel_fail(err, REEL_ARGUMENT, "the images of \"%.200s\" are those of one topic", f->name);
    }
    return f->n_sources > 0 || reel_fail(err, REEL_ARGUMENT, "the feature \"%.200s\" has no source", f->name);
}

bool dataset_spec_check(const struct dataset_spec *spec, struct reel_error *err) {
    uint64_t sources = 0;
    if ((spec->fps < 1 && !spec->clock) || spec->fps > DATASET_FPS_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "fps is 1 to %d", DATASET_FPS_MAX);
    }
    if (spec->max_age_ns < 0) {
        return reel_fail(err, REEL_ARGUMENT, "max_age is a duration");
    }
    if (spec->n_features < 1 || spec->n_features > DATASET_FEATURES_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "a dataset has 1 to %d features", DATASET_FEATURES_MAX);
    }
    for (uint32_t i = 0; i < spec->n_features; i++) {
        sources += spec->features[i].n_sources;
        if (!check_feature(spec, i, err)) {
            return false;
        }
    }
    return sources <= DATASET_SOURCES_MAX ||
           reel_fail(err, REEL_ARGUMENT, "the features of a dataset have at most %d sources", DATASET_SOURCES_MAX);
}

/* ---- the plan */

void dataset_episode_forget_names(struct dataset_episode *e) {
    for (uint32_t i = 0; e->names && i < e->n_numbers; i++) {
        free(e->names[i]);
    }
    free(e->names);
    e->names = NULL;
}

void dataset_episode_done(struct dataset_episode *e) {
    dataset_episode_forget_names(e);
    free(e->widths);
    free(e->pictures);
    free(e->ages);
    free(e->stats);
    *e = (struct dataset_episode){0};
}

struct planning {
    struct dataset_episode *out;
    uint64_t first, frames; /* of the run that is going on */
    int64_t start_ns, end_ns;
};

static void end_run(struct planning *p) {
    if (p->frames > p->out->frames) {
        p->out->dropped[DATASET_OTHER_RUN] += p->out->frames;
        p->out->first = p->first;
        p->out->frames = p->frames;
        p->out->start_ns = p->start_ns;
        p->out->end_ns = p->end_ns;
    } else {
        p->out->dropped[DATASET_OTHER_RUN] += p->frames;
    }
    p->frames = 0;
}

static bool plan_frame(void *context, struct walk *w, uint64_t frame, enum dataset_drop drop, struct reel_error *err) {
    struct planning *p = context;
    (void)err;
    p->out->grid_ns = frame == 0 ? w->time_ns : p->out->grid_ns;
    if (drop != DATASET_KEPT) {
        p->out->dropped[drop]++;
        end_run(p);
        return true;
    }
    p->first = p->frames == 0 ? frame : p->first;
    p->start_ns = p->frames == 0 ? w->time_ns : p->start_ns;
    p->end_ns = w->time_ns;
    p->frames++;
    return true;
}

static bool name_numbers(const struct walk_source *s, char **names, struct reel_error *err) {
    const char *name = (const char *)s->names.data;
    for (uint32_t i = 0; i < s->width; i++) {
        int size = s->n_names == s->width ? asprintf(&names[i], "%s", name)
                   : s->width == 1        ? asprintf(&names[i], "%s", s->text)
                                          : asprintf(&names[i], "%s[%u]", s->text, i);
        if (size < 0) {
            names[i] = NULL;
            return reel_fail_memory(err);
        }
        name = s->n_names == s->width ? name + strlen(name) + 1 : name;
    }
    return true;
}

static bool describe(const struct walk *w, struct dataset_episode *out, struct reel_error *err) {
    uint32_t at = 0, n = 0;
    out->n_sources = w->n_sources;
    out->widths = calloc((size_t)w->n_sources + 1, sizeof *out->widths);
    out->pictures = calloc((size_t)w->n_sources + 1, sizeof *out->pictures);
    out->ages = calloc((size_t)w->n_sources + 1, sizeof *out->ages);
    for (uint32_t i = 0; i < w->n_sources; i++) {
        n += w->sources[i].width;
    }
    out->names = calloc((size_t)n + 1, sizeof *out->names);
    if (!out->widths || !out->pictures || !out->ages || !out->names) {
        return reel_fail_memory(err);
    }
    if (n > DATASET_WIDTH_MAX) {
        return reel_fail(err, REEL_LIMIT, "the features of a frame have more than %d numbers", DATASET_WIDTH_MAX);
    }
    out->n_numbers = n;
    for (uint32_t i = 0; i < w->n_sources; at += w->sources[i++].width) {
        out->widths[i] = w->sources[i].width;
        out->pictures[i] = w->sources[i].picture;
        if (!name_numbers(&w->sources[i], out->names + at, err)) {
            return false;
        }
    }
    return true;
}

bool dataset_episode_plan(struct reel_recording *recording, const struct dataset_spec *spec,
                          const struct reel_progress *progress, struct dataset_episode *out, struct reel_error *err) {
    AUTO_STRUCT(walk_done) struct walk w = {0};
    struct planning p = {.out = out};
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    *out = (struct dataset_episode){0};
    bool good = walk_open(&w, recording, spec, WALK_READS_ALL, 0, err) && walk_run(&w, progress, plan_frame, &p, err);
    end_run(&p);
    good = good && describe(&w, out, err);
    if (!good) {
        dataset_episode_done(out);
        return false;
    }
    bool began = w.waiting == 0;
    out->lead_ns = began ? w.start_ns - info->start_ns : 0;
    out->tail_ns = began && w.end_ns < info->end_ns ? info->end_ns - w.end_ns : 0;
    return true;
}

/* ---- the table */

/* Widths of a feature's sources, together. */
static uint32_t width_of(const struct dataset_feature *f, const uint32_t *widths) {
    uint32_t width = 0;
    for (uint32_t i = 0; i < f->n_sources; i++) {
        width += widths[i];
    }
    return width;
}

static uint32_t columns_of(const struct dataset_spec *spec, const uint32_t *widths,
                           struct dataset_column out[DATASET_FEATURES_MAX + OWN_COLUMNS]) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < spec->n_features; i++) {
        const struct dataset_feature *f = &spec->features[i];
        if (!dataset_feature_is_video(f)) {
            out[n++] = (struct dataset_column){f->name, DATASET_FLOAT, width_of(f, widths) != 1};
        }
        widths += f->n_sources;
    }
    for (unsigned i = 0; i < OWN_COLUMNS; i++) {
        out[n++] = (struct dataset_column){own_columns[i], i == 0 ? DATASET_FLOAT : DATASET_INTEGER, false};
    }
    return n;
}

struct writing {
    const struct dataset_spec *spec;
    const struct dataset_place *place;
    const struct dataset_episode *episode;
    struct dataset_table table;
    struct episode_sums sums;
    uint64_t rows;
};

static void writing_done(struct writing *t) {
    dataset_table_done(&t->table);
    episode_sums_done(&t->sums);
}

static bool visit_feature(struct reel_visitor *v, const struct dataset_feature *f, const struct walk_source *sources) {
    uint32_t width = 0;
    for (uint32_t i = 0; i < f->n_sources; i++) {
        width += sources[i].width;
    }
    bool good = visit_key_text(v, f->name) && (width == 1 || visit_begin_list(v));
    for (uint32_t i = 0; good && i < f->n_sources; i++) {
        for (uint32_t k = 0; good && k < sources[i].width; k++) {
            good = visit_real32(v, sources[i].values[k]);
        }
    }
    return good && (width == 1 || visit_end_list(v));
}

static bool put_row(struct writing *t, const struct walk *w, struct reel_error *err) {
    struct reel_visitor *v = dataset_table_row(&t->table);
    const struct walk_source *source = w->sources;
    const int64_t own[] = {(int64_t)t->rows, t->place->episode, t->place->first_row + (int64_t)t->rows, t->place->task};
    for (uint32_t i = 0; i < t->spec->n_features; i++) {
        if (!dataset_feature_is_video(&t->spec->features[i])) {
            visit_feature(v, &t->spec->features[i], source);
        }
        source += t->spec->features[i].n_sources;
    }
    visit_key_text(v, own_columns[0]);
    visit_real32(v, (float)((double)t->rows / t->spec->fps));
    for (unsigned i = 1; i < OWN_COLUMNS; i++) {
        visit_key_text(v, own_columns[i]);
        visit_integer(v, own[i - 1]);
    }
    t->rows++;
    return dataset_table_row_end(&t->table, err);
}

static bool write_frame(void *context, struct walk *w, uint64_t frame, enum dataset_drop drop, struct reel_error *err) {
    struct writing *t = context;
    if (t->rows == t->episode->frames) {
        return false;
    }
    for (uint32_t i = 0; i < w->n_sources; i++) {
        if (drop != DATASET_KEPT || w->sources[i].width != t->episode->widths[i]) {
            return reel_fail(err, REEL_CHANGED, "frame %llu is not what was planned", (unsigned long long)frame);
        }
    }
    episode_sums_add(&t->sums, w);
    return put_row(t, w, err);
}

static bool write_rows(struct writing *t, struct reel_recording *recording, struct reel_error *err) {
    AUTO_STRUCT(walk_done) struct walk w = {0};
    if (!walk_open(&w, recording, t->spec, WALK_READS_NUMBERS, t->episode->first, err)) {
        return false;
    }
    for (uint32_t i = 0; i < w.n_sources; i++) {
        w.sources[i].width = t->episode->widths[i]; /* of the first message, which these frames may not need */
    }
    return walk_run(&w, NULL, write_frame, t, err) &&
           (t->rows == t->episode->frames || reel_fail(err, REEL_CHANGED, "there are fewer frames than planned"));
}

bool dataset_episode_write(struct reel_recording *recording, const struct dataset_spec *spec,
                           const struct dataset_place *place, const struct reel_text_sink *sink,
                           const struct dataset_episode *e, struct dataset_episode *sums, struct reel_error *err) {
    AUTO_STRUCT(writing_done) struct writing t = {.spec = spec, .place = place, .episode = e};
    struct dataset_column columns[DATASET_FEATURES_MAX + OWN_COLUMNS];
    if (e->frames == 0) {
        return reel_fail(err, REEL_ARGUMENT, "the episode has no frames");
    }
    if (!dataset_table_begin(&t.table, columns, columns_of(spec, e->widths, columns), sink, err) ||
        !episode_sums_open(&t.sums, e->n_sources, e->n_numbers, e->frames, err) || !write_rows(&t, recording, err) ||
        !dataset_table_end(&t.table, NULL, 0, err)) {
        return false;
    }
    if (sums) {
        episode_sums_end(&t.sums, sums);
    }
    return true;
}
