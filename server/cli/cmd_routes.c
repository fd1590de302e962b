/* reel routes: the route table as JSON. reel routes --openapi [COMPONENTS.json]: the OpenAPI document, with the
 * components of the program or of the file. Not in the list of commands. */
#include "access/access.h"
#include "access/token.h"
#include "api/routes.h"
#include "api/service/openapi.h"
#include "api/service/page.h"
#include "cli/cli.h"

static json_t *view_param(const struct http_param *p) {
    static const char *const types[] = {
        [HTTP_TEXT] = "text",       [HTTP_GLOB] = "glob",         [HTTP_UINT] = "uint",
        [HTTP_INT] = "int",         [HTTP_BOOL] = "bool",         [HTTP_TIME] = "time",
        [HTTP_TIME_MS] = "time_ms", [HTTP_DURATION] = "duration", [HTTP_CHOICE] = "choice"};
    json_t *choices = json_array();
    for (size_t i = 0; p->choices && p->choices[i]; i++) {
        json_array_append_new(choices, json_string(p->choices[i]));
    }
    return json_pack("{s:s, s:s, s:b, s:o}", "name", p->name, "type", types[p->type], "repeats", p->repeats, "choices",
                     choices);
}

static json_t *view_params(const struct http_param *params) {
    json_t *out = json_array();
    for (const struct http_param *p = http_param_row(params); p; p = http_param_row(p + 1)) {
        json_array_append_new(out, view_param(p));
    }
    return out;
}

static json_t *view_route(const struct http_route *r, const struct http_policy *policy) {
    static const char *const keys[] = {[HTTP_KEY_STORED] = "stored",
                                       [HTTP_KEY_RESOURCE] = "resource",
                                       [HTTP_KEY_NATURAL] = "natural",
                                       [HTTP_KEY_REFUSED] = "refused"};
    json_t *out = json_pack("{s:s, s:s, s:s, s:s, s:b, s:o}", "method", r->method, "path", r->path, "role",
                            token_role_name(r->role), "summary", r->summary, "body", r->piece != NULL, "params",
                            view_params(r->params));
    if (http_changes(r->method)) {
        json_object_set_new(out, "idempotency_key", json_string(keys[policy->key]));
        json_object_set_new(out, "if_match", json_boolean(policy->if_match));
        json_object_set_new(out, "if_none_match", json_boolean(policy->if_none_match));
    }
    return out;
}

static json_t *view_routes(void) {
    json_t *routes = json_array();
    const struct http_policy *policy = api_policies();
    for (const struct http_route *r = api_routes(); r->path; r++, policy++) {
        json_array_append_new(routes, view_route(r, policy));
    }
    return json_pack("{s:o, s:o}", "routes", routes, "everywhere", view_params(access_params));
}

static json_t *read_openapi(const char *file, struct reel_error *err) {
    if (!file) {
        json_t *out = page_openapi();
        return out ? json_incref(out)
                   : (reel_fail(err, REEL_NOT_FOUND,
                                "this program was built without the page and the OpenAPI document"),
                      NULL);
    }
    json_error_t why;
    json_auto_t *components = json_load_file(file, 0, &why);
    if (!components) {
        reel_fail(err, REEL_ARGUMENT, "%s: %s", file, why.text);
        return NULL;
    }
    return openapi_document(components, err);
}

static int run_routes(int argc, char **argv) {
    bool openapi = false;
    const struct cli_option options[] = {
        {.name = "openapi", .kind = CLI_FLAG, .to = &openapi, .help = "print the OpenAPI document"}, {0}};
    int first, code;
    struct reel_error err = {0};
    if (!cli_options(&cli_routes, options, 0, argc, argv, &first, &code)) {
        return code;
    }
    json_auto_t *all = openapi ? read_openapi(first < argc ? argv[first] : NULL, &err) : view_routes();
    if (!all || json_dumpf(all, stdout, JSON_COMPACT) != 0 || putchar('\n') == EOF || !cli_flush(&err)) {
        return cli_fail(&cli_routes, NULL, &err);
    }
    return CLI_DONE;
}

const struct cli_command cli_routes = {.name = "routes", .arguments = "", .summary = "", .run = run_routes};
