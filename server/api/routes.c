/* One row per endpoint. Adding one: its file, its row, its line in routes.h. */
#include "api/routes.h"
#include "api/body.h"
#include "api/paging.h"

#define BASE "/api/v1"

static const char *const recording_states[] = {"scanning", "ready", "failed", "missing", "changed", "trashed", NULL};
static const char *const message_outputs[] = {"ndjson", "json", "json-seq", "csv", "msgpack", "events", NULL};
static const char *const time_formats[] = {"rfc3339", "seconds", "milliseconds", "nanoseconds", "relative", NULL};
static const char *const decodes[] = {"auto", "none", NULL};
static const char *const lasts[] = {"per_topic", NULL};
static const char *const prefixes[] = {"clash", "always", "never", NULL};
static const char *const views[] = {"raw", "foxglove", NULL};
static const char *const aligns[] = {"start", "none", NULL};

static const struct http_param no_params[] = {{0}};

static const char *const matches[] = {"all", "any", NULL};
static const char *const list_outputs[] = {"json", "csv", "ndjson", NULL};
/* What recordings are found by (api/recordings.h). */
#define LIST_FILTERS                                                                                                                       \
    {.name = "q",                                                                                                                          \
     .type = HTTP_TEXT,                                                                                                                    \
     .help = "words, \"phrases\", key:value,value (topic type format collection state group damaged meta.KEY or a tag); - in front: not"}, \
        {.name = "format", .type = HTTP_TEXT, .help = "container format: rosbag-1.2, rosbag-2.0, mcap …; rosbag: both ROS 1 bags"},        \
        {.name = "collection", .type = HTTP_TEXT, .help = "only this collection"},                                                         \
        {.name = "group", .type = HTTP_TEXT, .help = "only this group; sort=start tells its order"},                                       \
        {.name = "topic", .type = HTTP_GLOB, .repeats = true, .help = "a topic by glob"},                                                  \
        {.name = "type", .type = HTTP_GLOB, .repeats = true, .help = "a message type by glob"},                                            \
        {.name = "topic_re", .type = HTTP_TEXT, .repeats = true, .help = "a topic by regular expression (PCRE2), found anywhere in it"},   \
        {.name = "type_re", .type = HTTP_TEXT, .repeats = true, .help = "a message type by regular expression"},                           \
        {.name = "match",                                                                                                                  \
         .type = HTTP_CHOICE,                                                                                                              \
         .choices = matches,                                                                                                               \
         .help = "of several topics, or types: all must be there (usual), or any"},                                                        \
        {.name = "tag", .type = HTTP_TEXT, .repeats = true, .help = "key=value, the value may be a glob; or key"},                         \
        {.name = "start", .type = HTTP_TIME, .help = "overlaps [start, end)"},                                                             \
        {.name = "end", .type = HTTP_TIME, .help = "overlaps [start, end)"}, {.name = "min_size", .type = HTTP_UINT, .help = "bytes"},     \
        {.name = "max_size", .type = HTTP_UINT, .help = "bytes"}, {.name = "min_duration", .type = HTTP_DURATION, .help = "90s, 5m …"},    \
        {.name = "max_duration", .type = HTTP_DURATION, .help = "90s, 5m …"},                                                              \
        {.name = "min_messages", .type = HTTP_UINT, .help = "at least so many"},                                                           \
        {.name = "max_messages", .type = HTTP_UINT, .help = "at most so many"},                                                            \
        {.name = "state", .type = HTTP_CHOICE, .choices = recording_states, .help = "only this state; without it all but trashed"},        \
        {.name = "damaged", .type = HTTP_BOOL, .help = "only recordings with losses"}, {                                                   \
        .name = "output", .type = HTTP_CHOICE, .choices = list_outputs, .help = "instead of Accept"                                        \
    }
#define LIST_PAGE                                                                                                                          \
    {.name = "sort",                                                                                                                       \
     .type = HTTP_TEXT,                                                                                                                    \
     .help = "created, name, start, end, size, messages, duration; '-' in front: descending. Where a search finds "                        \
             "more than can be sorted, its newest are, and sorted_newest says how many"},                                                  \
        {.name = "limit", .type = HTTP_UINT, .help = "rows of a page, 1 to 1000 (larger is taken as 1000), usually 100"}, {                \
        .name = "cursor", .type = HTTP_TEXT, .help = "the next of the page before"                                                         \
    }

static const struct http_param list_params[] = {
    LIST_FILTERS,
    LIST_PAGE,
    {.name = "offset", .type = HTTP_UINT, .help = "rows to skip; cursor is cheaper"},
    {.name = "count", .type = HTTP_BOOL, .help = "also say the total; with filters counted no further than 2000 (total_capped)"},
    {0},
};

