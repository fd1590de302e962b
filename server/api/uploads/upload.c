/* Uploads in one request: PUT by name, POST, forms. The body is hashed while it is written to the store; all checks
 * that do not need it are made before. */
#include <stdlib.h>
#include <string.h>

#include "api/digests.h"
#include "api/job_reply.h"
#include "api/uploads/received.h"
#include "api/uploads/upload.h"
#include "api/uploads/uploads.h"
#include "base/ascii.h"
#include "base/cleanup.h"
#include "catalog/uploads.h"
#include "http/json_text.h"
#include "recordings/names.h"

#define LIVE_RETRY_S "60" /* for others to finish a live recording */

struct upload {
    struct store *store;
    struct received files;
    struct upload_options options;
    bool has_digest;
    uint8_t digest[32];
    uint64_t size, size_max;
    bool is_text;             /* a body of curl -d, in which no byte was seen that it removes: line ends and NULs */
    struct reel_error failed; /* the first error; replied at the end of the body */
    bool live;                /* no file: creates a recording that grows … */
    const char *from;         /* … of this server; NULL: of what is appended */
    struct http_form *form;   /* NULL: the body is the file */
    char *field, field_name[UPLOAD_OPTION_TEXT]; /* the current field that is not the file, as far as received; NULL:
                                                    none */
    size_t field_size;
};

static void free_upload(void *state) {
    struct upload *u = state;
    received_done(&u->files);
    http_form_free(u->form);
    upload_options_done(&u->options);
    free(u->field);
    free(u);
}

/* Content-Digest or Repr-Digest: "sha-256=:<base64>:", other algorithms are ignored. False: replied. */
static bool read_digest(struct http_request *r, const char *header, struct upload *u) {
    const char *text = http_header(r, header), *at = text ? strstr(text, "sha-256=") : NULL;
    if (!text) {
        return true;
    }
    uint8_t digest[32];
    const char *end = at && at[8] == ':' ? strchr(at + 9, ':') : NULL;
    if (!end || !api_digest_from_base64(at + 9, (size_t)(end - at - 9), digest)) {
        http_reply_problem(r, 400, "digest-malformed", "%s must be sha-256=:<base64 of 32 bytes>:", header);
        return false;
    }
    if (u->has_digest && memcmp(u->digest, digest, 32) != 0) {
        http_reply_problem(r, 400, "digest-mismatch", "Content-Digest and Repr-Digest differ");
        return false;
    }
    if (u->form) {
        http_reply_problem(r, 400, "digest-malformed",
                           "in a form the digest of the file goes into meta: {\"sha256\": \"<hex>\"}");
        return false;
    }
    memcpy(u->digest, digest, 32);
    u->has_digest = true;
    return true;
}

/* Name and collection from the path (PUT) or the query (POST). False: replied. */
static bool upload_read_names(struct http_request *r, struct upload *u) {
    bool by_path = strcmp(http_method(r), "PUT") == 0;
    struct upload_options *w = &u->options;
    if (by_path && (http_param(r, "name") || http_param(r, "collection"))) {
        http_reply_bad_param(r, http_param(r, "name") ? "name" : "collection", "it is in the path already");
        return false;
    }
    const char *name = by_path ? http_segment(r, "name") : "",
               *collection = by_path ? http_segment(r, "collection") : "";
    if (strlen(name) >= sizeof w->name || strlen(collection) >= sizeof w->collection) {
        http_reply_problem(r, 400, "name-too-long", "name and collection may have at most %d bytes",
                           UPLOAD_OPTION_TEXT - 1);
        return false;
    }
    strcpy(w->name, name);
    strcpy(w->collection, collection);
    w->absent = http_if_absent(r);
    if (!upload_read_query(r, w)) {
        return false;
    }
    if (!w->name[0] && !u->form) {
        http_reply_problem(r, 400, "name-missing",
                           by_path ? "the path must end in the recording's name; curl -T FILE URL/ adds it"
                                   : "?name= is required");
    }
    return w->name[0] || u->form;
}

