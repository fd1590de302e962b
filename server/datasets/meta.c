/* The files below meta/ of a dataset, and its report. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "datasets/layout_internal.h"
#include "datasets/table.h"
#include "json_whole.h"

enum { CHUNK = 1000 /* files of a folder; there are no more episodes */ };

static bool keep(void *context, const char *data, size_t size) {
    struct grow *out = context;
    grow_put(out, data, size);
    return !out->failed;
}

/* Of the frames of all episodes. */
static uint32_t width_of(const struct dataset_layout *l, uint32_t feature, uint32_t *first) {
    const struct layout_episode *e = l->episodes;
    uint32_t source = 0, width = 0;
    while (e->problem) {
        e++;
    }
    *first = 0;
    for (uint32_t f = 0; f <= feature; f++) {
        *first += width;
        width = 0;
        for (uint32_t i = 0; i < l->definition.features[f].n_sources; i++) {
            width += e->e.widths[source++];
        }
    }
    return width;
}

static const struct layout_episode *first_episode(const struct dataset_layout *l) {
    const struct layout_episode *e = l->episodes;
    while (e->problem) {
        e++;
    }
    return e;
}

bool layout_is_video(const struct dataset_layout *l, uint32_t f, uint32_t *source) {
    *source = 0;
    for (uint32_t i = 0; i < f; i++) {
        *source += l->definition.features[i].n_sources;
    }
    return dataset_feature_is_video(&l->definition.features[f]);
}

/* ---- info.json */

static json_t *own_feature(const char *type) {
    return json_pack("{s:s, s:[i], s:n}", "dtype", type, "shape", 1, "names");
}

static json_t *numbers_feature(const struct dataset_layout *l, uint32_t f) {
    uint32_t first, width = width_of(l, f, &first);
    json_t *names = json_array();
    for (uint32_t i = 0; i < width; i++) {
        json_array_append_new(names, json_string(first_episode(l)->e.names[first + i]));
    }
    return json_pack("{s:s, s:[i], s:o}", "dtype", "float32", "shape", width, "names", names);
}

/* "yuv420p", "yuv422p10le" */
static void name_pixels(const struct dataset_picture *p, char out[32]) {
    static const char *const names[] = {"gray", "yuv420p", "yuv422p", "yuv444p"};
    char depth[8] = "";
    if (p->bits > 8) {
        snprintf(depth, sizeof depth, "%ule", p->bits);
    }
    snprintf(out, 32, "%s%s", names[p->chroma & 3], depth);
}

static json_t *video_feature(const struct dataset_layout *l, uint32_t source) {
    const struct dataset_picture *p = &first_episode(l)->e.pictures[source];
    char pixels[32];
    name_pixels(p, pixels);
    json_t *info =
        json_pack("{s:i, s:i, s:s, s:s, s:i, s:i, s:b, s:b}", "video.height", p->height, "video.width", p->width,
                  "video.codec", p->video == DATASET_H265 ? "hevc" : "h264", "video.pix_fmt", pixels, "video.fps",
                  (int)l->definition.spec.fps, "video.channels", 3, "has_audio", false, "is_depth_map", false);
    return json_pack("{s:s, s:[i, i, i], s:[s, s, s], s:o}", "dtype", "video", "shape", p->height, p->width, 3, "names",
                     "height", "width", "channels", "info", info);
}

static json_t *features_of(const struct dataset_layout *l) {
    static const char *const own[] = {"frame_index", "episode_index", "index", "task_index"};
    json_t *out = json_object();
    for (uint32_t f = 0, source; l->n_good > 0 && f < l->definition.spec.n_features; f++) {
        json_object_set_new(out, l->definition.features[f].name,
                            layout_is_video(l, f, &source) ? video_feature(l, source) : numbers_feature(l, f));
    }
    json_object_set_new(out, "timestamp", own_feature("float32"));
    for (unsigned i = 0; i < 4; i++) {
        json_object_set_new(out, own[i], own_feature("int64"));
    }
    return out;
}