static const struct http_param values_params[] = {
    {.name = "field", .type = HTTP_TEXT, .help = "topic, type, format, collection, state, tag, tag:KEY or meta.KEY"},
    {.name = "prefix", .type = HTTP_TEXT, .help = "only what begins with this"},
    LIST_FILTERS,
    LIST_PAGE,
    {0},
};
static const char *const stats_bys[] = {"format", "collection", "state", "day", "month", NULL};
static const struct http_param stats_params[] = {
    {.name = "by", .type = HTTP_CHOICE, .choices = stats_bys, .help = "only this; without it all but days"},
    {.name = "output", .type = HTTP_CHOICE, .choices = list_outputs, .help = "instead of Accept"},
    {0},
};
static const char *const coverage_bys[] = {"recording", "collection", NULL};
static const struct http_param coverage_across_params[] = {
    {.name = "by", .type = HTTP_CHOICE, .choices = coverage_bys, .help = "recording (usual): each; collection: together"},
    {.name = "tolerance", .type = HTTP_DURATION, .help = "by collection: gaps up to this are none"},
    LIST_FILTERS,
    LIST_PAGE,
    {0},
};
static const struct http_param coverage_params[] = {
    {.name = "topic", .type = HTTP_GLOB, .repeats = true, .help = "only topics that match one of these globs"},
    {.name = "bins", .type = HTTP_UINT, .help = "how finely to look, 1 to 2000, usually 100"},
    {.name = "tolerance", .type = HTTP_DURATION, .help = "gaps up to this are none; usually the width of a bin"},
    {.name = "output", .type = HTTP_CHOICE, .choices = list_outputs, .help = "instead of Accept"},
    {0},
};
static const struct http_param topics_params[] = {
    {.name = "output", .type = HTTP_CHOICE, .choices = list_outputs, .help = "instead of Accept"},
    {0},
};

static const struct http_param upload_params[] = {
    {.name = "name", .type = HTTP_TEXT, .help = "of the recording; POST only"},
    {.name = "collection", .type = HTTP_TEXT, .help = "POST only; usually \"default\""},
    {.name = "format", .type = HTTP_TEXT, .help = "do not probe, take it for this"},
    {.name = "part_of",
     .type = HTTP_TEXT,
     .help = "a recording of this collection that the file is a further part of: a .state for run.traj"},
    {.name = "group", .type = HTTP_TEXT, .help = "recordings that were split and belong together"},
    {.name = "tag", .type = HTTP_TEXT, .repeats = true, .help = "key=value, a tag that it has from the start"},
    {.name = "replace", .type = HTTP_BOOL, .help = "other content under a taken name becomes a new revision"},
    {.name = "keep", .type = HTTP_BOOL, .help = "keep a file that cannot be read, as failed"},
    {0},
};

static const struct http_param delete_params[] = {
    {.name = "purge", .type = HTTP_BOOL, .help = "remove for good instead of to the trash"},
    {0},
};

#define SELECTION_PARAMS                                                                                                                   \
    {.name = "topic", .type = HTTP_GLOB, .repeats = true, .help = "only topics that match one of these globs"},                            \
        {.name = "exclude_topic", .type = HTTP_GLOB, .repeats = true, .help = "but not these"},                                            \
        {.name = "start", .type = HTTP_TIME, .help = "first instant: RFC 3339, ns, +2.5s from the start, -2.5s from the end"},             \
        {.name = "end", .type = HTTP_TIME, .help = "first instant that is out"},                                                           \
        {.name = "from", .type = HTTP_TIME_MS, .help = "as start; a bare number is milliseconds"},                                         \
        {.name = "to", .type = HTTP_TIME_MS, .help = "as end; a bare number is milliseconds"},                                             \
        {.name = "every", .type = HTTP_TEXT, .help = "10: each tenth message of a channel; 100ms: the first in each interval"},            \
        {.name = "last", .type = HTTP_CHOICE, .choices = lasts, .help = "also the last message before start of each topic"}, {             \
        .name = "lookback", .type = HTTP_DURATION, .help = "how far before start last may look"                                            \
    }

#define TEXT_PARAMS                                                                                                                        \
    {.name = "decode", .type = HTTP_CHOICE, .choices = decodes, .help = "none: payloads as {\"$base64\"}"},                                \
        {.name = "fields", .type = HTTP_TEXT, .repeats = true, .help = "of each payload only these, by path: pose.position.x,ranges[0]"},  \
    {                                                                                                                                      \
        .name = "time_format", .type = HTTP_CHOICE, .choices = time_formats, .help = "how times are written"                               \
    }

