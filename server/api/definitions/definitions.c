/* /definitions: definitions of message types that users supply (catalog/definitions.h). */
#include "api/definitions/definitions.h"

#include <stdio.h>
#include <string.h>

#include "api/body.h"
#include "api/change.h"
#include "api/paging.h"
#include "base/cleanup.h"
#include "catalog/definitions.h"
#include "definitions/files.h"
#include "definitions/set.h"
#include "maintenance/settings.h"
#include "views/views.h"

/* They are of the whole archive. False: replied. */
static bool may_change(struct http_request *r) {
    if (http_caller(r)->collections) {
        http_reply_problem(r, 403, "forbidden",
                           "definitions are of the whole archive, and %s is limited to some collections",
                           http_caller(r)->name);
        return false;
    }
    return true;
}

/* The name that the path stands for. False: replied. */
static bool name_of_path(struct http_request *r, char name[OWN_DEFINITION_NAME_ROOM]) {
    const char *package = http_segment(r, "package"), *type = http_segment(r, "type"), *dot = strrchr(type, '.');
    const char *ending = dot                                ? ""
                         : strncmp(type, "srv/", 4) == 0    ? ".srv"
                         : strncmp(type, "action/", 7) == 0 ? ".action"
                                                            : ".msg";
    char path[2 * OWN_DEFINITION_NAME_ROOM];
    int n = snprintf(path, sizeof path, "%s/%s%s", package, type, ending);
    if (n > 0 && (size_t)n < sizeof path && own_definition_name(path, name)) {
        return true;
    }
    http_reply_problem(r, 404, "not-found",
                       "this is no name of a type: PACKAGE/TYPE of a message, PACKAGE/srv/TYPE, PACKAGE/action/TYPE");
    return false;
}

/* ---- views */

/* {"type": "pkg/msg/Type", "language": "msg", …} */
static json_t *definition_view(const struct catalog_definition *one, bool has_text) {
    const char *slash = strchr(one->name, '/'), *last = strrchr(one->name, '/'), *idl = strstr(one->name, ".idl");
    const char *language = idl ? "idl" : slash == last ? "msg" : strncmp(slash, "/srv/", 5) == 0 ? "srv" : "action";
    char type[OWN_DEFINITION_NAME_ROOM + 8];
    int package = (int)(slash - one->name);
    snprintf(type, sizeof type, "%.*s%s%.*s", package, one->name, slash == last ? "/msg" : "",
             (int)((idl ? idl : one->name + strlen(one->name)) - slash), slash);
    json_t *out =
        json_pack("{s:s, s:s, s:s, s:o, s:o}", "type", type, "language", language, "author", one->author, "created",
                  view_time(one->created_ns, REEL_CLOCK_WALL), "updated", view_time(one->updated_ns, REEL_CLOCK_WALL));
    if (has_text) {
        json_object_set_new(out, "text", json_string(one->text));
    }
    return out;
}

void api_definitions_list(struct http_request *r) {
    static const char *const columns[] = {"type", "language", "author", "created", "updated", NULL};
    AUTO_STRUCT(catalog_definitions_done) struct catalog_definitions page = {0};
    struct reel_error err = {0};
    uint32_t limit = paging_limit(r);
    AUTO_MEM char *after = NULL;
    if (!paging_after(r, &after)) {
        return;
    }
    if (!catalog_definitions_page(http_app(r)->catalog, after ? after : "", limit, &page, &err)) {
        http_reply_error(r, &err);
        return;
    }
    json_t *items = json_array();
    for (uint32_t i = 0; i < page.n; i++) {
        json_array_append_new(items, definition_view(&page.items[i], false));
    }
    paging_reply(r, items, page.n == limit ? page.items[page.n - 1].name : NULL, columns);
}

static void reply_definition(struct http_request *r, unsigned status, const struct catalog_definition *one) {
    char etag[CHANGE_ETAG];
    change_version_etag(one->updated_ns, etag);
    http_add_header(r, "ETag", etag);
    http_reply_json(r, status, definition_view(one, true));
}

void api_definition_get(struct http_request *r) {
    static const char *const offers[] = {"application/json", "text/plain", NULL};
    AUTO_STRUCT(catalog_definition_done) struct catalog_definition one = {0};
    struct reel_error err = {0};
    char name[OWN_DEFINITION_NAME_ROOM], etag[CHANGE_ETAG];
    const char *media = http_negotiate(r, offers);
    http_add_header(r, "Vary", "Accept");
    if (!media) {
        http_reply_problem(r, 406, "not-acceptable", "a definition is available as application/json or text/plain");
        return;
    }
    if (!name_of_path(r, name)) {
        return;
    }
    if (!catalog_definition_get(http_app(r)->catalog, name, &one, &err)) {
        http_reply_error(r, &err);
    } else if (strcmp(media, "text/plain") == 0) {
        snprintf(etag, sizeof etag, "\"%llx-text\"", (unsigned long long)one.updated_ns);
        http_add_header(r, "ETag", etag);
        http_reply_text(r, 200, "text/plain; charset=utf-8", one.text);
    } else {
        reply_definition(r, 200, &one);
    }
}