/* ---- forms: one or several fields "file", and upload options as fields or as a JSON object in "meta" */

static bool end_field(struct upload *u) {
    AUTO_MEM char *text = TAKE(u->field);
    bool known = true;
    if (!text) {
        return true;
    }
    text[u->field_size] = '\0';
    if (strcmp(u->field_name, "meta") == 0) {
        return upload_options_parse(&u->options, text, &u->failed);
    }
    json_t *value = json_string(text);
    bool good = value ? upload_options_set(&u->options, u->field_name, value, &known, &u->failed)
                      : reel_fail(&u->failed, REEL_ARGUMENT, "the field %.40s is not UTF-8", u->field_name);
    json_decref(value);
    return good && (known || reel_fail(&u->failed, REEL_ARGUMENT,
                                       "the form's field \"%.40s\" is neither file, nor meta, nor an upload option",
                                       u->field_name));
}

static bool begin_field(struct upload *u, const char *name, const char *file_name) {
    bool is_file = strcmp(name, "file") == 0;
    if (!end_field(u)) {
        return false;
    }
    if (!is_file && file_name && strcmp(name, "meta") != 0) {
        return reel_fail(&u->failed, REEL_ARGUMENT,
                         "the file is in the form's field \"%.40s\"; it must be \"file\": curl -F file=@FILE", name);
    }
    if (is_file) {
        return received_begin(&u->files, u->store, file_name ? file_name : "", &u->failed);
    }
    snprintf(u->field_name, sizeof u->field_name, "%s", name);
    u->field_size = 0;
    u->field = malloc(UPLOAD_OPTIONS_JSON_MAX + 1);
    return u->field || reel_fail_memory(&u->failed);
}

static bool take_file(struct upload *u, const void *data, size_t size) {
    u->size += size;
    u->is_text = u->is_text && !memchr(data, '\n', size) && !memchr(data, '\r', size) && !memchr(data, '\0', size);
    if (u->size_max > 0 && u->size > u->size_max) {
        return reel_fail(&u->failed, REEL_LIMIT, "an upload may have at most %llu bytes",
                         (unsigned long long)u->size_max);
    }
    return received_write(&u->files, data, size, &u->failed);
}

static bool on_field(void *context, const char *name, const char *file_name, uint64_t at, const void *data,
                     size_t size) {
    struct upload *u = context;
    if (at == 0 && !begin_field(u, name, file_name)) {
        return false;
    }
    if (!u->field) {
        return take_file(u, data, size);
    }
    if (size > UPLOAD_OPTIONS_JSON_MAX - u->field_size) {
        return reel_fail(&u->failed, REEL_LIMIT, "the form's field %.40s is longer than %d bytes", u->field_name,
                         UPLOAD_OPTIONS_JSON_MAX);
    }
    memcpy(u->field + u->field_size, data, size);
    u->field_size += size;
    return true;
}

/* Several files are one recording, named after their folder, or else after its main file. */
static bool end_files(struct upload *u) {
    uint32_t main = 0;
    if (u->options.part_of[0] || u->options.sha256[0] || u->options.file_name[0]) {
        return reel_fail(&u->failed, REEL_ARGUMENT, "%s is for one file, here are %u",
                         u->options.part_of[0]  ? "part_of"
                         : u->options.sha256[0] ? "sha256"
                                                : "file_name",
                         u->files.n);
    }
    if (!received_arrange(&u->files, &main, &u->failed)) {
        return false;
    }
    if (!u->options.name[0]) {
        strcpy(u->options.name, u->files.folder[0] ? u->files.folder : u->files.items[main].name);
    }
    return true;
}

