/* See openapi.h. */
#include "api/service/openapi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/token.h"
#include "api/routes.h"
#include "base/ascii.h"
#include "base/cleanup.h"

enum { NAME_MAX_BYTES = 128, PATH_MAX_BYTES = 256 };

static json_t *reference(const char *section, const char *name, size_t size) {
    return json_pack("{s:o}", "$ref", json_sprintf("#/components/%s/%.*s", section, (int)size, name));
}

/* Of a parameter or an operation. */
static void add_deprecation(json_t *out, const struct http_deprecation *d) {
    if (d) {
        json_object_set_new(out, "deprecated", json_true());
        json_object_set_new(out, "x-sunset", json_string(d->sunset));
        json_object_set_new(out, "description",
                            json_sprintf("%s Deprecated since %s, will be removed after %s; see %s.",
                                         json_string_value(json_object_get(out, "description")), d->since, d->sunset,
                                         d->link));
    }
}

/* ---- parameters */

static json_t *type_schema(const struct http_param *p) {
    static const char *const plain[] = {[HTTP_TEXT] = "string",
                                        [HTTP_UINT] = "integer",
                                        [HTTP_INT] = "integer",
                                        [HTTP_BOOL] = "boolean",
                                        [HTTP_CHOICE] = "string"};
    static const char *const named[] = {[HTTP_GLOB] = "GlobText",
                                        [HTTP_TIME] = "TimeText",
                                        [HTTP_TIME_MS] = "TimeMsText",
                                        [HTTP_DURATION] = "DurationText"};
    if ((size_t)p->type < sizeof named / sizeof *named && named[p->type]) {
        return reference("schemas", named[p->type], strlen(named[p->type]));
    }
    json_t *out = json_pack("{s:s}", "type", plain[p->type]);
    for (size_t i = 0; p->choices && p->choices[i]; i++) {
        if (i == 0) {
            json_object_set_new(out, "enum", json_array());
        }
        json_array_append_new(json_object_get(out, "enum"), json_string(p->choices[i]));
    }
    if (p->type == HTTP_UINT) {
        json_object_set_new(out, "minimum", json_integer((json_int_t)p->min));
    }
    if (p->max && !p->repeats) {
        json_object_set_new(out, "maximum", json_integer((json_int_t)p->max));
    }
    if (p->fallback) {
        bool number = p->type == HTTP_UINT || p->type == HTTP_INT;
        json_object_set_new(out, "default",
                            number                 ? json_integer(strtoll(p->fallback, NULL, 10))
                            : p->type == HTTP_BOOL ? json_boolean(strcmp(p->fallback, "true") == 0)
                                                   : json_string(p->fallback));
    }
    return out;
}

json_t *openapi_schema(const struct http_param *p) {
    json_t *schema = type_schema(p);
    if (p->repeats) {
        schema = json_pack("{s:s, s:o}", "type", "array", "items", schema);
        if (p->required) {
            json_object_set_new(schema, "minItems", json_integer(1));
        }
        if (p->max) {
            json_object_set_new(schema, "maxItems", json_integer((json_int_t)p->max));
        }
    }
    return schema;
}

static json_t *parameter(const struct http_param *p, const char *in) {
    json_t *out = json_pack("{s:s, s:s, s:o, s:s}", "name", p->name, "in", in, "schema", openapi_schema(p),
                            "description", p->help ? p->help : "");
    if (p->required || strcmp(in, "path") == 0) {
        json_object_set_new(out, "required", json_true());
    }
    add_deprecation(out, p->deprecated);
    if (p->type == HTTP_BOOL) { /* ?replace is ?replace=true */
        json_object_set_new(out, "allowEmptyValue", json_true());
    }
    return out;
}

/* Copies the path without the dots of "{name...}", and adds its parameters to `out`. False: one that api_path_param()
 * does not know. */
static bool read_path(const char *path, char text[PATH_MAX_BYTES], json_t *out, struct reel_error *err) {
    char segment[NAME_MAX_BYTES] = "", name[NAME_MAX_BYTES];
    size_t n = 0;
    for (const char *at = path; *at && n + NAME_MAX_BYTES < PATH_MAX_BYTES;) {
        size_t size = strcspn(at + 1, "/") + 1;
        if (at[1] == '{') {
            size_t letters = strcspn(at + 2, ".}");
            snprintf(name, sizeof name, "%.*s", (int)letters, at + 2);
            const struct http_param *p = api_path_param(segment, name);
            if (!p) {
                return reel_fail(err, REEL_ARGUMENT, "the parameter %s of the path %s has no description", name, path);
            }
            json_array_append_new(out, parameter(p, "path"));
            n += (size_t)snprintf(text + n, PATH_MAX_BYTES - n, "/{%s}", name);
        } else {
            snprintf(segment, sizeof segment, "%.*s", (int)size - 1, at + 1);
            n += (size_t)snprintf(text + n, PATH_MAX_BYTES - n, "%.*s", (int)size, at);
        }
        at += size;
    }
    return true;
}

/* ---- operations */

