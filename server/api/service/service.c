/* The service document, health, and the descriptions of problem types. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/token.h"
#include "api/service/service.h"
#include "app.h"
#include "imports/import.h"
#include "store/roots.h"
#include "stream/view.h"
#include "views/views.h"
#include "work/jobs.h"

static json_t *view_formats(void) {
    json_t *out = json_array();
    for (size_t i = 0; reel_formats[i]; i++) {
        json_t *suffixes = json_array();
        for (size_t k = 0; reel_formats[i]->suffixes[k]; k++) {
            json_array_append_new(suffixes, json_string(reel_formats[i]->suffixes[k]));
        }
        json_array_append_new(out, json_pack("{s:s, s:s, s:s, s:o}", "name", reel_formats[i]->name, "title",
                                             reel_formats[i]->title, "media_type", reel_formats[i]->media_type,
                                             "suffixes", suffixes));
    }
    return out;
}

/* "zstd lz4" as an array. */
static json_t *view_words(const char *words) {
    json_t *out = json_array();
    for (const char *at = words; at && *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        json_array_append_new(out, json_stringn(at, size));
        at += size;
    }
    return out;
}

static json_t *view_targets(void) {
    json_t *out = json_array();
    for (size_t i = 0; reel_writers[i]; i++) {
        const struct reel_writer *w = reel_writers[i];
        json_t *o = json_pack("{s:s, s:s, s:s, s:b}", "name", w->name, "extension", w->extension, "media_type",
                              w->media_type, "ranges", !(w->needs & REEL_STREAMED));
        json_object_set_new(o, "compressions", view_words(w->compressions));
        if (w->variant) {
            json_object_set_new(o, "version", json_string(w->variant));
        }
        json_array_append_new(out, o);
    }
    return out;
}

static json_t *view_views(void) {
    json_t *out = json_array();
    for (size_t i = 0; reel_views[i]; i++) {
        json_array_append_new(out, json_pack("{s:s, s:s}", "name", reel_views[i]->name, "help", reel_views[i]->help));
    }
    return out;
}

/* Who is asking, so that clients need not offer what will be refused. */
static json_t *view_caller(const struct http_caller *caller) {
    json_t *collections = caller->collections ? json_array() : json_null();
    for (size_t i = 0; caller->collections && caller->collections[i]; i++) {
        json_array_append_new(collections, json_string(caller->collections[i]));
    }
    bool linked = caller->recording[0]; /* those who have a link need not know who signed it, and for what else that
                                           token is */
    json_t *out = json_pack("{s:s?, s:s, s:s, s:o}", "name", linked ? NULL : caller->name, "how", caller->how, "role",
                            token_role_name(caller->role), "collections", linked ? json_array() : collections);
    if (linked) {
        json_decref(collections);
        json_object_set_new(out, "recording", json_string(caller->recording));
        json_object_set_new(out, "expires", view_time(caller->expires_s * INT64_C(1000000000), REEL_CLOCK_WALL));
    }
    return out;
}

/* The background of maps; null: they have none. */
static json_t *view_map(const struct app_config *c) {
    return c->map_tiles
               ? json_pack("{s:o, s:o}", "tiles", view_text(c->map_tiles), "attribution", view_text(c->map_attribution))
               : json_null();
}

static json_t *view_links(const struct http_request *r) {
    static const struct {
        const char *name, *path;
    } all[] = {{"openapi", "/openapi.json"},   {"docs", "/docs"},        {"recordings", "/api/v1/recordings"},
               {"uploads", "/api/v1/uploads"}, {"jobs", "/api/v1/jobs"}, {"health", "/healthz"},
               {"metrics", "/metrics"}};
    json_t *links = json_object();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        json_object_set_new(links, all[i].name, json_sprintf("%s%s", http_prefix(r), all[i].path));
    }
    return links;
}

/* Where files may be imported from; NULL: nowhere. */
static json_t *view_import_roots(const struct app *app) {
    json_t *out = json_array();
    for (unsigned i = 0; i < roots_count(app->roots); i++) {
        json_array_append_new(out, view_text(roots_folder(app->roots, i)));
    }
    for (size_t i = 0; i < app->config.import_roots.count; i++) {
        if (import_is_url(app->config.import_roots.items[i])) {
            json_array_append_new(out, view_text(app->config.import_roots.items[i]));
        }
    }
    if (json_array_size(out) == 0) {
        json_decref(out);
        return NULL;
    }
    return out;
}

