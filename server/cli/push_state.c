/* See push_state.h. */
#include "cli/push_state.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/grow.h"
#include "base/hex.h"
#include "json_whole.h"

enum { STATE_BYTES_MAX = 1 << 30, TIDY_LINES = 1000, AGENT_BYTES = 16 };

static void push_item_free(struct push_item *item) {
    if (item) {
        free(item->path);
        free(item->name);
        free(item);
    }
}

void push_state_done(struct push_state *s) {
    while (s->n > 0) {
        push_item_free(s->items[--s->n]);
    }
    free(s->items);
    hash_table_free(&s->by_path);
    free(s->path);
    if (s->fd >= 0) {
        close(s->fd);
    }
}

static struct hash_key item_key(const char *path) {
    return hash_key_bytes(bytes_text(path));
}

struct push_item *push_state_item(struct push_state *s, const char *path, struct reel_error *err) {
    struct push_item *item = (struct push_item *)hash_table_get(&s->by_path, item_key(path));
    if (item) {
        return item;
    }
    item = calloc(1, sizeof *item);
    if (!item || !(item->path = strdup(path)) || !GROW_ARRAY(s->items, s->n, s->room)) {
        push_item_free(item);
        reel_fail_memory(err);
        return NULL;
    }
    if (!hash_table_set(&s->by_path, item_key(item->path), (uintptr_t)item, err)) {
        push_item_free(item);
        return NULL;
    }
    return s->items[s->n++] = item;
}

bool push_print_is(const struct push_print *a, const struct push_print *b) {
    return a->size == b->size && a->inode == b->inode && a->mtime_ns == b->mtime_ns;
}

bool push_item_is_done(const struct push_item *item) {
    return item->stored && push_print_is(&item->print, &item->as);
}

bool push_item_is_announced(const struct push_item *item) {
    return item->announced_id[0] && push_print_is(&item->print, &item->announced);
}

/* ---- the file */

static void copy_text(char *out, size_t size, const json_t *line, const char *name) {
    const char *text = json_string_value(json_object_get(line, name));
    snprintf(out, size, "%s", text ? text : "");
}

static uint64_t line_number(const json_t *line, const char *name) {
    return (uint64_t)json_integer_value(json_object_get(line, name));
}

static bool read_line(struct push_state *s, const char *text, size_t size, struct reel_error *err) {
    json_auto_t *line = json_loadb(text, size, 0, NULL);
    const char *path = json_string_value(json_object_get(line, "path")),
               *name = json_string_value(json_object_get(line, "name"));
    if (!path) { /* the first line, or one that a power failure cut */
        if (json_is_string(json_object_get(line, "agent"))) {
            copy_text(s->agent, sizeof s->agent, line, "agent");
        }
        return true;
    }
    struct push_item *item = push_state_item(s, path, err);
    if (!item) {
        return false;
    }
    copy_text(item->announced_id, sizeof item->announced_id, line, "announced");
    item->stored = name && !item->announced_id[0];
    item->gone = json_is_true(json_object_get(line, "gone"));
    struct push_print *print = item->stored ? &item->as : &item->announced;
    *print = (struct push_print){.size = line_number(line, "size"),
                                 .inode = line_number(line, "inode"),
                                 .mtime_ns = (int64_t)line_number(line, "mtime_ns")};
    copy_text(item->sha256, sizeof item->sha256, line, "sha256");
    copy_text(item->id, sizeof item->id, line, "recording");
    item->verified_s = (int64_t)line_number(line, "verified");
    free(item->name);
    item->name = name ? strdup(name) : NULL;
    return !name || item->name || reel_fail_memory(err);
}

static bool read_lines(struct push_state *s, struct reel_error *err) {
    struct stat st;
    if (fstat(s->fd, &st) != 0 || st.st_size > STATE_BYTES_MAX) {
        return reel_fail(err, REEL_LIMIT, "%s cannot be read", s->path);
    }
    AUTO_MEM char *text = malloc((size_t)st.st_size + 1);
    if (!text || (st.st_size > 0 && !disk_read_at(s->fd, text, (size_t)st.st_size, 0))) {
        return text ? reel_fail_errno(err, "%s", s->path) : reel_fail_memory(err);
    }
    text[st.st_size] = '\0';
    for (char *at = text, *end; *at; at = end + (*end != '\0')) {
        end = at + strcspn(at, "\n");
        if (!read_line(s, at, (size_t)(end - at), err)) {
            return false;
        }
    }
    return true;
}

/* A line of text that was written, or the file as before. */
static bool append_line(struct push_state *s, json_t *line, struct reel_error *err) {
    AUTO_MEM char *text = json_whole_text(line, JSON_COMPACT);
    size_t size = text ? strlen(text) : 0;
    if (!text) {
        return reel_fail(err, REEL_ARGUMENT, "its name is not UTF-8, so it is not remembered");
    }
    text[size] = '\n'; /* instead of the NUL */
    if (!disk_write_at(s->fd, text, size + 1, s->size) || fdatasync(s->fd) != 0) {
        int code = errno;
        if (ftruncate(s->fd, (off_t)s->size) != 0) {
            errno = code;
        }
        return reel_fail_errno(err, "%s", s->path);
    }
    s->size += size + 1;
    s->lines++;
    return true;
}