static json_t *info_of(const struct dataset_layout *l) {
    char train[32];
    const char *video_path =
        l->n_videos > 0 ? "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4" : NULL;
    snprintf(train, sizeof train, "0:%u", l->n_good);
    return json_pack("{s:s, s:s?, s:I, s:I, s:I, s:i, s:i, s:i, s:i, s:{s:s}, s:s, s:s?, s:o}", "codebase_version",
                     "v3.0", "robot_type", l->definition.robot, "total_episodes", (json_int_t)l->n_good, "total_frames",
                     (json_int_t)l->frames, "total_tasks", (json_int_t)l->n_tasks, "chunks_size", CHUNK,
                     "data_files_size_in_mb", 100, "video_files_size_in_mb", 200, "fps", (int)l->definition.spec.fps,
                     "splits", "train", train, "data_path",
                     "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet", "video_path", video_path, "features",
                     features_of(l));
}

/* ---- stats.json */

/* That of all episodes; quantiles are the means of theirs by their frames, as LeRobot joins them. `video` NULL: of a
 * number; else of a colour of the video at this place among those of an episode. */
static struct dataset_number join(const struct dataset_layout *l, const uint32_t *video, uint32_t number) {
    struct dataset_number all = {0};
    for (uint32_t i = 0; i < l->n_episodes; i++) {
        const struct layout_episode *e = &l->episodes[i];
        if (e->problem) {
            continue;
        }
        const struct dataset_number *one = video ? &e->videos[*video].stats[number] : &e->e.stats[number];
        if (one->count == 0) {
            continue;
        }
        double n = (double)all.count, m = (double)one->count, delta = one->mean - all.mean;
        all.min = all.count == 0 || one->min < all.min ? one->min : all.min;
        all.max = all.count == 0 || one->max > all.max ? one->max : all.max;
        all.mean += delta * m / (n + m);
        all.m2 += one->m2 + delta * delta * n * m / (n + m);
        for (unsigned q = 0; q < 5; q++) {
            all.quantiles[q] += (one->quantiles[q] - all.quantiles[q]) * m / (n + m);
        }
        all.count += one->count;
    }
    return all;
}

static const char *const stat_names[] = {"min", "max", "mean", "std", "q01", "q10", "q50", "q90", "q99"};
enum { STATS = sizeof stat_names / sizeof *stat_names };

/* A colour is a list of a list of one number: the shape is (3, 1, 1). */
static void add_stats(json_t *lists[STATS], const struct dataset_number *n, bool colour) {
    double std = n->count > 0 ? sqrt(n->m2 / (double)n->count) : 0;
    const double *q = n->quantiles, values[STATS] = {n->min, n->max, n->mean, std, q[0], q[1], q[2], q[3], q[4]};
    for (unsigned i = 0; i < STATS; i++) {
        json_array_append_new(lists[i], colour ? json_pack("[[f]]", values[i]) : json_real(values[i]));
    }
}

static json_t *stats_of_feature(const struct dataset_layout *l, const uint32_t *video, uint32_t first, uint32_t width) {
    json_t *lists[STATS], *out = json_object();
    uint64_t count = l->frames;
    for (unsigned i = 0; i < STATS; i++) {
        json_object_set_new(out, stat_names[i], lists[i] = json_array());
    }
    for (uint32_t i = 0; i < width; i++) {
        const struct dataset_number n = join(l, video, first + i);
        add_stats(lists, &n, video);
        count = video ? n.count : count;
    }
    json_object_set_new(out, "count", json_pack("[I]", (json_int_t)count));
    return out;
}

static json_t *stats_of(const struct dataset_layout *l) {
    json_t *out = json_object();
    for (uint32_t f = 0, video = 0; l->n_good > 0 && f < l->definition.spec.n_features; f++) {
        uint32_t first, source, width = width_of(l, f, &first);
        bool is_video = layout_is_video(l, f, &source);
        if (!is_video || join(l, &video, 0).count > 0) {
            json_object_set_new(out, l->definition.features[f].name,
                                is_video ? stats_of_feature(l, &video, 0, CAMERA_COLOURS)
                                         : stats_of_feature(l, NULL, first, width));
        }
        video += is_video;
    }
    return out;
}

/* ---- episodes */