static const struct http_param messages_params[] = {
    SELECTION_PARAMS,
    {.name = "limit", .type = HTTP_UINT, .help = "stop after so many; a Link header leads on. Without it: all"},
    {.name = "cursor", .type = HTTP_TEXT, .help = "where a limited answer ended"},
    TEXT_PARAMS,
    {.name = "output", .type = HTTP_CHOICE, .choices = message_outputs, .help = "instead of Accept"},
    {.name = "end_record", .type = HTTP_BOOL, .help = "close with {\"$end\":{\"complete\":true,…}}"},
    {0},
};

static const struct http_param message_params[] = {
    {.name = "topic", .type = HTTP_GLOB, .repeats = true, .help = "which topic"},
    {.name = "at", .type = HTTP_TIME, .help = "the last message at or before this time"},
    {.name = "index", .type = HTTP_INT, .help = "the message at this place in time order; negative: from the end"},
    TEXT_PARAMS,
    {0},
};

static const char *const aggregates[] = {"minmax", "mean", "lttb", "last", NULL};
#define SPAN_PARAMS                                                                                                                        \
    {.name = "start", .type = HTTP_TIME, .help = "first instant: RFC 3339, ns, +2.5s from the start, -2.5s from the end"},                 \
        {.name = "end", .type = HTTP_TIME, .help = "first instant that is out"},                                                           \
        {.name = "from", .type = HTTP_TIME_MS, .help = "as start; a bare number is milliseconds"}, {                                       \
        .name = "to", .type = HTTP_TIME_MS, .help = "as end; a bare number is milliseconds"                                                \
    }
#define DRAWN_PARAMS                                                                                                                       \
    {.name = "field", .type = HTTP_TEXT, .repeats = true, .help = "a number of a topic: /gps_odom.pose.pose.position.x, /scan.ranges[0]"}, \
        SPAN_PARAMS
#define SERIES_PARAMS                                                                                                                      \
    DRAWN_PARAMS, {.name = "max_points", .type = HTTP_UINT, .help = "of each field, 2 to 100000, usually 1000"},                           \
        {.name = "agg",                                                                                                                    \
         .type = HTTP_CHOICE,                                                                                                              \
         .choices = aggregates,                                                                                                            \
         .help = "of more values than that: minmax (usual), mean, lttb or last"},                                                          \
    {                                                                                                                                      \
        .name = "time_format", .type = HTTP_CHOICE, .choices = time_formats, .help = "how times are written"                               \
    }
static const struct http_param series_params[] = {SERIES_PARAMS, {0}};

static const struct http_param series_across_params[] = {
    {.name = "recording", .type = HTTP_TEXT, .repeats = true, .help = "id of one of them, at most 20; or those that are found by"},
    {.name = "q", .type = HTTP_TEXT, .help = "words that names, topics or types begin with; all must match"},
    {.name = "format", .type = HTTP_TEXT, .help = "container format: rosbag-1.2, rosbag-2.0, mcap …; rosbag: both ROS 1 bags"},
    {.name = "collection", .type = HTTP_TEXT, .help = "only this collection"},
    {.name = "topic", .type = HTTP_GLOB, .repeats = true, .help = "a topic by glob; all given must be there"},
    SERIES_PARAMS,
    {0},
};

static const struct http_param plot_params[] = {
    DRAWN_PARAMS,
    {.name = "width", .type = HTTP_UINT, .help = "200 to 4000, usually 800"},
    {.name = "height", .type = HTTP_UINT, .help = "up to 4000, usually 300"},
    {0},
};

static const struct http_param fields_params[] = {
    {.name = "topic", .type = HTTP_TEXT, .help = "which topic"},
    {0},
};

#define CONVERT_PARAMS                                                                                                                     \
    SELECTION_PARAMS, {.name = "version", .type = HTTP_TEXT, .help = "of the target format: 1.2 for .bag"},                                \
        {.name = "compression", .type = HTTP_TEXT, .help = "of the target"},                                                               \
        {.name = "view", .type = HTTP_CHOICE, .choices = views, .help = "foxglove: also what viewers draw (scenes, frames, logs, plots)"}, \
        {.name = "report", .type = HTTP_BOOL, .help = "say what would be lost instead of converting"}, TEXT_PARAMS, {                      \
        .name = "end_record", .type = HTTP_BOOL, .help = "of text targets: close with {\"$end\":…}"                                      \
    }

static const struct http_param convert_params[] = {
    CONVERT_PARAMS,
    {.name = "run",
     .type = HTTP_UINT,
     .help = "of a NanoVer recording only this run: from that reset, as in …/nanover/resets, to the next; 0: before the first"},
    {0},
};

static const struct http_param merge_params[] = {
    {.name = "recording",
     .type = HTTP_TEXT,
     .repeats = true,
     .help = "id of one of them, at least one; messages of one time come in this order"},
    {.name = "align",
     .type = HTTP_CHOICE,
     .choices = aligns,
     .help = "start (usual): recordings of a relative clock begin with the others; none: times as they are"},
    {.name = "prefix",
     .type = HTTP_CHOICE,
     .choices = prefixes,
     .help = "when a topic gets its recording's name in front: clash (usual) where two have it"},
    CONVERT_PARAMS,
    {0},
};

