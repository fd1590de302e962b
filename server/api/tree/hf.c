/* See hf.h: repositories and their revisions, info, files. */
#include "api/tree/hf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/job_reply.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hex.h"
#include "catalog/notes.h"
#include "decode/encoding.h"
#include "decode/own_definitions.h"
#include "definitions/set.h"
#include "reel/version.h"

enum { NEWEST_DIGITS = 16, EXPAND_MAX = 64 };
static const int64_t WAIT_NS = INT64_C(8000000000); /* clients give up after ten seconds */
static const char info_path[] = "meta/info.json", own_namespace[] = "reel/";

void hf_repository_done(struct hf_repository *repository) {
    free(repository->base);
    *repository = (struct hf_repository){0};
}

void hf_reply_missing(struct http_request *r, const char *code, const char *detail) {
    http_add_header(r, "X-Error-Code", code);
    http_add_header(r, "X-Error-Message", detail);
    http_reply_problem(r, 404, "not-found", "%s", detail);
}

int64_t hf_left_ns(int64_t until_ns) {
    int64_t left = until_ns - clock_ns();
    return left > 0 ? left : 0;
}

/* ---- paths */

static bool is_verb(const char *text) {
    static const char *const verbs[] = {"revision", "refs", "tree", "paths-info", "commits", "resolve", "raw"};
    size_t size = strcspn(text, "/");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strlen(verbs[i]) == size && strncmp(verbs[i], text, size) == 0) {
            return true;
        }
    }
    return false;
}

/* The slash before the first segment that is a verb, which an id therefore has only at its begin. NULL: there is none.
 */
static char *find_verb(char *text) {
    char *slash = strchr(text, '/');
    while (slash && !is_verb(slash + 1)) {
        slash = strchr(slash + 1, '/');
    }
    return slash;
}

/* Ends the text at its first slash, and returns what follows. */
static char *cut(char *text) {
    char *end = text + strcspn(text, "/");
    if (*end) {
        *end++ = '\0';
    }
    return end;
}

/* Of ID[/VERB[/REVISION[/PATH]]]. False: replied. */
static bool read_path(struct http_request *r, struct hf_path *out) {
    *out = (struct hf_path){.text = strdup(http_segment(r, "path")), .verb = "", .revision = "main", .path = ""};
    out->until_ns = clock_ns() + api_wait_ns(r, WAIT_NS);
    if (!out->text) {
        http_reply_no_memory(r);
        return false;
    }
    char *verb = find_verb(out->text), *revision, *path;
    out->id = out->text;
    if (!verb) {
        return true;
    }
    *verb++ = '\0';
    revision = cut(verb);
    path = cut(revision);
    size_t size = strlen(path);
    if (size > 0 && path[size - 1] == '/') {
        path[size - 1] = '\0';
    }
    out->verb = verb;
    out->revision = *revision ? revision : out->revision;
    out->path = path;
    return true;
}

static void path_done(struct hf_path *p) {
    free(p->text);
}

/* ---- repositories */

static bool is_main(const char *revision) {
    return strcmp(revision, "main") == 0 || strcmp(revision, "HEAD") == 0;
}

static bool is_of_dataset(const char *revision, const char *sha) {
    return sha[0] && (is_main(revision) || strcmp(revision, "v3.0") == 0 || strcmp(revision, sha) == 0);
}

/* *found false: there is no such dataset; sha "": not of this revision. */
static bool find_dataset(struct http_request *r, const struct hf_path *p, const char *id, struct hf_repository *out,
                         bool *found, struct reel_error *err) {
    AUTO_STRUCT(tree_node_done) struct tree_node node = {0};
    AUTO_MEM char *path = NULL;
    if (asprintf(&path, "datasets/%s/%s", id, info_path) < 0) {
        return reel_fail_memory(err);
    }
    if (!tree_find(r, path, hf_left_ns(p->until_ns), &node, found, err)) {
        return false;
    }
    *found = *found && node.sha[0]; /* none in a collection that is called datasets */
    if (!*found) {
        return true;
    }
    *out = (struct hf_repository){.base = strndup(path, strlen(path) - strlen(info_path)),
                                  .is_dataset = true,
                                  .modified_ns = node.modified_ns,
                                  .newest_ns = INT64_MAX};
    if (is_of_dataset(p->revision, node.sha)) {
        memcpy(out->sha, node.sha, sizeof out->sha);
    }
    return out->base || reel_fail_memory(err);
}