bool push_state_write(struct push_state *s, const struct push_item *item, struct reel_error *err) {
    json_auto_t *line =
        item->stored ? json_pack("{s:s, s:I, s:I, s:I, s:s, s:s, s:s, s:I}", "path", item->path, "size",
                                 (json_int_t)item->as.size, "inode", (json_int_t)item->as.inode, "mtime_ns",
                                 (json_int_t)item->as.mtime_ns, "sha256", item->sha256, "recording", item->id, "name",
                                 item->name, "verified", (json_int_t)item->verified_s)
        : item->announced_id[0]
            ? json_pack("{s:s, s:I, s:I, s:I, s:s, s:s}", "path", item->path, "size", (json_int_t)item->announced.size,
                        "inode", (json_int_t)item->announced.inode, "mtime_ns", (json_int_t)item->announced.mtime_ns,
                        "announced", item->announced_id, "name", item->name)
            : json_pack("{s:s}", "path", item->path);
    if (line && item->gone) {
        json_object_set_new(line, "gone", json_true());
    }
    return append_line(s, line, err);
}

/* All that is known, in a new file. */
static bool rewrite(struct push_state *s, struct reel_error *err) {
    AUTO_MEM char *new_path = disk_adjacent(s->path, ".new");
    AUTO_FD int old = s->fd;
    struct push_state next = *s;
    next.size = next.lines = 0;
    if (!new_path) {
        old = -1;
        return reel_fail_memory(err);
    }
    next.fd = open(new_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    json_auto_t *head = json_pack("{s:s}", "agent", s->agent);
    bool good = next.fd >= 0 && flock(next.fd, LOCK_EX | LOCK_NB) == 0;
    good = good ? append_line(&next, head, err) : reel_fail_errno(err, "%s", new_path);
    for (size_t i = 0; i < s->n && good; i++) {
        struct reel_error why = {0};
        good = (!s->items[i]->stored && !s->items[i]->announced_id[0]) || push_state_write(&next, s->items[i], &why) ||
               why.code == REEL_ARGUMENT || reel_error_pass(err, &why);
    }
    good = good && (rename(new_path, s->path) == 0 || reel_fail_errno(err, "%s", s->path)) &&
           disk_sync_folder_of(s->path, err);
    if (!good) {
        if (next.fd >= 0) {
            close(next.fd);
        }
        old = -1; /* the file in use stays */
        return false;
    }
    s->fd = next.fd;
    s->size = next.size;
    s->lines = next.lines;
    return true;
}

/* What was announced may be on a disk that is not mounted. */
static bool is_known(const struct push_item *item) {
    return item->there || item->stored || item->announced_id[0];
}

bool push_state_tidy(struct push_state *s, struct reel_error *err) {
    size_t known = 0, kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        known += is_known(s->items[i]);
    }
    if (s->lines < TIDY_LINES + 2 * known) {
        return true;
    }
    hash_table_free(&s->by_path);
    for (size_t i = 0; i < s->n; i++) {
        struct push_item *item = s->items[i];
        bool keep = is_known(item) && hash_table_set(&s->by_path, item_key(item->path), (uintptr_t)item, err);
        s->items[kept] = keep ? item : s->items[kept];
        kept += keep;
        if (!keep) {
            push_item_free(item);
        }
    }
    s->n = kept;
    return rewrite(s, err);
}

static bool push_state_start(struct push_state *s, struct reel_error *err) {
    uint8_t random[AGENT_BYTES];
    struct stat own, named;
    if (flock(s->fd, LOCK_EX | LOCK_NB) != 0 || fstat(s->fd, &own) != 0 || stat(s->path, &named) != 0 ||
        own.st_ino != named.st_ino) { /* or it was just replaced by the one that uses it */
        return reel_fail(err, REEL_CONFLICT, "another reel push uses %s; give each a --state of its own", s->path);
    }
    if (!read_lines(s, err)) {
        return false;
    }
    if (!hex_is(s->agent, 2 * AGENT_BYTES)) {
        if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
            return reel_fail_errno(err, "no random numbers");
        }
        hex_write(random, sizeof random, s->agent);
    }
    return rewrite(s, err);
}

bool push_state_open(struct push_state *s, const char *path, struct reel_error *err) {
    *s = (struct push_state){.fd = -1, .path = strdup(path)};
    if (!s->path) {
        return reel_fail_memory(err);
    }
    s->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return s->fd >= 0 ? push_state_start(s, err) : reel_fail_errno(err, "%s", path);
}

/* ---- where it is */

static bool make_folder(const char *path, struct reel_error *err) {
    char part[PATH_MAX];
    if (strlen(path) >= sizeof part) {
        return reel_fail(err, REEL_ARGUMENT, "the folder for the state has a path that is too long");
    }
    strcpy(part, path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(part, 0777);
        *slash = '/';
    }
    return mkdir(part, 0700) == 0 || errno == EEXIST || reel_fail_errno(err, "%s", part);
}

char *push_state_folder(struct reel_error *err) {
    const char *given = getenv("STATE_DIRECTORY"), *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    int n = given && *given ? asprintf(&path, "%s", given)
            : xdg && *xdg   ? asprintf(&path, "%s/reel", xdg)
            : home && *home ? asprintf(&path, "%s/.local/state/reel", home)
                            : 0;
    if (n == 0) {
        reel_fail(err, REEL_ARGUMENT, "neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME is set");
        return NULL;
    }
    if (n < 0) {
        reel_fail_memory(err);
        return NULL;
    }
    if (!make_folder(path, err)) {
        free(path);
        return NULL;
    }
    return path;
}