static void add_headers(json_t *parameters, const char *headers, bool head) {
    for (const char *at = headers; at && *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        bool range = (size == 5 && strncmp(at, "range", size) == 0) || (size == 7 && strncmp(at, "ifRange", size) == 0);
        if (!head || !range) {
            json_array_append_new(parameters, reference("parameters", at, size));
        }
        at += size;
    }
}

static void add_responses(json_t *out, const char *answers, const char *id) {
    for (const char *at = answers; *at; at += strspn(at, " ")) {
        char status[4] = "";
        memcpy(status, at, strnlen(at, 3));
        size_t size = strcspn(at, " ");
        json_object_set_new(
            out, status, size > 4 ? reference("responses", at + 4, size - 4) : reference("responses", id, strlen(id)));
        at += size;
    }
}

/* Headers and answers that come from the row's policy. */
static void add_policy(json_t *parameters, json_t *responses, const struct api_route *row) {
    enum http_key key = row->policy.key;
    if (!http_changes(row->http.method)) {
        return;
    }
    if (key == HTTP_KEY_STORED || key == HTTP_KEY_RESOURCE) {
        add_headers(parameters, "idempotencyKey", false);
        add_responses(responses, "409:Conflict 422:Unprocessable", row->id);
    }
    if (row->policy.if_match) {
        add_headers(parameters, "ifMatch", false);
        add_responses(responses, "412:PreconditionFailed", row->id);
    }
    if (row->policy.if_none_match) {
        add_headers(parameters, "ifAbsent", false);
        add_responses(responses, "412:PreconditionFailed", row->id);
    }
}

/* The detail of the row, if it has one, and who may call it. */
static json_t *description(const struct api_route *row) {
    const char *detail = row->detail ? row->detail : "", *space = row->detail ? " " : "";
    return row->http.role == ROLE_NONE
               ? json_sprintf("%s%sNeeds no token.", detail, space)
               : json_sprintf("%s%sNeeds the role %s.", detail, space, token_role_name(row->http.role));
}

static json_t *operation(const struct api_route *row, const struct api_head *head) {
    const char *id = head ? head->id : row->id;
    bool reads = strcmp(row->http.method, "GET") == 0;
    json_t *parameters = json_array();
    for (const struct http_param *p = http_param_row(row->http.params); p; p = http_param_row(p + 1)) {
        if (strcmp(p->name, "*") != 0) {
            json_array_append_new(parameters, parameter(p, "query"));
        }
    }
    json_t *responses = json_object();
    add_headers(parameters, row->headers, head != NULL);
    add_responses(responses, head ? head->answers : row->answers, id);
    add_policy(parameters, responses, row);
    json_t *out = json_pack("{s:s, s:[s], s:s, s:o, s:s, s:o, s:o}", "operationId", id, "tags", row->tag, "summary",
                            head ? head->summary : row->http.summary, "description", description(row), "x-role",
                            token_role_name(row->http.role), "parameters", parameters, "responses", responses);
    add_deprecation(out, row->policy.deprecated);
    if (row->http.piece) {
        json_object_set_new(out, "requestBody", reference("requestBodies", id, strlen(id)));
    }
    if (row->http.role == ROLE_NONE) {
        json_object_set_new(out, "security", json_array());
    } else if (!reads) { /* a signed link only reads */
        json_object_set_new(out, "security", json_pack("[{s:[]}, {s:[]}, {s:[]}]", "bearer", "basic", "login"));
    }
    return out;
}

/* /grafana/ is /grafana; a document with both is refused by linters. */
static bool is_alias(const struct api_route *row) {
    size_t size = strlen(row->http.path);
    return size > 1 && row->http.path[size - 1] == '/';
}

bool openapi_add_row(json_t *paths, const struct api_route *row, struct reel_error *err) {
    char path[PATH_MAX_BYTES] = "", method[16] = "";
    json_auto_t *parameters = json_array();
    if (!read_path(row->http.path, path, parameters, err)) {
        return false;
    }
    for (size_t i = 0; i + 1 < sizeof method && row->http.method[i]; i++) {
        method[i] = (char)ascii_lower((uint8_t)row->http.method[i]);
    }
    json_t *item = json_object_get(paths, path);
    if (!item) {
        item = json_object();
        json_object_set_new(paths, path, item);
        if (json_array_size(parameters) > 0) {
            json_object_set(item, "parameters", parameters);
        }
    }
    json_t *described = operation(row, NULL);
    if (!described || json_object_set_new(item, method, described) != 0) {
        return reel_fail_memory(err);
    }
    return !row->head || json_object_set_new(item, "head", operation(row, row->head)) == 0 || reel_fail_memory(err);
}

json_t *openapi_document(const json_t *components, struct reel_error *err) {
    json_auto_t *document = json_deep_copy(components);
    json_auto_t *paths = json_object();
    for (size_t i = 0; api_tables[i]; i++) {
        for (const struct api_route *row = api_tables[i]; row->id; row++) {
            if (!is_alias(row) && !openapi_add_row(paths, row, err)) {
                return NULL;
            }
        }
    }
    if (json_object_set_new(json_object_get(document, "info"), "version", json_string(REEL_VERSION)) != 0 ||
        json_object_set(document, "paths", paths) != 0) {
        reel_fail_memory(err);
        return NULL;
    }
    return json_incref(document);
}