/* The end of the sha of a collection: over all but its recordings that the bytes depend on. */
static void name_collection(const char *id, char out[SHA1_HEX]) {
    unsigned versions[] = {reel_encodings_version(), own_definitions_version()};
    struct digest d;
    digest_start(&d, DIGEST_SHA1);
    digest_add(&d, versions, sizeof versions);
    digest_add(&d, reel_version(), strlen(reel_version()) + 1);
    digest_add(&d, id, strlen(id));
    digest_end_hex(&d, out);
}

/* The time in a sha of this collection; 0: it is none. */
static int64_t read_newest(const char *revision, const char *name) {
    uint8_t bytes[NEWEST_DIGITS / 2];
    char digits[NEWEST_DIGITS + 1];
    uint64_t ns = 0;
    if (strlen(revision) != SHA1_HEX - 1 || strcmp(revision + NEWEST_DIGITS, name + NEWEST_DIGITS) != 0) {
        return 0;
    }
    snprintf(digits, sizeof digits, "%.*s", NEWEST_DIGITS, revision);
    if (!hex_read(digits, sizeof bytes, bytes)) {
        return 0;
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        ns = ns << 8 | bytes[i];
    }
    return ns <= INT64_MAX ? (int64_t)ns : 0;
}

static bool find_collection(struct http_request *r, const struct hf_path *p, const char *id, struct hf_repository *out,
                            bool *found, struct reel_error *err) {
    AUTO_STRUCT(tree_node_done) struct tree_node node = {0};
    char name[SHA1_HEX];
    *found = false;
    if (!*id || strchr(id, '/') || !http_caller_sees(http_caller(r), id)) {
        return true;
    }
    if (!tree_collection_find(r, id, "", &node, found, err) || !*found) {
        return err->code == REEL_OK;
    }
    definitions_refresh(http_app(r), NULL);
    name_collection(id, name);
    int64_t newest = read_newest(p->revision, name);
    if (is_main(p->revision) && !catalog_collection_newest(http_app(r)->catalog, id, &newest, err)) {
        return false;
    }
    *out = (struct hf_repository){.modified_ns = newest, .newest_ns = newest};
    if (asprintf(&out->base, "%s/", id) < 0) {
        out->base = NULL;
        return reel_fail_memory(err);
    }
    if (newest > 0) {
        snprintf(out->sha, sizeof out->sha, "%016" PRIx64 "%s", (uint64_t)newest, name + NEWEST_DIGITS);
    }
    return true;
}

static bool find_either(struct http_request *r, const struct hf_path *p, const char *id, struct hf_repository *out,
                        bool *found, struct reel_error *err) {
    return find_dataset(r, p, id, out, found, err) && (*found || find_collection(r, p, id, out, found, err));
}

/* False: replied. */
static bool open_repository(struct http_request *r, const struct hf_path *p, struct hf_repository *out) {
    struct reel_error err = {0};
    bool found, more = strncmp(p->id, own_namespace, sizeof own_namespace - 1) == 0;
    if (!find_either(r, p, p->id, out, &found, &err) ||
        (!found && more && !find_either(r, p, p->id + sizeof own_namespace - 1, out, &found, &err))) {
        http_reply_error(r, &err);
        return false;
    }
    out->until_ns = p->until_ns;
    if (!found) {
        hf_reply_missing(r, "RepoNotFound", "there is no such dataset or collection");
        return false;
    }
    if (!out->sha[0]) {
        hf_reply_missing(r, "RevisionNotFound", "there is no such revision, or it has changed since: main is there");
        return false;
    }
    http_add_header(r, "X-Repo-Commit", out->sha);
    return true;
}