static const char *const table_outputs[] = {"text", "json", "csv", "ndjson", "geojson", NULL};
static const char *const carla_types[] = {"h", "v", "w", "t", "o", "a", NULL};
static const char *const carla_frames[] = {"carla", "ros", NULL};
#define TABLE_OUTPUT                                                                                                                       \
    { .name = "output", .type = HTTP_CHOICE, .choices = table_outputs, .help = "instead of Accept" }

static const struct http_param carla_info_params[] = {
    {.name = "all", .type = HTTP_BOOL, .help = "the states of every frame too"},
    {.name = "dialect", .type = HTTP_TEXT, .help = "the words of this CARLA: 0.9.4 … 0.9.16, 0.10, dev2026; usually 0.9.15"},
    TABLE_OUTPUT,
    {0},
};
static const struct http_param carla_collisions_params[] = {
    {.name = "type1", .type = HTTP_CHOICE, .choices = carla_types, .help = "hero, vehicle, walker, traffic light, other, any (usual)"},
    {.name = "type2", .type = HTTP_CHOICE, .choices = carla_types, .help = "of the other side"},
    TABLE_OUTPUT,
    {0},
};
static const struct http_param carla_blocked_params[] = {
    {.name = "min_time", .type = HTTP_TEXT, .help = "seconds, usually 30"},
    {.name = "min_distance", .type = HTTP_TEXT, .help = "centimetres, usually 10: who moves less stands still"},
    TABLE_OUTPUT,
    {0},
};
static const struct http_param carla_actors_params[] = {TABLE_OUTPUT, {0}};
static const struct http_param carla_trajectory_params[] = {
    {.name = "frame",
     .type = HTTP_CHOICE,
     .choices = carla_frames,
     .help = "carla: left-handed (usual); ros: right-handed, y, pitch and yaw negated"},
    TABLE_OUTPUT,
    {0},
};

static const struct http_param bag_info_params[] = {
    {.name = "yaml", .type = HTTP_BOOL, .help = "as rosbag info --yaml"},
    {.name = "freq", .type = HTTP_BOOL, .help = "how often messages come, also of bags of version 2"},
    {0},
};
static const struct http_param frame_params[] = {
    {.name = "topic", .type = HTTP_GLOB, .help = "of the images"},
    {.name = "at", .type = HTTP_TIME, .help = "the last image at or before this time; without it the first"},
    {.name = "width", .type = HTTP_UINT, .help = "no wider than so many pixels"},
    {0},
};
static const struct http_param tide_channels_params[] = {TABLE_OUTPUT, {0}};
static const struct http_param tide_introspection_params[] = {SPAN_PARAMS, {0}};

static const char *const row_outputs[] = {"json", "csv", "ndjson", NULL};
static const char *const moment_outputs[] = {"json", "msgpack", NULL};
#define ROW_OUTPUT                                                                                                                         \
    { .name = "output", .type = HTTP_CHOICE, .choices = row_outputs, .help = "instead of Accept" }

static const struct http_param nanover_moment_params[] = {
    {.name = "at", .type = HTTP_TIME, .help = "with all messages up to this time; without it: at the end"},
    {.name = "output", .type = HTTP_CHOICE, .choices = moment_outputs, .help = "instead of Accept"},
    {0},
};
static const struct http_param nanover_resets_params[] = {ROW_OUTPUT, {0}};
static const struct http_param nanover_changes_params[] = {
    {.name = "key", .type = HTTP_GLOB, .repeats = true, .help = "only keys that match one of these globs: avatar.*"},
    SPAN_PARAMS,
    ROW_OUTPUT,
    {0},
};
static const struct http_param nanover_rows_params[] = {
    SPAN_PARAMS,
    {.name = "every", .type = HTTP_TEXT, .help = "10: each tenth frame; 100ms: the first in each interval"},
    ROW_OUTPUT,
    {0},
};