static const struct dataset_column episode_columns[] = {
    {"episode_index", DATASET_INTEGER, false},
    {"tasks", DATASET_TEXT, true},
    {"length", DATASET_INTEGER, false},
    {"data/chunk_index", DATASET_INTEGER, false},
    {"data/file_index", DATASET_INTEGER, false},
    {"dataset_from_index", DATASET_INTEGER, false},
    {"dataset_to_index", DATASET_INTEGER, false},
    {"meta/episodes/chunk_index", DATASET_INTEGER, false},
    {"meta/episodes/file_index", DATASET_INTEGER, false},
    {"reel/recording", DATASET_TEXT, false},
    {"reel/name", DATASET_TEXT, false},
    {"reel/dropped_frames", DATASET_INTEGER, false},
    {"reel/max_age_s", DATASET_DOUBLE, false},
    {"reel/start_ns", DATASET_INTEGER, false},
    {"reel/event", DATASET_TEXT, false},
};
enum { EPISODE_COLUMNS = sizeof episode_columns / sizeof *episode_columns };

static const struct dataset_column video_columns[] = {{"chunk_index", DATASET_INTEGER, false},
                                                      {"file_index", DATASET_INTEGER, false},
                                                      {"from_timestamp", DATASET_DOUBLE, false},
                                                      {"to_timestamp", DATASET_DOUBLE, false}};
enum { VIDEO_COLUMNS = sizeof video_columns / sizeof *video_columns };

struct episodes_table {
    struct dataset_table table;
    struct dataset_column columns[EPISODE_COLUMNS + VIDEO_COLUMNS * DATASET_FEATURES_MAX];
    char names[VIDEO_COLUMNS * DATASET_FEATURES_MAX][LAYOUT_PATH];
    uint32_t n;
};

static void describe_columns(const struct dataset_layout *l, struct episodes_table *t) {
    memcpy(t->columns, episode_columns, sizeof episode_columns);
    t->n = EPISODE_COLUMNS;
    for (uint32_t f = 0, source; f < l->definition.spec.n_features; f++) {
        for (unsigned i = 0; i < VIDEO_COLUMNS && layout_is_video(l, f, &source); i++) {
            char *name = t->names[t->n - EPISODE_COLUMNS];
            snprintf(name, LAYOUT_PATH, "videos/%s/%s", l->definition.features[f].name, video_columns[i].name);
            t->columns[t->n] = video_columns[i];
            t->columns[t->n++].name = name;
        }
    }
}

static void put_videos(const struct episodes_table *t, const struct layout_episode *e, uint32_t fps,
                       struct reel_visitor *v) {
    for (uint32_t i = EPISODE_COLUMNS; i < t->n; i += VIDEO_COLUMNS) {
        visit_key_text(v, t->columns[i].name);
        visit_integer(v, 0);
        visit_key_text(v, t->columns[i + 1].name);
        visit_integer(v, e->place.episode);
        visit_key_text(v, t->columns[i + 2].name);
        visit_real(v, 0);
        visit_key_text(v, t->columns[i + 3].name);
        visit_real(v, (double)e->e.frames / fps);
    }
}

static uint64_t dropped_of(const struct dataset_episode *e) {
    uint64_t sum = 0;
    for (int i = DATASET_KEPT + 1; i < DATASET_DROPS; i++) {
        sum += e->dropped[i];
    }
    return sum;
}

static int64_t oldest_of(const struct dataset_episode *e) {
    int64_t oldest = 0;
    for (uint32_t i = 0; i < e->n_sources; i++) {
        oldest = e->ages[i].max_ns > oldest ? e->ages[i].max_ns : oldest;
    }
    return oldest;
}