bool hf_find(struct http_request *r, const struct hf_repository *repository, const char *path, struct tree_node *out,
             bool *found, struct reel_error *err) {
    AUTO_MEM char *whole = NULL;
    if (asprintf(&whole, "%s%s", repository->base, path) < 0) {
        return reel_fail_memory(err);
    }
    if (!tree_find(r, whole, hf_left_ns(repository->until_ns), out, found, err)) {
        return false;
    }
    if (*found && repository->is_dataset && out->sha[0] && strcmp(out->sha, repository->sha) != 0) {
        return reel_fail(err, REEL_BUSY, "the dataset has just changed; try again");
    }
    *found = *found && (!out->file || out->modified_ns <= repository->newest_ns);
    return true;
}

/* ---- answers */

/* Whether info has the list of files: also if what it has is chosen by `expand`. */
static bool wants_siblings(const struct http_request *r) {
    const char *expand[EXPAND_MAX];
    size_t n = http_params(r, "expand", expand, EXPAND_MAX);
    bool wants = n == 0;
    for (size_t i = 0; i < n; i++) {
        wants = wants || strcmp(expand[i], "siblings") == 0;
    }
    return wants;
}

static void reply_info(struct http_request *r, const struct hf_repository *repository, const struct hf_path *p) {
    struct reel_error err = {0};
    const char *blobs = http_param(r, "blobs");
    bool wants = wants_siblings(r), has_blobs = blobs && (*blobs == 't' || *blobs == 'T' || *blobs == '1');
    json_t *siblings = wants ? hf_siblings(r, repository, has_blobs, &err) : json_array();
    json_auto_t *commit = hf_commit(repository);
    if (!siblings) {
        http_reply_error(r, &err);
        return;
    }
    http_reply_json(r, 200,
                    json_pack("{s:s, s:s, s:s, s:O?, s:b, s:b, s:b, s:i, s:i, s:[s], s:o}", "_id", repository->sha,
                              "id", p->id, "sha", repository->sha, "lastModified", json_object_get(commit, "date"),
                              "private", 0, "gated", 0, "disabled", 0, "downloads", 0, "likes", 0, "tags",
                              repository->is_dataset ? "LeRobot" : "reel", "siblings", siblings));
}

static json_t *ref_of(const struct hf_repository *repository, const char *name, const char *ref) {
    return json_pack("{s:s, s:s, s:s}", "name", name, "ref", ref, "targetCommit", repository->sha);
}

/* LeRobot looks for a tag that is its version. */
static void reply_refs(struct http_request *r, const struct hf_repository *repository) {
    json_t *tags = json_array();
    if (repository->is_dataset) {
        json_array_append_new(tags, ref_of(repository, "v3.0", "refs/tags/v3.0"));
    }
    http_reply_json(r, 200,
                    json_pack("{s:[o], s:[], s:o}", "branches", ref_of(repository, "main", "refs/heads/main"),
                              "converts", "tags", tags));
}

static void reply_commits(struct http_request *r, const struct hf_repository *repository) {
    json_t *commit = hf_commit(repository);
    json_object_set_new(commit, "message", json_string(""));
    json_object_set_new(commit, "authors", json_array());
    http_reply_json(r, 200, json_pack("[o]", commit));
}

static void reply_node(struct http_request *r, const struct tree_node *node, int64_t until_ns) {
    struct reel_error err = {0};
    struct tree_properties properties;
    char tag[SHA256_HEX], quoted[SHA256_HEX + 2], size[24];
    if (!node->file->properties(r, node, hf_left_ns(until_ns), &properties, &err)) {
        http_reply_error(r, &err);
        return;
    }
    hf_tag(&properties, tag);
    snprintf(quoted, sizeof quoted, "\"%s\"", tag);
    snprintf(size, sizeof size, "%" PRIu64, properties.size);
    http_add_header(r, "X-Linked-Etag", quoted);
    http_add_header(r, "X-Linked-Size", size);
    http_forget_params(r); /* "topic" is none of the Hub's */
    node->file->reply(r, node);
}