void api_service(struct http_request *r) {
    if (http_caller(r)->role < ROLE_READ) { /* without a token only the addresses needed to log in */
        http_reply_json(r, 200,
                        json_pack("{s:s, s:o}", "service", "reel", "api", json_sprintf("%s/api/v1", http_prefix(r))));
        return;
    }
    uint64_t free_bytes = 0;
    store_free_bytes(http_app(r)->store, &free_bytes);
    http_reply_json(r, 200,
                    json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o*}", "service", "reel", "version",
                              REEL_VERSION, "caller", view_caller(http_caller(r)), "formats", view_formats(), "targets",
                              view_targets(), "views", view_views(), "links", view_links(r), "free_bytes",
                              view_u64(free_bytes), "interval", "[)", "map", view_map(&http_app(r)->config),
                              "import_roots",
                              http_caller(r)->role >= ROLE_EDIT ? view_import_roots(http_app(r)) : NULL));
}

void api_health(struct http_request *r) {
    http_reply_json(r, 200, json_pack("{s:s}", "status", "ok"));
}

/* NULL: nothing. Anybody may ask: what fails is named, not where it is. */
static const char *what_fails(const struct app *app) {
    struct reel_error why = {0};
    if (!catalog_ready(app->catalog)) {
        return "the catalog does not answer";
    }
    if (!store_has_room(app->store, 0)) {
        return "the disk of the store is full";
    }
    return store_answers(app->store, &why) ? NULL
           : why.code == REEL_BUSY         ? "S3 does not answer"
           : why.code == REEL_NOT_FOUND    ? "the archive is not in its bucket in S3"
                                           : "S3 refuses requests";
}

void api_ready(struct http_request *r) {
    const char *problem = what_fails(http_app(r));
    if (problem) {
        http_add_header(r, "Retry-After", "5");
        http_reply_problem(r, 503, "not-ready", "%s", problem);
    } else {
        http_reply_json(r, 200, json_pack("{s:s}", "status", "ready"));
    }
}

/* ---- problem types: what has happened, why, and what to do. tests/lint/problems.py holds them against the types that
 * are sent. */