static bool put_episode(struct episodes_table *t, const struct layout_episode *e, uint32_t fps,
                        struct reel_error *err) {
    struct reel_visitor *v = dataset_table_row(&t->table);
    int64_t from = e->place.first_row, length = (int64_t)e->e.frames;
    const int64_t numbers[] = {length, 0, e->place.episode, from, from + length, 0, 0};
    unsigned at = 0;
    visit_key_text(v, episode_columns[at++].name);
    visit_integer(v, e->place.episode);
    visit_key_text(v, episode_columns[at++].name);
    visit_begin_list(v);
    visit_text(v, bytes_text(e->task));
    visit_end_list(v);
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        visit_key_text(v, episode_columns[at++].name);
        visit_integer(v, numbers[i]);
    }
    visit_key_text(v, episode_columns[at++].name);
    visit_text(v, bytes_text(e->id));
    visit_key_text(v, episode_columns[at++].name);
    visit_text(v, bytes_text(e->name));
    visit_key_text(v, episode_columns[at++].name);
    visit_integer(v, (int64_t)dropped_of(&e->e));
    visit_key_text(v, episode_columns[at++].name);
    visit_real(v, (double)oldest_of(&e->e) / 1e9);
    visit_key_text(v, episode_columns[at++].name);
    visit_integer(v, e->e.start_ns);
    visit_key_text(v, episode_columns[at++].name);
    visit_text(v, bytes_text(e->event ? e->event : ""));
    put_videos(t, e, fps, v);
    return dataset_table_row_end(&t->table, err);
}

static bool put_episodes(const struct dataset_layout *l, const struct reel_text_sink *sink, struct reel_error *err) {
    AUTO_MEM struct episodes_table *t = calloc(1, sizeof *t);
    if (!t) {
        return reel_fail_memory(err);
    }
    describe_columns(l, t);
    bool good = dataset_table_begin(&t->table, t->columns, t->n, sink, err);
    for (uint32_t i = 0; good && i < l->n_episodes; i++) {
        good = l->episodes[i].problem || put_episode(t, &l->episodes[i], l->definition.spec.fps, err);
    }
    good = good && dataset_table_end(&t->table, NULL, 0, err);
    dataset_table_done(&t->table);
    return good;
}

/* ---- all files */

static void set_file(struct layout_file *f, const char *path) {
    snprintf(f->path, sizeof f->path, "%s", path);
    struct made_sum sum = made_sum_start();
    made_sum_add(&sum, f->data.data, f->data.size);
    made_sum_end(&sum, &f->sum);
}

static bool put_json(struct layout_file *f, const char *path, json_t *json, struct reel_error *err) {
    AUTO_MEM char *text = json_whole_text(json, JSON_INDENT(4));
    json_decref(json);
    if (text) {
        grow_text(&f->data, text);
        grow_u8(&f->data, '\n');
        set_file(f, path);
    }
    return (text && !f->data.failed) || reel_fail_memory(err);
}

/* What the Hub's programs read of a dataset first: which files are its rows. */
static bool put_readme(const struct dataset_layout *l, struct layout_file *f, struct reel_error *err) {
    char text[512];
    snprintf(text, sizeof text,
             "---\nconfigs:\n- config_name: default\n  data_files: data/*/*.parquet\ntags:\n- LeRobot\n"
             "task_categories:\n- robotics\n---\n\n%u episodes and %llu frames at %u frames a second, made by Reel of "
             "its recordings as a dataset of LeRobot v3.0.\n",
             (unsigned)l->n_good, (unsigned long long)l->frames, (unsigned)l->definition.spec.fps);
    grow_text(&f->data, text);
    set_file(f, "README.md");
    return !f->data.failed || reel_fail_memory(err);
}

static bool put_tables(struct dataset_layout *l, struct layout_file *episodes, struct layout_file *tasks,
                       struct reel_error *err) {
    const struct reel_text_sink to_episodes = {keep, &episodes->data}, to_tasks = {keep, &tasks->data};
    if (!put_episodes(l, &to_episodes, err) || !dataset_write_tasks(l->tasks, l->n_tasks, &to_tasks, err)) {
        return false;
    }
    set_file(episodes, "meta/episodes/chunk-000/file-000.parquet");
    set_file(tasks, "meta/tasks.parquet");
    return true;
}

static int compare_files(const void *a, const void *b) {
    return strcmp(((const struct layout_file *)a)->path, ((const struct layout_file *)b)->path);
}

