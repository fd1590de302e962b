/* See push_watch.h. A file is scanned and its index pack sent before the file itself. Users then ask for files; the
 * server is asked every few seconds what they want, also while a file is being sent. */
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/disk.h"
#include "cli/push_watch.h"
#include "index/index.h"

static const int64_t ASK_NS = 5000000000;
static const char GONE[] = "the file is no longer on this robot";
enum { ANSWER_NOT_FOUND = 404, ANSWER_NO_METHOD = 405, ANSWER_CONFLICT = 409 };

const struct push_unit *push_announce_next(const struct push_agent *a, const struct push_units *units) {
    int64_t now = clock_ns();
    bool announces = a->options->announces && !a->is_deaf;
    for (size_t i = 0; announces && i < units->n; i++) {
        const struct push_item *main = units->items[i].main;
        if (main->there && !push_item_is_done(main) && !push_print_is(&main->announced, &main->print) &&
            now >= main->retry_ns) {
            return &units->items[i];
        }
    }
    return NULL;
}

/* ---- one recording */

struct announcing {
    struct push_agent *a;
    struct push_http *http;
    const struct push_unit *unit;
    const char *name;
    char sha256[65];
    struct reel_recording *recording;
    uint64_t at; /* of the pack, that is sent next */
    struct push_answer answer;
};

static bool report_scan(void *context, uint64_t done, uint64_t total) {
    (void)context, (void)done, (void)total;
    return push_watch_go_on();
}

static bool read_pack(void *context, void *buffer, size_t size, size_t *got) {
    struct announcing *w = context;
    const struct reel_index *index = reel_recording_index(w->recording);
    uint64_t left = index->pack_bytes - w->at;
    *got = left < size ? (size_t)left : size;
    bool good = disk_read_at(index->fd, buffer, *got, w->at);
    w->at += good ? *got : 0;
    return good;
}

/* malloc'd */
static char *announce_url(struct announcing *w, uint64_t size) {
    const struct push_options *o = &w->a->options->push;
    AUTO_MEM struct push_tags *tags = malloc(sizeof *tags);
    char *url = NULL;
    if (!tags || asprintf(&url, "%s/announcements?size=%" PRIu64 "&sha256=%s&agent=%s&replace=%s", o->api, size,
                          w->sha256, w->a->state.agent, o->replace || w->unit->main->stored ? "true" : "false") < 0) {
        return NULL;
    }
    push_http_add(w->http, &url, "collection", o->collection);
    push_http_add(w->http, &url, "name", w->name);
    push_http_add(w->http, &url, "robot", w->a->options->robot);
    push_tags_read(w->a, w->unit, tags);
    for (size_t i = 0; tags->items[i]; i++) {
        push_http_add(w->http, &url, "tag", tags->items[i]);
    }
    return url;
}

static bool send_pack(struct announcing *w, struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(w->recording);
    uint64_t size = 0;
    for (uint32_t i = 0; i < reel_index_info(index)->n_parts; i++) {
        size += reel_index_part_size(index, i);
    }
    AUTO_MEM char *url = announce_url(w, size);
    if (!url) {
        return reel_fail_memory(err);
    }
    w->at = 0;
    const struct push_request q = {
        .method = "POST", .url = url, .read = read_pack, .context = w, .length = index->pack_bytes};
    return push_http_do(w->http, &q, &w->answer, err);
}

/* Another recording has the name: this one gets a name of its own, as when it is sent. */
static bool send_renamed(struct announcing *w, char **other, struct reel_error *err) {
    *other = push_file_other_name(w->name, w->unit->main->path, push_watch_go_on, err);
    w->name = *other;
    return *other && send_pack(w, err);
}

static bool scan(struct announcing *w, struct reel_error *err) {
    const struct cli_files *files = w->unit->files;
    const struct reel_progress progress = {.report = report_scan};
    const struct reel_open_options options = {.size = sizeof options, .progress = &progress};
    AUTO_FD int fd = open(w->unit->main->path, O_RDONLY | O_CLOEXEC);
    return (fd >= 0 || reel_fail_errno(err, "cannot be opened")) &&
           (w->recording = reel_recording_open_files(files->paths, files->n, &options, err)) &&
           push_file_hash(fd, push_watch_go_on, w->sha256, err);
}

/* Notes for every file of the recording what the server answered; of a stored one, that has changed since, not in the
 * file: there it is what is stored. */