/* ---- changes */

/* What there is of the name, and the version that the request expects. False: replied. */
static bool find_version(struct http_request *r, const char *name, struct catalog_definition *now, int64_t *version) {
    struct reel_error err = {0};
    if (!catalog_definition_get(http_app(r)->catalog, name, now, &err) && err.code != REEL_NOT_FOUND) {
        http_reply_error(r, &err);
        return false;
    }
    return change_expected(r, now->name ? now->updated_ns : CATALOG_ABSENT, version);
}

/* After a commit. */
static bool changed(struct app *app, struct reel_error *err) {
    return settings_save(app, err) && definitions_refresh(app, err);
}

void api_definition_put(struct http_request *r) {
    struct app *app = http_app(r);
    AUTO_STRUCT(catalog_definition_done) struct catalog_definition now = {0};
    struct reel_error err = {0};
    char name[OWN_DEFINITION_NAME_ROOM];
    const char *text;
    size_t size;
    int64_t version;
    if (!may_change(r) || !name_of_path(r, name)) {
        return;
    }
    const char *body = body_text(r, &size);
    struct arena arena = {0};
    if (!definition_check(&arena, name, bytes_of(body, size), &text, &err)) {
        if (err.code == REEL_ARGUMENT) {
            http_reply_problem(r, 400, "bad-body", "%s", err.text);
        } else {
            http_reply_error(r, &err);
        }
    } else if (find_version(r, name, &now, &version)) {
        struct catalog_definition one = {
            .name = name, .text = (char *)text, .author = (char *)http_caller(r)->name}; /* borrowed */
        if (catalog_definition_put(app->catalog, &one, version, &err) && changed(app, &err)) {
            reply_definition(r, now.name ? 200 : 201, &one);
        } else {
            change_refuse(r, &err);
        }
    }
    arena_free(&arena);
}

void api_definition_delete(struct http_request *r) {
    AUTO_STRUCT(catalog_definition_done) struct catalog_definition now = {0};
    struct reel_error err = {0};
    char name[OWN_DEFINITION_NAME_ROOM];
    int64_t version;
    if (!may_change(r) || !name_of_path(r, name) || !find_version(r, name, &now, &version)) {
        return;
    }
    if (catalog_definition_delete(http_app(r)->catalog, name, version, &err) && changed(http_app(r), &err)) {
        http_reply_empty(r, 204);
    } else {
        change_refuse(r, &err);
    }
}

/* ---- ZIP */

static json_t *view_files(const struct definition_files *files, const struct catalog_definition *items) {
    json_t *stored = json_array(), *skipped = json_array();
    for (size_t i = 0; i < files->n; i++) {
        json_array_append_new(stored, definition_view(&items[i], false));
    }
    for (size_t i = 0; i < files->n_skipped && i < DEFINITION_FILES_SKIPPED; i++) {
        json_array_append_new(skipped,
                              json_pack("{s:s, s:s}", "file", files->skipped[i].path, "reason", files->skipped[i].why));
    }
    return json_pack("{s:o, s:o, s:o}", "items", stored, "skipped", skipped, "skipped_total",
                     json_integer((json_int_t)files->n_skipped));
}

static bool store_files(struct app *app, const struct definition_files *files, struct catalog_definition *items,
                        const char *author, struct reel_error *err) {
    for (size_t i = 0; i < files->n; i++) { /* texts are borrowed */
        items[i] = (struct catalog_definition){
            .name = (char *)files->items[i].name, .text = (char *)files->items[i].text.data, .author = (char *)author};
    }
    return catalog_definitions_put(app->catalog, items, (uint32_t)files->n, err) && changed(app, err);
}

void api_definitions_add(struct http_request *r) {
    AUTO_STRUCT(definition_files_done) struct definition_files files = {0};
    struct reel_error err = {0};
    size_t size;
    if (!may_change(r)) {
        return;
    }
    const char *body = body_text(r, &size);
    if (!definition_files_of_zip(&files, bytes_of(body, size), &err)) {
        if (err.code == REEL_ARGUMENT) {
            http_reply_problem(r, 400, "bad-body", "%s", err.text);
        } else {
            http_reply_error(r, &err);
        }
        return;
    }
    AUTO_MEM struct catalog_definition *items = calloc(files.n + 1, sizeof *items);
    if (!items) {
        http_reply_no_memory(r);
    } else if (files.n == 0 || store_files(http_app(r), &files, items, http_caller(r)->name, &err)) {
        http_reply_json(r, 200, view_files(&files, items));
    } else {
        change_refuse(r, &err);
    }
}