/* False: replied. */
static bool end_form(struct http_request *r, struct upload *u) {
    bool whole = http_form_free(TAKE(u->form)) && end_field(u) && (u->files.n < 2 || end_files(u));
    if (!u->options.name[0] && u->files.n > 0) {
        strcpy(u->options.name, u->files.items[0].name);
    }
    if (u->failed.code != REEL_OK) {
        http_reply_error(r, &u->failed);
    } else if (!whole || u->files.n == 0 || !u->options.name[0]) {
        http_reply_problem(r, 400, "bad-request",
                           !whole            ? "the form is incomplete"
                           : u->files.n == 0 ? "the form has no field \"file\""
                                             : "the file has no name");
    } else {
        return upload_may(r, &u->options, 0);
    }
    return false;
}

/* ---- the route */

static bool check_type(struct http_request *r, struct upload *u) {
    const char *type = http_header(r, "Content-Type"), *coding = http_header(r, "Content-Encoding");
    bool multipart = type && ascii_ncasecmp(type, "multipart/", 10) == 0;
    u->form = multipart && strcmp(http_method(r), "POST") == 0 ? http_form_new(r, on_field, u) : NULL;
    if (multipart && !u->form) {
        http_reply_problem(
            r, 415, "multipart",
            "send the file itself as the body (curl -T FILE), or POST multipart/form-data (curl -F file=@FILE)");
        return false;
    }
    if (coding && ascii_casecmp(coding, "identity") != 0) {
        http_reply_problem(r, 415, "content-encoding", "send the file as it is, without Content-Encoding");
        return false;
    }
    return true;
}

void api_upload_begin(struct http_request *r) {
    struct app *app = http_app(r);
    struct upload *u = calloc(1, sizeof *u);
    uint64_t length = 0;
    struct reel_error err = {0};
    if (!u) {
        http_reply_no_memory(r);
        return;
    }
    http_set_state(r, u, free_upload);
    if (!check_type(r, u) || !upload_read_names(r, u) || !read_digest(r, "Content-Digest", u) ||
        !read_digest(r, "Repr-Digest", u)) {
        return;
    }
    const char *type = http_header(r, "Content-Type");
    u->is_text = type && ascii_ncasecmp(type, "application/x-www-form-urlencoded",
                                        strlen("application/x-www-form-urlencoded")) == 0;
    u->size_max = app->config.upload_max_bytes;
    if (http_has_body_length(r, &length) && u->size_max > 0 &&
        length > u->size_max + (u->form ? UPLOAD_OPTIONS_JSON_MAX : 0)) {
        http_reply_problem(r, 413, "too-large", "an upload may have at most %llu bytes",
                           (unsigned long long)u->size_max);
        return;
    }
    if (u->form && !store_has_room(app->store, length)) { /* the rest is checked once the form has named it */
        reel_fail(&err, REEL_NO_SPACE, "there is no room for %llu bytes", (unsigned long long)length);
        http_reply_error(r, &err);
        return;
    }
    if (!u->form && !upload_may(r, &u->options, length)) {
        return;
    }
    http_param_bool(r, "live", &u->live);
    if (u->live && (u->form || length > 0)) {
        http_reply_bad_param(r, "live", "a live recording is created without a body; POST …/messages appends to it");
        return;
    }
    u->from = http_param(r, "from"); /* connects to it: only after all other checks */
    if (u->from && !api_live_may_record(r, u->live, u->from)) {
        return;
    }
    if (u->live) {
        return;
    }
    u->store = app->store;
    if (!u->form && !received_begin(&u->files, app->store, "", &err)) {
        http_reply_error(r, &err);
    }
}

bool api_upload_piece(struct http_request *r, const void *data, size_t size) {
    struct upload *u = http_state(r);
    if (u->live) {
        return size == 0 || reel_fail(&u->failed, REEL_ARGUMENT, "a live recording is created without a body");
    }
    if (!u->form) {
        return take_file(u, data, size);
    }
    return http_form_piece(u->form, data, size) ||
           (u->failed.code != REEL_OK ? false
                                      : reel_fail(&u->failed, REEL_ARGUMENT, "the body is not multipart/form-data"));
}