static void reply_file(struct http_request *r, const struct hf_repository *repository, const char *path) {
    AUTO_STRUCT(tree_node_done) struct tree_node node = {0};
    struct reel_error err = {0};
    bool found = false;
    if (!hf_find(r, repository, path, &node, &found, &err)) {
        http_reply_error(r, &err);
    } else if (!found || !node.file) {
        hf_reply_missing(r, "EntryNotFound", "there is no such file in this revision");
    } else {
        reply_node(r, &node, repository->until_ns);
    }
}

/* As most requests are for a file of a dataset, which names the revision that it is of. False: nothing was replied. */
static bool reply_dataset_file(struct http_request *r, const struct hf_path *p) {
    AUTO_STRUCT(tree_node_done) struct tree_node node = {0};
    AUTO_MEM char *path = NULL;
    struct reel_error err = {0};
    bool found = false;
    if (asprintf(&path, "datasets/%s/%s", p->id, p->path) < 0) {
        return false;
    }
    if (!tree_find(r, path, hf_left_ns(p->until_ns), &node, &found, &err)) { /* it is being planned, which is not waited
                                                                                for twice */
        http_reply_error(r, &err);
        return true;
    }
    if (!found || !node.file || !is_of_dataset(p->revision, node.sha)) {
        return false;
    }
    http_add_header(r, "X-Repo-Commit", node.sha);
    reply_node(r, &node, p->until_ns);
    return true;
}

/* ---- requests */

void api_hf_get(struct http_request *r) {
    AUTO_STRUCT(path_done) struct hf_path p = {0};
    AUTO_STRUCT(hf_repository_done) struct hf_repository repository = {0};
    if (!read_path(r, &p) || !open_repository(r, &p, &repository)) {
        return;
    }
    if (!p.verb[0] || strcmp(p.verb, "revision") == 0) {
        reply_info(r, &repository, &p);
    } else if (strcmp(p.verb, "tree") == 0) {
        hf_reply_tree(r, &repository, &p);
    } else if (strcmp(p.verb, "refs") == 0) {
        reply_refs(r, &repository);
    } else if (strcmp(p.verb, "commits") == 0) {
        reply_commits(r, &repository);
    } else {
        http_reply_problem(r, 404, "not-found", "there is no such request");
    }
}

void api_hf_post(struct http_request *r) {
    AUTO_STRUCT(path_done) struct hf_path p = {0};
    AUTO_STRUCT(hf_repository_done) struct hf_repository repository = {0};
    if (!read_path(r, &p)) {
        return;
    }
    if (strcmp(p.verb, "paths-info") != 0) {
        http_reply_problem(r, 403, "forbidden", "the archive is read-only by the protocol of the Hub");
    } else if (open_repository(r, &p, &repository)) {
        hf_reply_paths(r, &repository);
    }
}

void api_hf_resolve(struct http_request *r) {
    AUTO_STRUCT(path_done) struct hf_path p = {0};
    AUTO_STRUCT(hf_repository_done) struct hf_repository repository = {0};
    if (!read_path(r, &p)) {
        return;
    }
    if (strcmp(p.verb, "resolve") != 0 && strcmp(p.verb, "raw") != 0) { /* raw: by which clients ask what exists */
        hf_reply_missing(r, "RepoNotFound", "files are at ID/resolve/REVISION/PATH");
    } else if (!reply_dataset_file(r, &p) && open_repository(r, &p, &repository)) {
        reply_file(r, &repository, p.path);
    }
}

/* For clients that check their token so. */
void api_hf_whoami(struct http_request *r) {
    const char *name = http_caller(r)->name;
    http_reply_json(r, 200,
                    json_pack("{s:s, s:s, s:s, s:[], s:{s:{s:s, s:s}}}", "type", "user", "id", name, "name", name,
                              "orgs", "auth", "accessToken", "displayName", name, "role", "read"));
}
