/* Joins the tables of routes: a new one is one line here. */
#include "api/routes.h"

#include <pthread.h>
#include <string.h>

#define TABLES(X)                                                                                                      \
    X(service)                                                                                                         \
    X(recordings)                                                                                                      \
    X(uploads)                                                                                                         \
    X(annotations)                                                                                                     \
    X(contents)                                                                                                        \
    X(export)                                                                                                          \
    X(carla)                                                                                                           \
    X(bag)                                                                                                             \
    X(tide)                                                                                                            \
    X(nanover)                                                                                                         \
    X(admin)                                                                                                           \
    X(saved)                                                                                                           \
    X(definitions)                                                                                                     \
    X(grafana)                                                                                                         \
    X(mcp)

#define DECLARE(name) extern const struct api_route api_routes_##name[];
TABLES(DECLARE)
extern const struct http_route api_routes_tree[]; /* WebDAV, S3 and the Hub, which an OpenAPI document does not describe
                                                   */

#define LIST(name) api_routes_##name,
const struct api_route *const api_tables[] = {TABLES(LIST) NULL};

enum { ROUTES_MAX = 256 };
static struct http_route joined[ROUTES_MAX + 1];
static struct http_policy policies[ROUTES_MAX + 1];

static void routes_join(void) {
    size_t n = 0;
    for (size_t i = 0; api_tables[i]; i++) {
        for (const struct api_route *row = api_tables[i]; row->id && n < ROUTES_MAX; row++) {
            policies[n] = row->policy;
            joined[n++] = row->http;
        }
    }
    for (const struct http_route *row = api_routes_tree; row->path && n < ROUTES_MAX; row++) {
        joined[n++] = *row;
    }
}

static bool ends_with(const char *path, const char *end) {
    size_t n = strlen(path), size = strlen(end);
    return n >= size && strcmp(path + n - size, end) == 0;
}

const char *api_hint(const struct http_request *r) {
    static const char base[] = "/api/v1/recordings", by_name[] = "/api/v1/recordings/by-name/";
    const char *path = http_path(r), *method = http_method(r);
    bool uploads = strcmp(method, "PUT") == 0 || strcmp(method, "POST") == 0;
    if (strncmp(path, base, sizeof base - 1) != 0) {
        return NULL;
    }
    if (uploads && strncmp(path, by_name, sizeof by_name - 1) == 0) {
        return "Uploads go to /recordings/by-name/COLLECTION/NAME: add a name, or a slash, after which curl -T adds "
               "the file's name.";
    }
    if (strcmp(method, "PUT") == 0) {
        return "Uploads go to /recordings/by-name/COLLECTION/NAME.";
    }
    if (path[sizeof base - 1] == '/' && (!path[sizeof base] || path[sizeof base] == '/')) {
        return "The id is empty; recordings are listed at /recordings.";
    }
    return ends_with(path, "/file")
               ? "An original file is at /recordings/{id}/file/NAME; `links.file` of the recording is "
                 "the address of its first one."
           : ends_with(path, "/as") ? "An export has a name, such as /recordings/{id}/as/x.mcap."
                                    : NULL;
}

static void join_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, routes_join);
}

const struct http_route *api_routes(void) {
    join_once();
    return joined;
}

const struct http_policy *api_policies(void) {
    join_once();
    return policies;
}

#define RECORDING_ID "The recording: its id, sha256:HEX of its content, or name:COLLECTION/NAME."
#define EXPORT_NAME                                                                                                    \
    "Any name with the extension of a target of the service document (.mcap, .bag, .csv, …), followed by .tar with " \
    "split."

static const struct {
    const char *segment;
    struct http_param param;
} path_params[] = {
    {"recordings", {.name = "id", .type = HTTP_TEXT, .help = RECORDING_ID}},
    {"rescan", {.name = "id", .type = HTTP_TEXT, .help = RECORDING_ID}},
    {"recordings", {.name = "path", .type = HTTP_TEXT, .help = "The rest of the address, slashes included."}},
    {"admin", {.name = "path", .type = HTTP_TEXT, .help = "The rest of the address, slashes included."}},
    {"by-name", {.name = "collection", .type = HTTP_TEXT, .help = "The collection of the recording."}},
    {"by-name", {.name = "name", .type = HTTP_TEXT, .help = "The name of the recording, slashes included."}},
    {"collections", {.name = "name", .type = HTTP_TEXT, .help = "The name of the collection."}},
    {"layouts", {.name = "layout", .type = HTTP_TEXT, .help = "The name of the layout, slashes included."}},
    {"searches", {.name = "search", .type = HTTP_TEXT, .help = "The name of the search, slashes included."}},
    {"datasets", {.name = "dataset", .type = HTTP_TEXT, .help = "The name of the dataset, slashes included."}},
    {"definitions", {.name = "package", .type = HTTP_TEXT, .help = "The package of the type."}},
    {"definitions",
     {.name = "type",
      .type = HTTP_TEXT,
      .help = "The name of the type: Pose or msg/Pose of a message, srv/Add, action/Go, msg/Pose.idl."}},
    {"assets",
     {.name = "name", .type = HTTP_TEXT, .help = "The name of the file, which contains a hash of its content."}},
    {"demo", {.name = "name", .type = HTTP_TEXT, .help = "demo.bag or demo.nanover.zip."}},
    {"problems", {.name = "slug", .type = HTTP_TEXT, .help = "The last segment of the type of a problem."}},
    {"tags", {.name = "key", .type = HTTP_TEXT, .help = "The key of the tag."}},
    {"notes", {.name = "note", .type = HTTP_TEXT, .help = "The id of the note."}},
    {"events", {.name = "event", .type = HTTP_TEXT, .help = "The id of the event."}},
    {"schemas",
     {.name = "sid",
      .type = HTTP_TEXT,
      .help = "The schema_id of a topic or channel: 3 is the channel's own schema, 3.1 the second of its schemas."}},
    {"attachments", {.name = "n", .type = HTTP_UINT, .help = "The index of the attachment in the list, from 0."}},
    {"file",
     {.name = "name",
      .type = HTTP_TEXT,
      .help = "The name of the part, slashes included; a recording of one file accepts any."}},
    {"as", {.name = "name", .type = HTTP_TEXT, .help = EXPORT_NAME}},
    {"actors",
     {.name = "actor",
      .type = HTTP_UINT,
      .max = UINT32_MAX,
      .help = "The number of the actor, as listed in …/carla/actors."}},
    {"uploads", {.name = "id", .type = HTTP_TEXT, .help = "The id of the upload session."}},
    {"fetches", {.name = "id", .type = HTTP_UINT, .min = 1, .help = "The id of what the robot is asked for."}},
    {"failures", {.name = "id", .type = HTTP_UINT, .min = 1, .help = "The id of the failed import."}},
    {"jobs", {.name = "id", .type = HTTP_TEXT, .help = "The id of the job."}},
    {"plays",
     {.name = "id", .type = HTTP_TEXT, .help = "The id of the playback: of its first row and its header X-Play."}},
    {"webhooks", {.name = "id", .type = HTTP_UINT, .min = 1, .help = "The id of the webhook."}},
    {"tokens", {.name = "id", .type = HTTP_TEXT, .help = "The number or the name of the token."}},
};

const struct http_param *api_path_param(const char *segment, const char *name) {
    for (size_t i = 0; i < sizeof path_params / sizeof *path_params; i++) {
        if (strcmp(path_params[i].segment, segment) == 0 && strcmp(path_params[i].param.name, name) == 0) {
            return &path_params[i].param;
        }
    }
    return NULL;
}
