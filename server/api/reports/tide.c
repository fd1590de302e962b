/* /tide/channels and /tide/introspection: the queries of RSBag's own tools. */
#include "api/answer.h"
#include "api/params.h"
#include "api/recording.h"
#include "api/rows.h"
#include "api/selection.h"
#include "formats/tide/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool channels(struct reel_recording *recording, const struct reel_table *to, struct reel_error *err) {
    return reel_tide_channels(reel_recording_index(recording), to, err);
}

static void api_tide_channels(struct http_request *r) {
    struct api_recording a;
    struct rows_form form;
    if (rows_form(r, &form) && api_open(r, &a)) {
        api_answer_once(r, a.recording, form.form, form.media_type, channels);
        api_recording_done(&a);
    }
}

static void tide_add_texts(json_t *row, const json_t *of, const char *const *names, const char *prefix) {
    char name[64];
    for (size_t i = 0; names[i]; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, names[i]);
        json_object_set(row, name, json_object_get(of, names[i]));
    }
}

/* A row for each participant, with its process and host. NULL: no memory. */
static json_t *participants(const json_t *report) {
    static const char *const of_host[] = {"id", "hostname", NULL}, *const of_process[] = {"id", "program_name",
                                                                                          "start_time", NULL};
    json_t *rows = json_array(), *host, *process, *one;
    size_t h, p, i;
    json_array_foreach(json_object_get(report, "hosts"), h, host) {
        json_array_foreach(json_object_get(host, "processes"), p, process) {
            json_array_foreach(json_object_get(process, "participants"), i, one) {
                json_t *row = json_copy(one);
                tide_add_texts(row, host, of_host, "host_");
                tide_add_texts(row, process, of_process, "process_");
                json_array_append_new(rows, row);
            }
        }
    }
    return rows;
}

/* Replies with the report, or its participants as rows. Takes the text. */
static void reply_introspection(struct http_request *r, const struct rows_form *form, char *text) {
    static const char *const columns[] = {
        "host_id", "host_hostname", "process_id", "process_program_name", "process_start_time", "id",  "parent", "kind",
        "scope",   "type",          "transport",  "first_hello",          "last_hello",         "bye", NULL};
    enum { VALUES_MEMORY = 16 }; /* of a text as values, at most so many times its size */
    if (form->form == REEL_TABLE_JSON) {
        http_reply_text(r, 200, "application/json", text);
    } else if (http_reserve(r, strlen(text) * VALUES_MEMORY)) {
        json_t *report = json_loads(text, 0, NULL);
        rows_reply(r, form, report, participants(report), columns);
    }
    free(text);
}

static void api_tide_introspection(struct http_request *r) {
    struct api_recording a;
    struct api_selection selection;
    struct rows_form form;
    struct reel_error err = {0};
    if (!rows_form(r, &form) || !api_open_messages(r, &a)) {
        return;
    }
    const struct reel_index_info *info = reel_index_info(reel_recording_index(a.recording));
    if (api_select(r, info->start_ns, info->end_ns, &selection)) {
        char *text = reel_tide_introspection(a.recording, &selection.selection, &err);
        if (text) {
            reply_introspection(r, &form, text);
        } else {
            http_reply_error(r, &err);
        }
    }
    api_recording_done(&a);
}

/* ---- the endpoints */

static const struct http_param tide_channels_params[] = {PARAM_ROW_OUTPUT, {0}};
static const struct http_param tide_introspection_params[] = {PARAM_SPAN, PARAM_ROW_OUTPUT, {0}};

const struct api_route api_routes_tide[] = {
    {.http = {"GET", BASE "/recordings/{id}/tide/channels", ROLE_READ, tide_channels_params,
              "Lists the channels of a TIDE log with scope, source, types and rates.", api_tide_channels, NULL, NULL,
              NULL},
     .id = "listTideChannels",
     .tag = "ros and rsb",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/tide/introspection", ROLE_READ, tide_introspection_params,
              "Returns the hosts, processes and participants that RSB introspection reported.", api_tide_introspection,
              NULL, NULL, NULL},
     .id = "getTideIntrospection",
     .tag = "ros and rsb",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.id = NULL},
};