static const struct problem_type {
    const char *slug, *what, *why, *remedy;
} problems[] = {
    {"bad-argument", "A value in the request is invalid.",
     "It has the wrong form, is too long or is out of range; `detail` names it.",
     "Correct the value and send the request again."},
    {"bad-body", "The body is not the JSON that this path expects.",
     "It is no JSON, nested too deeply, lacks a member, or has a member that is unknown or of the wrong type; `errors` "
     "names the "
     "member.",
     "Compare the body with the schema of the operation in /openapi.json."},
    {"bad-filter", "A filter of the request is invalid.",
     "Its key or its value is none that this path knows; `detail` names it.",
     "Remove the filter, or use one that `detail` lists."},
    {"bad-parameter", "A query parameter is invalid.",
     "It is unknown, repeated, missing or has an invalid value; `errors` names it. Unknown parameters are refused, so "
     "that a typing "
     "error does not select everything.",
     "Compare the parameters with those of the operation in /openapi.json."},
    {"bad-path", "The path cannot be read.",
     "It contains an invalid percent escape, a NUL, invalid UTF-8, \".\" or \"..\", or too many segments.",
     "Escape names in paths: a space is %20, a slash inside of a name %2F."},
    {"bad-range", "A time range of the request is invalid.", "One of its ends is no time; `detail` names it.",
     "Send times as RFC 3339 or as milliseconds since 1970."},
    {"bad-request", "The request violates HTTP or a rule of this API.",
     "Often the client, or a proxy in between, sends contradictory headers, or curl -d was used to send a file; see "
     "`detail`.",
     "Send files with curl -T or --data-binary, and correct what `detail` names."},
    {"bad-target", "A target of the request is invalid.",
     "It is no path that begins with \"/\", or names no recording or field; see `detail`.",
     "Write a target of a Grafana query as RECORDING:/topic.field."},
    {"bad-variable", "The query of a dashboard variable is invalid.",
     "Its target is none of recordings, topics and fields, or the recording is missing.",
     "Send {\"target\":\"recordings\"}, or topics or fields with a recording."},
    {"busy", "The server cannot answer yet.",
     "The result is still being computed (`job` has the address of the job), another process is writing to the "
     "catalog, there are "
     "enough streams of changes, or responses to other requests take all of --memory-mb.",
     "Try again after Retry-After, or send Prefer: wait=60. If it lasts, read fewer large answers at once or raise "
     "--memory-mb."},
    {"cancelled", "The operation was cancelled.", "A user cancelled the job, or the server is shutting down.",
     "Send the request again later."},
    {"catalog", "The server's catalog is damaged or cannot be read.",
     "Its disk has failed, or its files were changed by something else.",
     "Run reel fsck; reel fsck --rebuild makes the catalog anew from the stored files."},
    {"changed", "A stored file or its index has changed since it was scanned.",
     "Something other than Reel wrote to the file, or its disk returns other bytes than were written.",
     "Scan the recording again (POST /api/v1/admin/rescan/{id}), or upload the file again."},
    {"conflict", "The request does not fit the state of the resource.",
     "The name is in use for other content, the same work is already running, or the resource is in a state that does "
     "not allow this.",
     "Use another name, or replace=true to add a revision; wait for the running work."},
    {"content-encoding", "The upload has a Content-Encoding.",
     "Uploads are stored as they are sent, and the client has compressed this one.", "Send the file as it is."},
    {"content-type", "The Content-Type is not the one that this path requires.",
     "Each upload protocol has its own; `detail` names it.", "Set the header Content-Type to that value."},
    {"damaged", "The file is damaged so badly that the request cannot be answered.",
     "Parts of it are missing or overwritten.",
     "See the scan report (GET /api/v1/recordings/{id}/scan) for what can still be read, and request another time "
     "range or topic."},
    {"depth", "The depth of a PROPFIND is not supported.", "Depth is infinity, or is not sent, which means the same.",
     "Send Depth: 0 or Depth: 1, and list folder by folder."},
    {"digest-malformed", "A digest in the headers cannot be read.",
     "Content-Digest or Repr-Digest is not a sha-256 in the form of RFC 9530.",
     "Send sha-256=:BASE64:, with the 32 bytes of the digest in base64."},
    {"digest-mismatch", "The bytes received do not match the announced digest.",
     "They were changed on the way, or the file was changed while it was sent. Nothing was stored.",
     "Send the file again; if it happens again, compute the digest again."},
    {"forbidden", "The caller may not do this.",
     "The role of the token is too low, or the token is limited to other collections.",
     "Use a token with the role that the operation needs, or ask an administrator for one."},
    {"foreign-origin", "A web page of another origin may not write.",
     "The browser named an origin that this server does not trust.",
     "Start the server with --origin and the origin of that page."},
    {"inconsistent-upload-length", "The length of the upload contradicts what was announced.",
     "Headers name different lengths, or the upload ends before its announced length.",
     "Announce the length of the file, or none, and send the missing bytes."},
    {"internal", "The server failed to answer.", "This is a fault of the server.",
     "Find the request in the server's log by its X-Request-Id, and report it."},
    {"io", "A disk operation of the server failed.", "The disk is failing, was removed or has lost its connection.",
     "Find the request in the server's log by its X-Request-Id, and check the disk."},
    {"key-in-use", "A request with this Idempotency-Key is being carried out.",
     "The client has sent it twice, or a connection that broke has not ended yet.", "Send it again after Retry-After."},
    {"key-reused", "The Idempotency-Key belongs to another request.",
     "It was used for the same operation with another body in the last 24 hours, or by another client with the same "
     "credentials.",
     "Use a new key for each request, and the same only to repeat it."},
    {"limit", "The request exceeds a limit.",
     "It selects more than the server handles at once; `detail` names the limit.",
     "Select less: fewer recordings, topics or fields, or a shorter time range."},
    {"locked", "Another request is writing to this upload.", "A previous connection of the client has not ended yet.",
     "Send HEAD a little later to get the offset, and go on from there."},
    {"method-not-allowed", "The path does not support this method.", "Allow lists the methods that it supports.",
     "Use one of these methods, or check the path."},
    {"mismatching-upload-offset", "The offset is not that of the upload.",
     "Some bytes of the previous request did arrive, or did not; Upload-Offset has the offset.",
     "Go on from the offset in Upload-Offset."},
    {"missing", "The stored file is gone or is not what it was.", "It was deleted, moved or changed outside of Reel.",
     "Put the file back, or upload it again."},
    {"multipart", "The form cannot be read.",
     "It is malformed, incomplete or not multipart/form-data, or has no field \"file\".",
     "Send the file itself as the body (curl -T FILE), or a form (curl -F file=@FILE)."},
    {"name-missing", "The upload needs a name.", "Neither the path nor name nor the upload's metadata has one.",
     "Add ?name=, or a name at the end of the path."},
    {"name-too-long", "The name or the collection is too long.", "`detail` has the limit.", "Use a shorter name."},
    {"no-memory", "The server is out of memory.", "Other requests or programs use it. Nothing was stored.",
     "Try again later; lower --memory-mb and --cache-mb if it lasts."},
    {"no-space", "The disk or a quota is full.", "Nothing was stored.",
     "Delete recordings, empty the trash or raise the quota, then try again."},
    {"no-tokens", "The archive requires a token and has none.",
     "It has had tokens, but they were lost with its catalog, which was rebuilt or replaced.",
     "On the machine of the server run reel token create --role admin --name admin --data FOLDER."},
    {"not-acceptable", "None of the requested media types is available.",
     "Accept names only types that this path does not have; `detail` lists those that it has.",
     "Request one of them with Accept, or with output=."},
    {"not-found", "The resource does not exist.",
     "The path or the id is wrong, it was deleted, or the token does not include its collection.",
     "Check the address; lists such as GET /api/v1/recordings have the ids."},
    {"not-passed-on", "The request seems to come from another server of this archive, and does not.",
     "It has the header X-Reel-Passed, by which servers pass requests on to each other, without a valid signature.",
     "Send it without that header. Between servers: set the clocks, and check --peer-address."},
    {"not-ready", "The server is not ready.",
     "Its catalog or S3 does not answer, or its disk is full; `detail` says which.",
     "Try again later; see the server's log."},
    {"other-server", "Only another server of this archive can answer this, and it does not.",
     "It writes the live recording, or runs the playback, that the request is about; `detail` says which server it is "
     "and why it does not "
     "answer.",
     "Try again after Retry-After. If it lasts, start that server, or correct its --peer-address."},
    {"precondition-failed", "The resource is not the one that the request expects.",
     "It has changed since the entity tag in If-Match (or the time in If-Unmodified-Since); or If-None-Match: * was "
     "sent, "
     "and there is one already.",
     "Read it again and repeat the change."},
    {"range-not-satisfiable", "The requested range is outside of the file.",
     "Content-Range has the length of the file.", "Request a range within this length."},
    {"read-only", "The server's disk cannot be written to at the moment.",
     "It was mounted read-only, often after an error. Nothing was stored.", "Check the disk, then try again."},
    {"target-cannot-hold", "The output format cannot hold these messages.", "`report` lists the reasons.",
     "Choose another output format, or exclude these topics."},
    {"too-large", "The body is larger than this path accepts.",
     "`detail` has the limit; of uploads it is --upload-max-mb.", "Send less at once, or raise the limit."},
    {"too-many", "The request asks for too many items at once.", "`detail` has the limit.", "Split the request."},
    {"too-many-failures", "Too many failed log-ins came from this address.",
     "Someone guesses tokens, or a program repeats an invalid one. Requests with a valid token are still accepted.",
     "Correct the token, and wait for Retry-After."},
    {"too-many-live", "Too many live recordings of one owner grow at a time.", "`detail` has the limit.",
     "Finish one of them: POST /api/v1/recordings/{id}/finish."},
    {"too-many-parameters", "The request has more query parameters than the server reads.", "`detail` has the limit.",
     "Send fewer parameters: globs and lists select several things with one."},
    {"announced", "The file of the recording is still on a robot.",
     "The robot has announced the recording: its topics, times and findings are known, its messages are not here.",
     "Ask for the file with POST /recordings/{id}/fetch, or in the page with Get it, and try again when it has arrived."},
    {"trashed", "The recording is in the trash.", "It was deleted, and is kept until the trash is emptied.",
     "Restore it with POST /api/v1/recordings/{id}/restore."},
    {"unreachable", "The server that is to be recorded cannot be reached.",
     "Nothing answers at the address in `from`, or no WebSocket does; `detail` has the reason.",
     "Check the address, and that its server runs and can be reached from this one."},
    {"tus-version", "The upload protocol is missing or of another version.",
     "The request has neither Tus-Resumable nor Upload-Complete.",
     "Send Tus-Resumable: 1.0.0, or Upload-Complete: ?0 or ?1."},
    {"unauthorized", "The request is not authenticated.",
     "It has no token, or one that is unknown, expired or revoked, or the signature of its link is invalid.",
     "Send a token as Authorization: Bearer TOKEN or as the password of any user name, or use a signed link."},
    {"upgrade-required", "The address is answered by WebSocket.",
     "The request does not open one, or of another version than 13; perhaps a proxy in between removed its headers.",
     "Connect with a client of WebSocket, and let the proxy pass Upgrade and Connection on."},
    {"unsupported-header", "The operation does not support a header of the request.",
     "Idempotency-Key is not supported where the answer contains a secret, If-Match where no entity tag is compared, "
     "If-None-Match of a write where nothing is created under a name, or with another value than *.",
     "Send the request without that header."},
    {"unexpected-body", "The path accepts no request body.", "The client sent one.",
     "Leave out the body, and Content-Length and Transfer-Encoding with it."},
    {"unknown-format", "The file is in no format that Reel can read.",
     "Its first bytes are those of no known format, or it is empty.",
     "Check the file; GET /api/v1 lists the formats. keep=true stores it all the same."},
    {"unknown-host", "The server does not serve the host that the request names.",
     "Requests under unknown host names are refused, as a web page could send them to reach a server in a private "
     "network.",
     "Start the server with --host and that name, or with --public-url."},
    {"unknown-target", "The extension of the name is not a format that Reel can write.",
     "`detail` lists the extensions.", "Change the extension."},
    {"unreadable", "Nothing in the file can be read.",
     "Its format was recognised, but it is damaged from its beginning.",
     "Upload the file again from its source; keep=true stores it all the same."},
    {"unsupported", "The recording does not support this operation.",
     "Its format or its messages do not have what is needed; see `detail`.",
     "See GET /api/v1/recordings/{id}/topics for what the recording contains."},
    {"unsupported-media-type", "The Content-Type of the body is not one that this path takes.",
     "`detail` lists those that it takes.", "Send the body in one of these types, and set Content-Type."},
    {"upload-complete", "The upload is complete.", "All of its bytes have arrived, so nothing can be appended to it.",
     "Create a new upload for another file."},
};