static void keep_told(struct announcing *w, const struct push_print *prints, const char *id, bool wanted) {
    const struct cli_files *files = w->unit->files;
    for (uint32_t i = 0; i < files->n; i++) {
        struct push_item *item = push_state_item(&w->a->state, files->paths[i], NULL);
        char *name = item && id[0] && !item->stored ? strdup(w->name) : NULL;
        struct reel_error err = {0};
        if (!item) {
            continue;
        }
        item->announced = prints[i];
        snprintf(item->announced_id, sizeof item->announced_id, "%s", item->stored || name ? id : "");
        item->wanted = item->wanted || wanted;
        if (name) {
            free(item->name);
            item->name = TAKE(name);
            if (!push_state_write(&w->a->state, item, &err)) {
                push_watch_fail(item->path, &err);
            }
        }
        free(name);
    }
}

static void take_answer(struct announcing *w, const struct push_print *prints) {
    json_auto_t *recording = w->answer.body_size < PUSH_BODY_MAX ? json_loads(w->answer.body, 0, NULL) : NULL;
    const char *id = json_string_value(json_object_get(recording, "id")),
               *state = json_string_value(json_object_get(recording, "state"));
    bool announced = id && state && strcmp(state, "announced") == 0;
    char text[160];
    keep_told(w, prints, announced ? id : "", !announced); /* else it is there: to upload it says so */
    if (announced) {
        snprintf(text, sizeof text, "announced as %.80s, id %.32s", w->name, id);
        push_watch_say(w->a, w->unit->main->path, text);
    }
}

/* Whether a file of another recording of this robot has the name: by the same path in another folder. The server would
 * take this one for its next content. */
static bool is_name_taken(const struct announcing *w) {
    const struct push_state *state = &w->a->state;
    const struct cli_files *files = w->unit->files;
    for (size_t i = 0; i < state->n; i++) {
        const struct push_item *item = state->items[i];
        bool other = item->announced_id[0] && item->name && strcmp(item->name, w->name) == 0;
        for (uint32_t k = 0; k < files->n && other; k++) {
            other = strcmp(files->paths[k], item->path) != 0;
        }
        if (other) {
            return true;
        }
    }
    return false;
}

/* False with err: to be tried again. */
static bool announce(struct announcing *w, const struct push_print *prints, struct reel_error *err) {
    AUTO_MEM char *other = NULL;
    if (!scan(w, err)) {
        if (err->code != REEL_CANCELLED) { /* the server says what is wrong with it when it is sent */
            keep_told(w, prints, "", false);
            *err = (struct reel_error){0};
            return true;
        }
        return false;
    }
    bool taken = is_name_taken(w);
    if ((!taken && !send_pack(w, err)) ||
        ((taken || w->answer.status == ANSWER_CONFLICT) && !send_renamed(w, &other, err))) {
        return false;
    }
    if (w->answer.status == 200 || w->answer.status == 201) {
        take_answer(w, prints);
        return true;
    }
    push_http_refused(&w->answer, err);
    if (err->code == REEL_IO || w->answer.status == 401 || w->answer.status == 403) {
        return false;
    }
    w->a->is_deaf = w->answer.status == ANSWER_NOT_FOUND || w->answer.status == ANSWER_NO_METHOD;
    keep_told(w, prints, "", false);
    push_watch_fail(w->unit->main->path, err);
    *err = (struct reel_error){0};
    return true;
}

void push_announce(struct push_agent *a, struct push_http *http, const struct push_unit *unit) {
    const struct cli_files *files = unit->files;
    AUTO_MEM struct push_print *prints = calloc(files->n + 1, sizeof *prints);
    AUTO_MEM struct announcing *w = calloc(1, sizeof *w);
    struct reel_error err = {0};
    bool there = prints && w;
    for (uint32_t i = 0; there && i < files->n; i++) {
        there = push_print_of(files->paths[i], &prints[i]);
    }
    if (!there) {
        a->dirty = true;
        unit->main->there = false; /* until the next scan */
        return;
    }
    *w = (struct announcing){
        .a = a, .http = http, .unit = unit, .name = unit->main->stored ? unit->main->name : files->name};
    push_http_limit(http, a->options->push.rate);
    if (!announce(w, prints, &err) && err.code != REEL_CANCELLED) {
        push_note_failure(a, unit->main, unit->main->path, &err);
    }
    reel_recording_free(w->recording);
}

/* ---- what users want */

static bool is_of(const struct push_item *item, const char *recording) {
    return item->announced_id[0] && strcmp(item->announced_id, recording) == 0;
}

static bool are_announced(const struct push_units *units) {
    bool all = true;
    for (size_t i = 0; i < units->n && all; i++) {
        const struct push_item *main = units->items[i].main;
        all = !main->there || push_item_is_done(main) || push_print_is(&main->announced, &main->print);
    }
    return all;
}

