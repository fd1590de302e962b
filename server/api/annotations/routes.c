/* Endpoints of annotations: tags, notes, events. */
#include "api/annotations/annotations.h"
#include "api/params.h"

static const struct http_param tag_params[] = {
    {.name = "value", .type = HTTP_TEXT, .help = "The value of the tag; without it, the body is the value."}, {0}};
static const struct http_param tags_params[] = {PARAM_PREFIX, PAGING_PARAMS, {0}};
#define EVENTS_PARAMS                                                                                                  \
    {.name = "start", .type = HTTP_TIME, .help = "Only events that touch [start, end)."},                              \
        {.name = "end", .type = HTTP_TIME, .help = "Only events that touch [start, end)."}, PAGING_PARAMS
#define DERIVED_PARAMS                                                                                                 \
    {.name = "derived",                                                                                                \
     .type = HTTP_BOOL,                                                                                                \
     .fallback = "false",                                                                                              \
     .help = "true: the events that follow from the recordings themselves instead: of CARLA logs collisions, actors "  \
             "added and removed, blocked vehicles and changes of traffic lights."},                                    \
        {.name = "kind",                                                                                               \
         .type = HTTP_CHOICE,                                                                                          \
         .choices = CHOICES("collision", "added", "removed", "blocked", "traffic_light"),                              \
         .help = "Only derived events of this kind."},                                                                 \
    {                                                                                                                  \
        .name = "q", .type = HTTP_TEXT, .help = "Only events with all of these words in their title or tags."          \
    }
static const struct http_param events_params[] = {
    {.name = "recording",
     .type = HTTP_TEXT,
     .help = "Only events of this recording, by its own times; without it, all events with a calendar time."},
    EVENTS_PARAMS,
    DERIVED_PARAMS,
    {0},
};
static const struct http_param recording_events_params[] = {EVENTS_PARAMS, DERIVED_PARAMS, {0}};

const struct api_route api_routes_annotations[] = {
    {.http = {"GET", BASE "/recordings/{id}/tags/{key}", ROLE_READ, api_no_params, "Returns a tag of a recording.",
              api_tag_get, NULL, NULL, NULL},
     .id = "getTag",
     .tag = "annotations",
     .answers = "200" ERRORS_ONE},
    {.http = {"PUT", BASE "/recordings/{id}/tags/{key}", ROLE_EDIT, tag_params, "Sets a tag of a recording.",
              api_tag_put, JSON_BODY},
     .id = "setTag",
     .tag = "annotations",
     .detail =
         "If-Match has the entity tag of the recording. With If-None-Match: * the recording must not have the tag.",
     .policy = {.if_match = true, .if_none_match = true},
     .answers = "200 201:setTag201" ERRORS_WRITE},
    {.http = {"DELETE", BASE "/recordings/{id}/tags/{key}", ROLE_EDIT, api_no_params, "Removes a tag from a recording.",
              api_tag_delete, NULL, NULL, NULL},
     .id = "unsetTag",
     .tag = "annotations",
     .policy = {.if_match = true},
     .answers = "204:Deleted" ERRORS_WRITE},
    {.http = {"GET", BASE "/recordings/{id}/notes", ROLE_READ, api_page_params, "Lists the notes of a recording.",
              api_notes_list, NULL, NULL, NULL},
     .id = "listNotes",
     .tag = "annotations",
     .answers = "200 404:NotFound" ERRORS_LIST},
    {.http = {"POST", BASE "/recordings/{id}/notes", ROLE_EDIT, api_no_params, "Adds a note to a recording.",
              api_note_add, JSON_BODY},
     .id = "addNote",
     .tag = "annotations",
     .answers = "201" ERRORS_WRITE},
    {.http = {"PATCH", BASE "/recordings/{id}/notes/{note}", ROLE_EDIT, api_no_params, "Changes the text of a note.",
              api_note_change, JSON_BODY},
     .id = "changeNote",
     .tag = "annotations",
     .answers = "200" ERRORS_WRITE},
    {.http = {"DELETE", BASE "/recordings/{id}/notes/{note}", ROLE_EDIT, api_no_params, "Deletes a note.",
              api_note_delete, NULL, NULL, NULL},
     .id = "removeNote",
     .tag = "annotations",
     .answers = "204:Deleted" ERRORS_WRITE},
    {.http = {"GET", BASE "/recordings/{id}/events", ROLE_READ, recording_events_params,
              "Lists the events of a recording, by the recording's own times.", api_recording_events, NULL, NULL, NULL},
     .id = "listRecordingEvents",
     .tag = "annotations",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/tags", ROLE_READ, tags_params,
              "Lists the keys of all tags, with the number of recordings of each.", api_tags_list, NULL, NULL, NULL},
     .id = "listTagKeys",
     .tag = "annotations",
     .answers = "200" ERRORS_LIST},
    {.http = {"GET", BASE "/tags/{key}", ROLE_READ, tags_params,
              "Lists the values of a tag key, with the number of recordings of each.", api_tags_list, NULL, NULL, NULL},
     .id = "listTagValues",
     .tag = "annotations",
     .answers = "200" ERRORS_LIST},
    {.http = {"POST", BASE "/tags:batch", ROLE_EDIT, api_no_params, "Sets and removes tags of many recordings at once.",
              api_tags_batch, JSON_BODY},
     .id = "tagMany",
     .tag = "annotations",
     .answers = "200" ERRORS_WRITE},
    {.http = {"GET", BASE "/events", ROLE_READ, events_params, "Lists the events of all recordings in calendar order.",
              api_events_list, NULL, NULL, NULL},
     .id = "listEvents",
     .tag = "annotations",
     .headers = "prefer",
     .answers = "200 404:NotFound" ERRORS_LIST},
    {.http = {"POST", BASE "/events", ROLE_EDIT, api_no_params, "Adds an event to a time range of a recording.",
              api_event_add, JSON_BODY},
     .id = "addEvent",
     .tag = "annotations",
     .answers = "201" ERRORS_WRITE},
    {.http = {"GET", BASE "/events/{event}", ROLE_READ, api_no_params, "Returns an event.", api_event_get, NULL, NULL,
              NULL},
     .id = "getEvent",
     .tag = "annotations",
     .answers = "200" ERRORS_ONE},
    {.http = {"PATCH", BASE "/events/{event}", ROLE_EDIT, api_no_params, "Changes an event by a merge patch.",
              api_event_change, JSON_BODY},
     .id = "changeEvent",
     .tag = "annotations",
     .policy = {.if_match = true},
     .answers = "200" ERRORS_WRITE},
    {.http = {"DELETE", BASE "/events/{event}", ROLE_EDIT, api_no_params, "Deletes an event.", api_event_delete, NULL,
              NULL, NULL},
     .id = "removeEvent",
     .tag = "annotations",
     .policy = {.if_match = true},
     .answers = "204:Deleted" ERRORS_WRITE},
    {.id = NULL},
};
