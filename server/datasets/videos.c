/* See layout_internal.h. A video is a file of the store's folder of derived files, and beside it there is a note: its
 * size, its digest and the statistics of its images, which stay when the video had to go for lack of room. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/output_file.h"
#include "datasets/layout_internal.h"
#include "store/store.h"
#include "work/derived_cache.h"

enum { VIDEO_THREADS = 8, PIECE = 1 << 20 };

struct names { /* of a video */
    char video[MADE_PATH], note[MADE_PATH];
};

/* The key is over all that the bytes depend on; another dataset may have the same frames. */
static bool name_video(struct app *app, const struct dataset_layout *l, const struct layout_episode *e, uint32_t source,
                       struct names *out, struct reel_error *err) {
    struct digest d;
    made_start_key(&d, l, e);
    made_add_text(&d, l->definition.sources[source]);
    made_add_number(&d, e->e.grid_ns);
    made_add_number(&d, (int64_t)e->e.first);
    made_add_number(&d, (int64_t)e->e.frames);
    return made_path(app, e, &d, "mp4", out->video, err) && made_path(app, e, &d, "note", out->note, err);
}

struct note {
    char magic[8];
    struct layout_video video;
};
static const char magic[8] = "reelmp4";

static bool read_note(const struct names *n, struct layout_video *out) {
    size_t size = 0;
    uint32_t source = out->source;
    AUTO_MEM struct note *note = made_read_note(n->note, &size);
    if (!note || size != sizeof *note || memcmp(note->magic, magic, sizeof magic) != 0 ||
        note->video.sum.sha256[SHA256_HEX - 1] != '\0') {
        return false;
    }
    *out = note->video;
    out->source = source;
    return true;
}

/* ---- making */

static bool take_room(void *server, uint64_t bytes, struct reel_error *err) {
    return http_server_hold(server, bytes, err);
}
static void give_room(void *server, uint64_t bytes) {
    http_server_give_back(server, bytes);
}

static bool sum_file(const char *path, struct layout_sum *out, struct reel_error *err) {
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    AUTO_MEM uint8_t *piece = malloc(PIECE);
    struct made_sum sum = made_sum_start();
    ssize_t n = 0;
    if (!piece) {
        return reel_fail_memory(err);
    }
    while (fd >= 0 && (n = read(fd, piece, PIECE)) > 0) {
        made_sum_add(&sum, piece, (size_t)n);
    }
    made_sum_end(&sum, out);
    return (fd >= 0 && n == 0) || reel_fail_errno(err, "the store cannot read a video");
}

static bool write_video(struct app *app, struct dataset_camera *camera, const char *path, struct layout_video *out,
                        const struct reel_progress *progress, struct reel_error *err) {
    const struct reel_room room = {take_room, give_room, app->http};
    AUTO(reel_conversion_free)
    struct reel_conversion *c = dataset_camera_video(camera, &room, app->threads, NULL, err);
    AUTO(output_file_done) struct output_file file = {.fd = -1};
    const struct reel_output output = {output_file_write, output_file_rewrite, &file};
    if (!c || !made_begin_file(app, path, &file, err)) {
        return false;
    }
    c->max_threads = VIDEO_THREADS;
    return conversion_write(c, &output, NULL, progress, err) && sum_file(file.temporary, &out->sum, err) &&
           output_file_finish(&file, err);
}

static bool make_with_room(struct app *app, const struct dataset_layout *l, const struct layout_episode *e,
                           const struct names *names, const struct reel_progress *progress, struct layout_video *out,
                           struct reel_error *err) {
    const struct dataset_spec spec = made_spec(l, e);
    AUTO(reel_recording_free) struct reel_recording *recording = made_recording(app, e, err);
    AUTO(dataset_camera_free)
    struct dataset_camera *camera = recording ? dataset_camera_new(recording, &spec, &e->e, out->source, err) : NULL;
    struct note note;
    if (!camera || !write_video(app, camera, names->video, out, progress, err) ||
        !dataset_camera_statistics(camera, out->stats, err)) {
        return false;
    }
    memset(&note, 0, sizeof note);
    memcpy(note.magic, magic, sizeof magic);
    note.video = *out;
    return made_write_note(app, names->note, &note, sizeof note, err);
}

static bool make_video(struct app *app, const struct dataset_layout *l, const struct layout_episode *e,
                       const struct reel_progress *progress, struct layout_video *out, struct reel_error *err) {
    const uint64_t memory = dataset_camera_memory(&e->e);
    struct names names;
    if (!name_video(app, l, e, out->source, &names, err) || !http_server_hold(app->http, memory, err)) {
        return false;
    }
    bool good = make_with_room(app, l, e, &names, progress, out, err);
    http_server_give_back(app->http, memory);
    return good;
}

bool made_video(struct app *app, const struct dataset_layout *l, const struct layout_episode *e,
                const struct reel_progress *progress, struct layout_video *out, struct reel_error *err) {
    struct names names;
    return name_video(app, l, e, out->source, &names, err) &&
           (read_note(&names, out) || make_video(app, l, e, progress, out, err));
}

/* ---- reading */

struct request { /* of a job, that makes the video again */
    struct app *app;
    struct dataset_layout *layout;
    const struct layout_episode *episode;
    uint32_t source;
};

static void free_request(void *context) {
    struct request *q = context;
    layout_free(q->layout);
    free(q);
}

static bool run_request(void *context, const struct reel_progress *progress, void **object, uint64_t *memory,
                        struct reel_error *err) {
    const struct request *q = context;
    struct layout_video made = {.source = q->source};
    *object = layout_ref(q->layout); /* the file is what is made; something has to stand for it */
    *memory = 0;
    if (!make_video(q->app, q->layout, q->episode, progress, &made, err)) {
        layout_free(q->layout);
        return false;
    }
    return true;
}

static void *ref_layout(void *layout) {
    return layout_ref(layout);
}
static void unref_layout(void *layout) {
    layout_free(layout);
}

static int open_whole(const struct names *names, uint64_t size) {
    struct stat st;
    int fd = open(names->video, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &st) != 0 || (uint64_t)st.st_size != size)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int layout_video_open(struct app *app, struct dataset_layout *l, const struct layout_file *file, int64_t wait_ns,
                      struct reel_error *err) {
    static const struct derived_kind kind = {
        .job = "plan", .make = run_request, .free_context = free_request, .ref = ref_layout, .unref = unref_layout};
    struct names names;
    char job[33];
    if (!name_video(app, l, file->episode, file->video->source, &names, err)) {
        return -1;
    }
    derived_drop(app->derived, names.video); /* of a file that may be gone; a job renames its file before it ends */
    int fd = open_whole(&names, file->sum.size);
    if (fd >= 0) {
        return fd;
    }
    const struct derived_request derived = {.key = names.video, .subject = "video", .owner = "", .wait_ns = wait_ns};
    struct request *q = calloc(1, sizeof *q);
    if (q) {
        *q = (struct request){app, layout_ref(l), file->episode, file->video->source};
    }
    struct dataset_layout *made = derived_get(app->derived, &kind, &derived, q, job, err);
    if (made) {
        layout_free(made);
        derived_drop(app->derived, names.video);
    }
    if ((fd = open_whole(&names, file->sum.size)) >= 0) {
        *err = (struct reel_error){0}; /* another reader dropped what this one waited for, but the file is there */
    } else if (err->code == REEL_OK) {
        reel_fail(err, REEL_BUSY, "a video of a dataset is being made; try again");
    }
    return fd;
}