void api_upload_aborted(struct http_request *r) {
    (void)r; /* the state's destructor removes the partial file */
}

static bool digest_holds(struct http_request *r, const struct upload *u, const char *sha256) {
    char etag[64], got[72], expected[45];
    if (u->options.sha256[0] && strcmp(u->options.sha256, sha256) != 0) {
        http_reply_problem(r, 400, "digest-mismatch",
                           "the bytes received have SHA-256 %s, announced was %s; nothing was kept, send it again",
                           sha256, u->options.sha256);
        return false;
    }
    if (!u->has_digest) {
        return true;
    }
    api_digest_texts(sha256, etag, got);
    api_base64_digest(u->digest, expected);
    if (strstr(got, expected)) {
        return true;
    }
    http_reply_problem(r, 400, "digest-mismatch",
                       "the bytes received have %s, announced was sha-256=:%s:; nothing was kept, send it again", got,
                       expected);
    return false;
}

static void reply_stored(struct http_request *r, const struct ingest_result *result) {
    struct upload_answer a;
    json_t *body = upload_view(r, result, &a);
    http_add_header(r, a.header, a.address);
    http_reply_json(r, a.status, body);
}

static void ingest_received(struct http_request *r, struct upload *u, const struct ingest_request *q,
                            struct ingest_result *result, struct reel_error *err) {
    const int64_t wait_ns = api_wait_ns(r, UPLOAD_SCAN_WAIT_NS);
    struct received_file *first = &u->files.items[0];
    if (u->files.n == 1) {
        ingest_upload(http_app(r), first->file, first->sha256, first->size, q, wait_ns, result, err);
        return;
    }
    AUTO_MEM struct ingest_file *files = calloc(u->files.n, sizeof *files);
    if (!files) {
        *result = (struct ingest_result){.outcome = INGEST_REFUSED};
        reel_fail_memory(err);
        return;
    }
    for (uint32_t i = 0; i < u->files.n; i++) {
        const struct received_file *f = &u->files.items[i];
        files[i] = (struct ingest_file){.upload = f->file, .size = f->size, .name = f->name};
        memcpy(files[i].sha256, f->sha256, sizeof files[i].sha256);
    }
    ingest_uploads(http_app(r), files, u->files.n, q, wait_ns, result, err);
}

void api_upload_end(struct http_request *r) {
    struct upload *u = http_state(r);
    struct reel_error err = {0};
    if (u->form && !end_form(r, u)) {
        return;
    }
    if (u->failed.code != REEL_OK) {
        http_reply_error(r, &u->failed);
        return;
    }
    if (u->is_text && u->size > 0) {
        http_reply_problem(r, 400, "bad-request",
                           "the body has no line ends and no zeros, which curl's -d removes; send the file with "
                           "--data-binary @FILE, or -T FILE");
        return;
    }
    if (!received_finish(&u->files, &err)) {
        http_reply_error(r, &err);
        return;
    }
    if (u->files.n == 1 && !digest_holds(r, u, u->files.items[0].sha256)) {
        return;
    }
    struct ingest_result result = {0};
    char owner[HTTP_PRINCIPAL];
    struct ingest_request q = upload_options_request(&u->options);
    q.owner = http_principal(r, owner);
    if (u->live) {
        api_live_create(r, &q, u->from, &result, &err);
    } else {
        ingest_received(r, u, &q, &result, &err);
    }
    if (u->live && err.code == REEL_LIMIT) {
        http_add_header(r, "Retry-After", LIVE_RETRY_S);
        http_reply_problem(r, 429, "too-many-live", "%s", err.text);
    } else if (upload_is_stored(&result)) {
        reply_stored(r, &result);
    } else {
        upload_refuse(r, &result, &err);
    }
    ingest_result_done(&result);
}