/* Of one feature: a file for each episode. */
static void put_video_files(const struct dataset_layout *l, uint32_t f, uint32_t video, struct layout_file *file) {
    for (uint32_t i = 0; i < l->n_episodes; i++) {
        const struct layout_episode *e = &l->episodes[i];
        if (e->problem) {
            continue;
        }
        snprintf(file->path, sizeof file->path, "videos/%s/chunk-000/file-%03u.mp4", l->definition.features[f].name,
                 (unsigned)e->place.episode);
        file->sum = e->videos[video].sum;
        file->video = &e->videos[video];
        file++->episode = e;
    }
}

/* In the order of their paths. */
static void put_videos_files(struct dataset_layout *l, struct layout_file *files) {
    uint32_t video = 0;
    for (uint32_t f = 0, source; f < l->definition.spec.n_features; f++) {
        if (layout_is_video(l, f, &source)) {
            put_video_files(l, f, video, files + (size_t)video * l->n_good);
            video++;
        }
    }
    if (video > 0 && l->n_good > 0) {
        qsort(files, (size_t)video * l->n_good, sizeof *files, compare_files);
    }
}

/* In the order of their paths. */
bool layout_put_meta(struct dataset_layout *l, struct reel_error *err) {
    uint32_t n = l->n_good * (1 + l->n_videos) + LAYOUT_META;
    struct layout_file *f = l->files = calloc(n, sizeof *l->files);
    if (!f) {
        return reel_fail_memory(err);
    }
    l->n_files = n;
    if (!put_readme(l, f++, err)) {
        return false;
    }
    for (uint32_t i = 0; i < l->n_episodes; i++) {
        const struct layout_episode *e = &l->episodes[i];
        if (!e->problem) {
            snprintf(f->path, sizeof f->path, "data/chunk-000/file-%03u.parquet", (unsigned)e->place.episode);
            f->sum = e->sum;
            f++->episode = e;
        }
    }
    put_videos_files(l, f + LAYOUT_META - 1); /* without README.md */
    return put_tables(l, &f[0], &f[3], err) && put_json(&f[1], "meta/info.json", info_of(l), err) &&
           put_json(&f[2], "meta/stats.json", stats_of(l), err);
}

/* ---- the report */

static json_t *ages_of(const struct dataset_layout *l, const struct dataset_episode *e) {
    json_t *out = json_object();
    for (uint32_t i = 0; i < e->n_sources; i++) {
        json_object_set_new(out, l->definition.sources[i],
                            json_pack("{s:f, s:f, s:f}", "median_s", (double)e->ages[i].median_ns / 1e9, "p99_s",
                                      (double)e->ages[i].p99_ns / 1e9, "max_s", (double)e->ages[i].max_ns / 1e9));
    }
    return out;
}

static json_t *drops_of(const struct dataset_episode *e) {
    json_t *out = json_object();
    for (int i = DATASET_KEPT + 1; i < DATASET_DROPS; i++) {
        json_object_set_new(out, dataset_drop_names[i], json_integer((json_int_t)e->dropped[i]));
    }
    return out;
}

static json_t *report_episode(const struct dataset_layout *l, const struct layout_episode *e) {
    json_t *episode = e->problem ? json_null() : json_integer(e->place.episode);
    return json_pack("{s:o, s:s, s:s, s:s, s:s?, s:s?, s:I, s:f, s:f, s:o, s:o}", "episode", episode, "recording",
                     e->id, "name", e->name, "task", e->task, "event", e->event, "problem", e->problem, "frames",
                     (json_int_t)(e->problem ? 0 : e->e.frames), "lead_s", (double)e->e.lead_ns / 1e9, "tail_s",
                     (double)e->e.tail_ns / 1e9, "dropped", drops_of(&e->e), "ages", ages_of(l, &e->e));
}

json_t *layout_report(const struct dataset_layout *l) {
    json_t *episodes = json_array();
    for (uint32_t i = 0; i < l->n_episodes; i++) {
        json_array_append_new(episodes, report_episode(l, &l->episodes[i]));
    }
    return json_pack("{s:s, s:I, s:I, s:i, s:o, s:o}", "sha", l->sha, "total_episodes", (json_int_t)l->n_good,
                     "total_frames", (json_int_t)l->frames, "fps", (int)l->definition.spec.fps, "features",
                     features_of(l), "episodes", episodes);
}