static const struct http_param jobs_params[] = {ROW_OUTPUT, {0}};
static const struct http_param page_params[] = {PAGING_PARAMS, {0}};
static const struct http_param failures_params[] = {PAGING_PARAMS, {0}};
static const struct http_param changes_params[] = {
    {.name = "since",
     .type = HTTP_TEXT,
     .help = "only what is behind this seq; a stream without it (and without Last-Event-ID) begins now"},
    {.name = "kind", .type = HTTP_GLOB, .repeats = true, .help = "only these kinds: recording.*, scan.failed …"},
    PAGING_PARAMS,
    {0},
};
static const struct http_param retention_params[] = {
    {.name = "dry_run", .type = HTTP_BOOL, .help = "only list what would go"},
    PAGING_PARAMS,
    {0},
};
static const struct http_param tag_params[] = {{.name = "value", .type = HTTP_TEXT, .help = "of the tag; or it is the body"}, {0}};
static const struct http_param tags_params[] = {
    {.name = "prefix", .type = HTTP_TEXT, .help = "only what begins with this"},
    PAGING_PARAMS,
    {0},
};
#define EVENTS_PARAMS                                                                                                                      \
    {.name = "start", .type = HTTP_TIME, .help = "touches [start, end)"},                                                                  \
        {.name = "end", .type = HTTP_TIME, .help = "touches [start, end)"}, PAGING_PARAMS
static const struct http_param events_params[] = {
    {.name = "recording", .type = HTTP_TEXT, .help = "of this one, by its own times; without it of all that are on the calendar"},
    EVENTS_PARAMS,
    {0},
};
static const struct http_param recording_events_params[] = {EVENTS_PARAMS, {0}};

static const struct http_param any_params[] = {{.name = "*", .type = HTTP_TEXT}, {0}}; /* Grafana adds its own */
#define GRAFANA(name, summary, handle)                                                                                                     \
    { "POST", "/grafana/" name, ROLE_READ, any_params, summary, handle, body_begin, body_piece, NULL }

static const char *const backup_blobs[] = {"none", "link", "copy", NULL};
static const struct http_param backup_params[] = {
    {.name = "blobs",
     .type = HTTP_CHOICE,
     .choices = backup_blobs,
     .help = "the stored files too: link (the same disk) or copy; usually none"},
    {0},
};
static const struct http_param scrub_params[] = {
    {.name = "rate", .type = HTTP_UINT, .help = "MB a second, usually 50"},
    {.name = "restart", .type = HTTP_BOOL, .help = "from the first file, not where the last one was stopped"},
    {0},
};