/* The texts contain no character that HTML would need escaped, but for quotes, which are fine in its text. */
static void reply_problem_page(struct http_request *r, const struct problem_type *p) {
    char *text = NULL;
    if (asprintf(
            &text,
            "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>%s</title>"
            "<style>body{font:1rem/1.5 sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}</style>\n"
            "<h1>%s</h1>\n<p><code>%s</code></p>\n<h2>Why</h2>\n<p>%s</p>\n<h2>What to do</h2>\n<p>%s</p>\n</html>\n",
            p->what, p->what, p->slug, p->why, p->remedy) < 0) {
        http_reply_no_memory(r);
        return;
    }
    http_reply_text(r, 200, "text/html; charset=utf-8", text);
    free(text);
}

static void reply_problem_type(struct http_request *r, const struct problem_type *p) {
    static const char *const offers[] = {"text/plain", "text/html", "application/json", NULL};
    char text[1024];
    const char *media = http_negotiate(r, offers);
    if (media && strcmp(media, "text/html") == 0) {
        reply_problem_page(r, p);
    } else if (media && strcmp(media, "application/json") == 0) {
        http_reply_json(r, 200,
                        json_pack("{s:o, s:s, s:s, s:s}", "type",
                                  json_sprintf("%s/problems/%s", http_prefix(r), p->slug), "what", p->what, "why",
                                  p->why, "remedy", p->remedy));
    } else { /* also to those who take neither: an explanation in another form is better than none */
        snprintf(text, sizeof text, "%s\n%s\n%s\n", p->what, p->why, p->remedy);
        http_reply_text(r, 200, "text/plain; charset=utf-8", text);
    }
}

void api_problem(struct http_request *r) {
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        if (strcmp(problems[i].slug, http_segment(r, "slug")) == 0) {
            reply_problem_type(r, &problems[i]);
            return;
        }
    }
    http_reply_problem(r, 404, "not-found", "there is no problem type %s", http_segment(r, "slug"));
}