/* Whether every file was announced: an agent that was ended may have announced one without noting it. */
static bool is_settled(const struct push_agent *a) {
    return a->whole && !a->waiting && !a->dirty && are_announced(&a->units) && are_announced(&a->found);
}

static void take_wanted(struct push_agent *a, const json_t *fetch) {
    const char *recording = json_string_value(json_object_get(fetch, "recording")),
               *start = json_string_value(json_object_get(fetch, "start_ns")),
               *end = json_string_value(json_object_get(fetch, "end_ns"));
    int64_t id = json_integer_value(json_object_get(fetch, "id"));
    bool any = false, ready = false; /* it may be on a disk that is not mounted, or be announced anew */
    for (size_t i = 0; recording && i < a->state.n; i++) {
        struct push_item *item = a->state.items[i];
        if (!is_of(item, recording)) {
            continue;
        }
        any = true;
        ready =
            ready || (item->there && push_item_is_announced(item) && (!item->is_io || clock_ns() >= item->retry_ns));
        if (!start && !item->wanted) {
            item->wanted = a->dirty = true;
            item->retry_ns = 0;
        }
    }
    if (!any && is_settled(a)) {
        push_cut_answer(a, id, NULL, GONE);
    } else if (ready && start && end && a->n_cuts < PUSH_CUTS_MAX) {
        struct push_cut *cut = &a->cuts[a->n_cuts++];
        *cut = (struct push_cut){.id = id, .start_ns = strtoll(start, NULL, 10), .end_ns = strtoll(end, NULL, 10)};
        snprintf(cut->recording, sizeof cut->recording, "%s", recording);
    }
}

void push_announce_poll(struct push_agent *a) {
    AUTO_MEM char *url = NULL;
    AUTO_MEM struct push_answer *answer = NULL;
    struct reel_error ignored = {0};
    int64_t now = clock_ns();
    if (!a->options->announces || a->is_deaf || a->n_cuts > 0 || a->scanned_ns == 0 ||
        (a->asked_ns != 0 && now - a->asked_ns < ASK_NS)) {
        return;
    }
    answer = malloc(sizeof *answer);
    if (!answer || asprintf(&url, "%s/fetches?agent=%s", a->options->push.api, a->state.agent) < 0) {
        url = NULL;
        return;
    }
    json_auto_t *list = push_http_json(a->other, url, NULL, false, answer, &ignored);
    size_t i;
    json_t *fetch;
    json_array_foreach(json_object_get(list, "items"), i, fetch) {
        take_wanted(a, fetch);
    }
    a->asked_ns = clock_ns();
}

void push_announce_failed(struct push_agent *a, const struct push_item *item, const struct reel_error *why) {
    AUTO_MEM char *url = NULL;
    AUTO_MEM struct push_answer *answer = malloc(sizeof *answer);
    struct reel_error ignored = {0};
    bool final = item->wanted && item->announced_id[0] && why->code != REEL_IO;
    if (!final || !answer || asprintf(&url, "%s/fetches?agent=%s", a->options->push.api, a->state.agent) < 0) {
        url = NULL;
        return;
    }
    json_auto_t *list = push_http_json(a->other, url, NULL, false, answer, &ignored);
    size_t i;
    json_t *fetch;
    json_array_foreach(json_object_get(list, "items"), i, fetch) {
        const char *recording = json_string_value(json_object_get(fetch, "recording"));
        if (recording && strcmp(recording, item->announced_id) == 0 &&
            json_is_null(json_object_get(fetch, "start_ns"))) {
            push_cut_answer(a, json_integer_value(json_object_get(fetch, "id")), NULL, item->there ? why->text : GONE);
        }
    }
}

void push_announce_names(struct push_agent *a, const struct push_item *item, char **name, char **collection) {
    AUTO_MEM char *url = NULL;
    AUTO_MEM struct push_answer *answer = malloc(sizeof *answer);
    struct reel_error ignored = {0};
    if (!item->announced_id[0] || !answer ||
        asprintf(&url, "%s/recordings/%s", a->options->push.api, item->announced_id) < 0) {
        url = NULL;
        return;
    }
    json_auto_t *recording = push_http_json(a->other, url, NULL, false, answer, &ignored);
    const char *state = json_string_value(json_object_get(recording, "state")),
               *its = json_string_value(json_object_get(recording, "name")),
               *where = json_string_value(json_object_get(recording, "collection"));
    char *copy = state && strcmp(state, "announced") == 0 && its ? strdup(its) : NULL;
    if (copy) {
        free(*name);
        *name = copy;
        *collection = where ? strdup(where) : NULL;
    }
}
