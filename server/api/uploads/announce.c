/* POST /announcements: the index of a file that is still on a robot. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/change.h"
#include "api/recording.h"
#include "api/uploads/upload.h"
#include "api/uploads/uploads.h"
#include "base/disk.h"
#include "base/hex.h"
#include "index/index.h"
#include "recordings/announce.h"
#include "views/addresses.h"
#include "views/views.h"

struct announcing {
    struct upload_options options;
    struct announcement a;
    int fd; /* of the pack; -1: closed */
    uint64_t received;
    struct reel_error failed; /* the first error; replied at the end of the body */
};

static void free_announcing(void *state) {
    struct announcing *s = state;
    if (s->fd >= 0) {
        close(s->fd);
    }
    announce_drop(&s->a);
    upload_options_done(&s->options);
    free(s);
}

/* A parameter of this many hexadecimal digits. False: replied. */
static bool read_hex(struct http_request *r, const char *name, char *out, size_t digits) {
    const char *text = http_param(r, name);
    if (!text || !hex_is(text, digits)) {
        http_reply_bad_param(r, name, "is not %zu hexadecimal digits", digits);
        return false;
    }
    memcpy(out, text, digits + 1);
    return true;
}

static bool read_announcement(struct http_request *r, struct announcing *s) {
    struct announcement *a = &s->a;
    const char *robot = http_param(r, "robot");
    if (!upload_read_query(r, &s->options) || !read_hex(r, "sha256", a->of.sha256, SHA256_HEX - 1) ||
        !read_hex(r, "agent", a->of.agent, ANNOUNCED_AGENT - 1)) {
        return false;
    }
    if (!robot || !*robot || strlen(robot) >= sizeof a->of.robot) {
        http_reply_bad_param(r, "robot", "is the robot's name, of at most %zu bytes", sizeof a->of.robot - 1);
        return false;
    }
    strcpy(a->of.robot, robot);
    http_param_u64(r, "size", &a->size);
    const struct ingest_request q = upload_options_request(&s->options);
    a->collection = q.collection;
    a->name = q.name;
    a->group = q.group;
    a->annotations = q.annotations;
    a->replace = q.replace;
    return api_may_use(r, a->collection);
}

static void reply_announced(struct http_request *r, unsigned status, struct catalog_recording *row) {
    char address[96];
    json_t *body = view_recording(row, NULL);
    json_object_set_new(body, "links", address_links(r, row));
    snprintf(address, sizeof address, "/api/v1/recordings/%s", row->id);
    http_add_header(r, status == 201 ? "Location" : "Content-Location", address);
    http_reply_json(r, status, body);
    catalog_recording_done(row);
}

static bool check_length(struct http_request *r) {
    uint64_t length = 0;
    if (http_has_body_length(r, &length) && length > ANNOUNCED_PACK_MAX) {
        http_reply_problem(r, 413, "too-large", "the index of an announced file may have at most %d MiB",
                           ANNOUNCED_PACK_MAX >> 20);
        return false;
    }
    if (!store_has_room(http_app(r)->store, length)) {
        struct reel_error err = {0};
        reel_fail(&err, REEL_NO_SPACE, "there is no room for %llu bytes", (unsigned long long)length);
        http_reply_error(r, &err);
        return false;
    }
    return true;
}

void api_announce_begin(struct http_request *r) {
    struct announcing *s = calloc(1, sizeof *s);
    struct catalog_recording there;
    struct reel_error err = {0};
    if (!s) {
        http_reply_no_memory(r);
        return;
    }
    s->fd = -1;
    http_set_state(r, s, free_announcing);
    if (!read_announcement(r, s) || !check_length(r)) {
        return;
    }
    switch (announce_begin(http_app(r), &s->a, &s->fd, &there, &err)) {
    case ANNOUNCE_WRITES:
        break;
    case ANNOUNCE_STORED:
        reply_announced(r, 200, &there);
        break;
    case ANNOUNCE_REFUSED:
        change_refuse(r, &err);
    }
}

bool api_announce_piece(struct http_request *r, const void *data, size_t size) {
    struct announcing *s = http_state(r);
    s->received += size;
    if (s->received > ANNOUNCED_PACK_MAX) {
        return reel_fail(&s->failed, REEL_LIMIT, "the index of an announced file may have at most %d MiB",
                         ANNOUNCED_PACK_MAX >> 20);
    }
    return disk_write_all(s->fd, data, size) || reel_fail_errno(&s->failed, "the index cannot be written");
}

void api_announce_aborted(struct http_request *r) {
    (void)r; /* the state's destructor removes the file */
}

/* The pack is on the disk, and there is memory to open it. False: replied. */
static bool end_pack(struct http_request *r, struct announcing *s) {
    if (s->failed.code == REEL_OK && fsync(s->fd) != 0) {
        reel_fail_errno(&s->failed, "the index cannot be written");
    }
    if (s->failed.code != REEL_OK) {
        http_reply_error(r, &s->failed);
        return false;
    }
    uint64_t memory = index_opening_memory(s->fd);
    close(s->fd);
    s->fd = -1;
    return http_reserve(r, memory);
}

void api_announce(struct http_request *r) {
    struct announcing *s = http_state(r);
    struct catalog_recording row;
    struct reel_error err = {0};
    if (!end_pack(r, s)) {
        return;
    }
    if (announce_end(http_app(r), &s->a, &row, &err)) {
        reply_announced(r, s->a.before[0] ? 200 : 201, &row);
        return;
    }
    catalog_recording_done(&row);
    if (err.code == REEL_DAMAGED || err.code == REEL_CHANGED) {
        http_reply_problem(r, 422, "unreadable", "%s", err.text);
    } else {
        http_reply_error(r, &err);
    }
}