const struct http_route api_routes[] = {
    {"GET", "/healthz", ROLE_NONE, no_params, "The process answers", api_health, NULL, NULL, NULL},
    {"GET", "/readyz", ROLE_NONE, no_params, "Catalog and store answer", api_ready, NULL, NULL, NULL},
    {"GET", "/metrics", ROLE_READ, no_params, "Figures for Prometheus", api_metrics, NULL, NULL, NULL},
    {"GET", "/problems/{slug}", ROLE_NONE, no_params, "What a problem type means", api_problem, NULL, NULL, NULL},
    {"GET", "/", ROLE_NONE, any_params, "The page for who prefers HTML, or the service document", api_root, NULL, NULL, NULL},
    {"GET", "/assets/{name}", ROLE_NONE, no_params, "A file of the page", api_page_asset, NULL, NULL, NULL},
    {"GET", "/upload", ROLE_NONE, any_params, "The page", api_page, NULL, NULL, NULL},
    {"GET", "/recordings/{path...}", ROLE_NONE, any_params, "The page", api_page, NULL, NULL, NULL},
    {"GET", "/admin", ROLE_NONE, any_params, "The page", api_page, NULL, NULL, NULL},
    {"GET", "/docs", ROLE_NONE, any_params, "The page: this API for people", api_page, NULL, NULL, NULL},
    {"GET", "/openapi.json", ROLE_NONE, no_params, "This API for programs, in OpenAPI 3.1", api_openapi, NULL, NULL, NULL},
    {"GET", "/admin/{path...}", ROLE_NONE, any_params, "The page", api_page, NULL, NULL, NULL},
    {"GET", BASE, ROLE_READ, no_params, "The service document", api_service, NULL, NULL, NULL},
    {"GET", BASE "/recordings", ROLE_READ, list_params, "Search and list", api_recordings_list, NULL, NULL, NULL},
    {"POST", BASE "/recordings", ROLE_UPLOAD, upload_params, "Upload: the body is the file", api_upload_end, api_upload_begin,
     api_upload_piece, api_upload_aborted},
    {"PUT", BASE "/recordings/by-name/{collection}/{name...}", ROLE_UPLOAD, upload_params, "Upload under a name (curl -T file URL/)",
     api_upload_end, api_upload_begin, api_upload_piece, api_upload_aborted},
    {"GET", BASE "/recordings.tar", ROLE_READ, list_params, "The original files of a search as one archive", api_recordings_tar, NULL, NULL,
     NULL},
    {"OPTIONS", BASE "/uploads", ROLE_NONE, no_params, "What is understood of resumable uploads", api_uploads_options, NULL, NULL, NULL},
    {"POST", BASE "/uploads", ROLE_UPLOAD, upload_params, "A resumable upload begins (tus 1.0, or the IETF's draft)",
     api_uploads_create_end, api_uploads_create_begin, api_uploads_piece, api_uploads_aborted},
    {"OPTIONS", BASE "/uploads/{id}", ROLE_NONE, no_params, "What is understood of resumable uploads", api_uploads_options, NULL, NULL,
     NULL},
    {"GET", BASE "/uploads/{id}", ROLE_UPLOAD, no_params, "How far it is", api_uploads_get, NULL, NULL, NULL},
    {"PATCH", BASE "/uploads/{id}", ROLE_UPLOAD, no_params, "It goes on", api_uploads_end, api_uploads_append_begin, api_uploads_piece,
     api_uploads_aborted},
    {"POST", BASE "/uploads/{id}", ROLE_UPLOAD, no_params, "PATCH for clients that have none (X-HTTP-Method-Override)", api_uploads_end,
     api_uploads_append_begin, api_uploads_piece, api_uploads_aborted},
    {"DELETE", BASE "/uploads/{id}", ROLE_UPLOAD, no_params, "It ends, what came is dropped", api_uploads_delete, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}", ROLE_READ, no_params, "One recording with its topics", api_recording_get, NULL, NULL, NULL},
    {"PATCH", BASE "/recordings/{id}", ROLE_EDIT, no_params, "Merge patch: name, collection, description, epoch, custom, tags",
     api_recording_patch, body_begin, body_piece, NULL},
    {"DELETE", BASE "/recordings/{id}", ROLE_EDIT, delete_params, "To the trash", api_recording_delete, NULL, NULL, NULL},
    {"POST", BASE "/recordings/{id}/restore", ROLE_EDIT, no_params, "Out of the trash", api_recording_restore, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/tags/{key}", ROLE_READ, no_params, "A tag", api_tag_get, NULL, NULL, NULL},
    {"PUT", BASE "/recordings/{id}/tags/{key}", ROLE_EDIT, tag_params, "Set a tag", api_tag_put, body_begin, body_piece, NULL},
    {"DELETE", BASE "/recordings/{id}/tags/{key}", ROLE_EDIT, no_params, "Take a tag away", api_tag_delete, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/notes", ROLE_READ, page_params, "Notes", api_notes_list, NULL, NULL, NULL},
    {"POST", BASE "/recordings/{id}/notes", ROLE_EDIT, no_params, "Add a note: {text}", api_note_add, body_begin, body_piece, NULL},
    {"PATCH", BASE "/recordings/{id}/notes/{note}", ROLE_EDIT, no_params, "Change a note", api_note_change, body_begin, body_piece, NULL},
    {"DELETE", BASE "/recordings/{id}/notes/{note}", ROLE_EDIT, no_params, "Take a note away", api_note_delete, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/events", ROLE_READ, recording_events_params, "Its events, by its own times", api_events_list, NULL, NULL,
     NULL},
    {"GET", BASE "/recordings/{id}/topics", ROLE_READ, topics_params, "Topics and their channels", api_topics, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/coverage", ROLE_READ, coverage_params, "When each topic has messages", api_coverage, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/schemas/{sid}", ROLE_READ, no_params, "Text of a definition", api_schema, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/scan", ROLE_READ, no_params, "What the scan found damaged or unusual", api_scan, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/attachments", ROLE_READ, no_params, "Files that came inside the recording", api_attachments_list, NULL,
     NULL, NULL},
    {"GET", BASE "/recordings/{id}/attachments/{n}", ROLE_READ, no_params, "One of them, by its place in the list", api_attachment, NULL,
     NULL, NULL},
    {"GET", BASE "/recordings/{id}/metadata", ROLE_READ, no_params, "What the recording says of itself", api_metadata, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/messages", ROLE_READ, messages_params, "Messages in time order", api_messages, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/series", ROLE_READ, series_params, "Numbers over time, few enough to be drawn", api_series, NULL, NULL,
     NULL},
    {"GET", BASE "/recordings/{id}/plot.svg", ROLE_READ, plot_params, "Fields over time as a picture", api_plot, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/topics/fields", ROLE_READ, fields_params, "The fields of a topic", api_topic_fields, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/message", ROLE_READ, message_params, "One message", api_message, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/file/{name...}", ROLE_READ, no_params, "The original bytes", api_file, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/as/{name}", ROLE_READ, convert_params, "Converted to what the name ends in", api_convert, NULL, NULL,
     NULL},
    {"GET", BASE "/recordings/{id}/carla/info", ROLE_READ, carla_info_params, "What CARLA's show_recorder_file_info prints", api_carla_info,
     NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/carla/collisions", ROLE_READ, carla_collisions_params, "What show_recorder_collisions prints",
     api_carla_collisions, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/carla/blocked", ROLE_READ, carla_blocked_params, "What show_recorder_actors_blocked prints",
     api_carla_blocked, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/carla/actors", ROLE_READ, carla_actors_params, "Who was in a CARLA log", api_carla_actors, NULL, NULL,
     NULL},
    {"GET", BASE "/recordings/{id}/carla/actors/{actor}/trajectory", ROLE_READ, carla_trajectory_params,
     "Where one actor was, frame by frame", api_carla_trajectory, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/frame", ROLE_READ, frame_params, "An image message as JPEG or PNG", api_frame, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/bag/info", ROLE_READ, bag_info_params, "What rosbag info prints", api_bag_info, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/tide/channels", ROLE_READ, tide_channels_params,
     "Scope, source, types and rates of a TIDE file's channels", api_tide_channels, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/tide/introspection", ROLE_READ, tide_introspection_params,
     "Hosts, processes and participants that RSB's introspection told of", api_tide_introspection, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/nanover/frame", ROLE_READ, nanover_moment_params, "The whole NanoVer frame of a moment",
     api_nanover_frame, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/nanover/state", ROLE_READ, nanover_moment_params, "The whole shared state of a moment",
     api_nanover_state, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/nanover/state/changes", ROLE_READ, nanover_changes_params, "How the shared state changes, key by key",
     api_nanover_changes, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/nanover/resets", ROLE_READ, nanover_resets_params, "Where simulations begin anew", api_nanover_resets,
     NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/nanover/frames", ROLE_READ, nanover_rows_params,
     "Frame by frame its index, keys, particles and energies", api_nanover_frames, NULL, NULL, NULL},
    {"GET", BASE "/recordings/{id}/nanover/energies", ROLE_READ, nanover_rows_params, "Energies frame by frame", api_nanover_energies, NULL,
     NULL, NULL},
    {"GET", BASE "/series", ROLE_READ, series_across_params, "The same fields of several recordings over time", api_series_across, NULL,
     NULL, NULL},
    {"GET", "/grafana", ROLE_READ, any_params, "The address of Grafana's JSON data source", api_grafana, NULL, NULL, NULL},
    {"GET", "/grafana/", ROLE_READ, any_params, "The address of Grafana's JSON data source", api_grafana, NULL, NULL, NULL},
    GRAFANA("metrics", "Recordings to choose from", api_grafana_metrics),
    GRAFANA("metric-payload-options", "Numeric fields of one", api_grafana_payload_options),
    GRAFANA("query", "Numbers of panels", api_grafana_query),
    GRAFANA("variable", "Recordings, topics or fields as a dashboard's variable", api_grafana_variable),
    GRAFANA("search", "The targets of SimpleJSON", api_grafana_search),
    GRAFANA("tag-keys", "What ad hoc filters can set", api_grafana_tag_keys),
    GRAFANA("tag-values", "… and to what", api_grafana_tag_values),
    GRAFANA("annotations", "Events", api_grafana_annotations),
    {"GET", BASE "/recordings/{id}/layout.json", ROLE_READ, no_params, "A viewer's panels for it", api_layout, NULL, NULL, NULL},
    {"GET", BASE "/merge/as/{name}", ROLE_READ, merge_params, "Several recordings as one, by time", api_merge, NULL, NULL, NULL},
    {"GET", BASE "/tokens", ROLE_ADMIN, page_params, "Tokens, without their secrets", api_tokens_list, NULL, NULL, NULL},
    {"POST", BASE "/tokens", ROLE_ADMIN, no_params, "A new token; its secret is shown once", api_token_create, body_begin, body_piece,
     NULL},
    {"DELETE", BASE "/tokens/{id}", ROLE_ADMIN, no_params, "Revoke a token, by its number or name", api_token_revoke, NULL, NULL, NULL},
    {"POST", BASE "/links", ROLE_READ, no_params, "A signed link to a path", api_link_create, body_begin, body_piece, NULL},
    {"GET", BASE "/audit", ROLE_ADMIN, page_params, "Writes and denials, newest first", api_audit, NULL, NULL, NULL},
    {"GET", BASE "/tags", ROLE_READ, tags_params, "Keys of tags, with counts", api_tags_list, NULL, NULL, NULL},
    {"GET", BASE "/tags/{key}", ROLE_READ, tags_params, "Values of a key, with counts", api_tags_list, NULL, NULL, NULL},
    {"POST", BASE "/tags:batch", ROLE_EDIT, no_params, "Tags of many: {ids or q, set, unset}", api_tags_batch, body_begin, body_piece,
     NULL},
    {"GET", BASE "/events", ROLE_READ, events_params, "Events across recordings, in the order of the calendar", api_events_list, NULL, NULL,
     NULL},
    {"POST", BASE "/events", ROLE_EDIT, no_params, "Mark an interval: {recording, start, end, title, tags}", api_event_add, body_begin,
     body_piece, NULL},
    {"GET", BASE "/events/{event}", ROLE_READ, no_params, "One event", api_event_get, NULL, NULL, NULL},
    {"PATCH", BASE "/events/{event}", ROLE_EDIT, no_params, "Change an event", api_event_change, body_begin, body_piece, NULL},
    {"DELETE", BASE "/events/{event}", ROLE_EDIT, no_params, "Take an event away", api_event_delete, NULL, NULL, NULL},
    {"GET", BASE "/values", ROLE_READ, values_params, "What values there are, with counts", api_values, NULL, NULL, NULL},
    {"GET", BASE "/stats", ROLE_READ, stats_params, "Totals by format, collection, state and time", api_stats, NULL, NULL, NULL},
    {"GET", BASE "/coverage", ROLE_READ, coverage_across_params, "When there are recordings, on the calendar", api_coverage_across, NULL,
     NULL, NULL},
    {"GET", BASE "/collections", ROLE_READ, page_params, "Collections and what is in them", api_collections_list, NULL, NULL, NULL},
    {"GET", BASE "/collections/{name}", ROLE_READ, no_params, "One collection", api_collection_get, NULL, NULL, NULL},
    {"PATCH", BASE "/collections/{name}", ROLE_EDIT, no_params, "Describe a collection", api_collection_patch, body_begin, body_piece,
     NULL},
    {"POST", BASE "/imports", ROLE_EDIT, page_params,
     "Import files of the server's machine: {path, paths or glob, mode, dry_run, collection, tags, replace}", api_import, body_begin,
     body_piece, NULL},
    {"GET", BASE "/watches", ROLE_READ, no_params, "Watched folders", api_watches, NULL, NULL, NULL},
    {"GET", BASE "/failures", ROLE_READ, failures_params, "What could not be taken in, and why", api_failures, NULL, NULL, NULL},
    {"POST", BASE "/failures/{id}/retry", ROLE_EDIT, no_params, "Try that once more", api_failure_retry, NULL, NULL, NULL},
    {"DELETE", BASE "/failures/{id}", ROLE_EDIT, no_params, "Forget that", api_failure_forget, NULL, NULL, NULL},
    {"POST", BASE "/admin/rescan/{id}", ROLE_EDIT, no_params, "Scan it once more", api_rescan, NULL, NULL, NULL},
    {"POST", BASE "/admin/backup", ROLE_ADMIN, backup_params, "A backup, into the folder that is configured", api_backup, NULL, NULL, NULL},
    {"GET", BASE "/admin/backup/last", ROLE_ADMIN, no_params, "What the last backup made here holds", api_backup_last, NULL, NULL, NULL},
    {"POST", BASE "/admin/scrub", ROLE_ADMIN, scrub_params, "Read every stored file once more", api_scrub, NULL, NULL, NULL},
    {"GET", BASE "/admin/scrub/last", ROLE_ADMIN, no_params, "How far that is, and what is not what it was", api_scrub_last, NULL, NULL,
     NULL},
    {"GET", BASE "/changes", ROLE_READ, changes_params, "What has happened; with Accept: text/event-stream as it happens", api_changes,
     NULL, NULL, NULL},
    {"GET", BASE "/webhooks", ROLE_ADMIN, no_params, "Who is told of changes", api_webhooks_list, NULL, NULL, NULL},
    {"POST", BASE "/webhooks", ROLE_ADMIN, no_params, "Tell somebody: {url, events, collections, secret}", api_webhook_add, body_begin,
     body_piece, NULL},
    {"GET", BASE "/webhooks/{id}", ROLE_ADMIN, no_params, "One webhook and its last results", api_webhook_get, NULL, NULL, NULL},
    {"DELETE", BASE "/webhooks/{id}", ROLE_ADMIN, no_params, "Tell it no more", api_webhook_delete, NULL, NULL, NULL},
    {"GET", BASE "/admin/retention", ROLE_ADMIN, no_params, "Rules of retention, and quotas", api_retention_get, NULL, NULL, NULL},
    {"PUT", BASE "/admin/retention", ROLE_ADMIN, no_params, "Set them: {rules, quotas}", api_retention_put, body_begin, body_piece, NULL},
    {"POST", BASE "/admin/retention/run", ROLE_ADMIN, retention_params, "Apply the rules now, or list what they would take",
     api_retention_run, NULL, NULL, NULL},
    {"GET", BASE "/jobs", ROLE_READ, jobs_params, "Background work", api_jobs_list, NULL, NULL, NULL},
    {"GET", BASE "/jobs/{id}", ROLE_READ, no_params, "One job", api_job_get, NULL, NULL, NULL},
    {"DELETE", BASE "/jobs/{id}", ROLE_EDIT, no_params, "Cancel a job", api_job_cancel, NULL, NULL, NULL},
    {0},
};
