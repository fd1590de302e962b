/* Endpoints of recordings and the catalog. */
#include "api/params.h"
#include "api/recordings/recordings.h"

#define PARAM_FOUND(help_text)                                                                                         \
    {.name = "where", .type = HTTP_TEXT, .repeats = true, .max = 16, .help = help_text}, {                             \
        .name = "for", .type = HTTP_DURATION, .help = "Only intervals of at least this length: 5s, 2m, …"            \
    }
static const struct http_param list_params[] = {
    PARAM_FILTERS,
    PARAM_FOUND("Only ready recordings in which this held, as in /search/values; those that are not answered yet are "
                "listed as pending."),
    PARAM_ROW_OUTPUT,
    PARAM_PAGE,
    {.name = "offset", .type = HTTP_UINT, .fallback = "0", .help = "The number of items to skip; cursor is faster."},
    {.name = "count",
     .type = HTTP_BOOL,
     .help = "Also returns the total; with filters it is counted up to 10000 (total_capped)."},
    {0},
};
static const struct http_param batch_params[] = {
    {.name = "dry_run", .type = HTTP_BOOL, .help = "Only returns what would change."},
    {0},
};
#define SEARCH_VALUES_PARAMS                                                                                           \
    PARAM_FOUND(                                                                                                       \
        "The condition: /battery.voltage<11, /a.x>1 and (/b.y=2 or /c.name=\"auto run\"); of several all must hold."), \
        {.name = "intervals",                                                                                          \
         .type = HTTP_UINT,                                                                                            \
         .min = 1,                                                                                                     \
         .max = 1000,                                                                                                  \
         .fallback = "100",                                                                                            \
         .help = "The number of intervals of a recording; all are counted."},                                          \
        PARAM_FILTERS, PARAM_ROW_OUTPUT, PARAM_PAGE
static const struct http_param search_values_params[] = {SEARCH_VALUES_PARAMS, {0}};
static const struct http_param save_values_params[] = {
    SEARCH_VALUES_PARAMS,
    {.name = "save_as",
     .type = HTTP_CHOICE,
     .choices = CHOICES("event"),
     .required = true,
     .help = "event: each interval becomes an event of its recording; one that is there already is not added again."},
    {.name = "title", .type = HTTP_TEXT, .help = "The title of the events; without it, the condition."},
    {0},
};
static const struct http_param delete_params[] = {
    {.name = "purge", .type = HTTP_BOOL, .help = "Deletes the recording permanently; this needs the role admin."},
    {0},
};
static const struct http_param values_params[] = {
    {.name = "field",
     .type = HTTP_TEXT,
     .required = true,
     .help = "The field: topic, type, format, collection, state, tag, tag:KEY or meta.KEY."},
    PARAM_PREFIX,
    PARAM_FILTERS,
    PARAM_ROW_OUTPUT,
    PARAM_PAGE,
    {0},
};
static const struct http_param stats_params[] = {
    {.name = "by",
     .type = HTTP_CHOICE,
     .choices = CHOICES("format", "collection", "state", "day", "month"),
     .help = "Only this table; without it, all tables but day."},
    PARAM_ROW_OUTPUT,
    {0},
};
static const struct http_param coverage_across_params[] = {
    {.name = "by",
     .type = HTTP_CHOICE,
     .choices = CHOICES("recording", "collection", "time"),
     .fallback = "recording",
     .help = "Whether to return each recording, the time spans of each collection, or the number of recordings in each "
             "bucket of time."},
    {.name = "bucket",
     .type = HTTP_TEXT,
     .help = "With by=time: the width of a bucket: week, month, year, or a duration such as 6h. Buckets without "
             "recordings are left out."},
    {.name = "utc_offset",
     .type = HTTP_INT,
     .fallback = "0",
     .help =
         "With by=time: the minutes by which the clock is ahead of UTC whose days, weeks and hours the buckets are."},
    {.name = "tolerance", .type = HTTP_DURATION, .help = "With by=collection: gaps up to this duration are closed."},
    PARAM_FILTERS,
    PARAM_ROW_OUTPUT,
    PARAM_PAGE,
    {0},
};

const struct api_route api_routes_recordings[] = {
    {.http = {"GET", BASE "/recordings", ROLE_READ, list_params, "Searches and lists recordings.", api_recordings_list,
              NULL, NULL, NULL},
     .id = "listRecordings",
     .tag = "recordings",
     .answers = "200" ERRORS_LIST},
    {.http = {"GET", BASE "/recordings/{id}", ROLE_READ, api_no_params,
              "Returns a recording with its annotations and topics.", api_recording_get, NULL, NULL, NULL},
     .id = "getRecording",
     .tag = "recordings",
     .detail =
         "Topics are included if the index is loaded; for a large recording, send Prefer: wait=N or request /topics.",
     .headers = "ifNoneMatch prefer",
     .answers = "200 304:NotModified" ERRORS_ONE},
    {.http = {"POST", BASE "/recordings:batch", ROLE_EDIT, batch_params,
              "Changes many recordings: moves, renames, tags, dates, trashes, restores or rescans them.",
              api_recordings_batch, JSON_BODY},
     .id = "changeRecordings",
     .tag = "recordings",
     .detail = "With dry_run nothing changes, and the response says what would. Otherwise it is a job, with a result "
               "for each recording in "
               "/jobs/{id}/results: one that fails does not stop the others.",
     .answers = "200 202:JobStarted" ERRORS_WRITE},
    {.http = {"PATCH", BASE "/recordings/{id}", ROLE_EDIT, api_no_params,
              "Changes name, collection, description, clock, epoch, custom fields or tags by a merge patch.",
              api_recording_patch, JSON_BODY},
     .id = "changeRecording",
     .tag = "recordings",
     .policy = {.if_match = true},
     .answers = "200" ERRORS_WRITE},
    {.http = {"DELETE", BASE "/recordings/{id}", ROLE_EDIT, delete_params,
              "Moves a recording to the trash, or deletes it permanently.", api_recording_delete, NULL, NULL, NULL},
     .id = "deleteRecording",
     .tag = "recordings",
     .policy = {.if_match = true},
     .answers = "204" ERRORS_WRITE},
    {.http = {"POST", BASE "/recordings/{id}/restore", ROLE_EDIT, api_no_params, "Restores a recording from the trash.",
              api_recording_restore, NULL, NULL, NULL},
     .id = "restoreRecording",
     .tag = "recordings",
     .answers = "200" ERRORS_WRITE},
    {.http = {"GET", BASE "/search/values", ROLE_READ, search_values_params,
              "Finds the recordings and intervals in which a condition on values of messages held.", api_search_values,
              NULL, NULL, NULL},
     .id = "searchValues",
     .tag = "catalog",
     .detail = "Answered from field statistics, which are made once for each recording; a recording without them may "
               "be listed as pending: "
               "ask again. The search goes on with next, also after a page without items.",
     .headers = "prefer",
     .answers = "200" ERRORS_LIST},
    {.http = {"POST", BASE "/search/values", ROLE_EDIT, save_values_params,
              "Saves the intervals in which a condition on values of messages held as events.", api_search_values_save,
              NULL, NULL, NULL},
     .id = "saveSearchValues",
     .tag = "catalog",
     .headers = "prefer",
     .answers = "200" ERRORS_WRITE " 406:NotAcceptable"},
    {.http = {"GET", BASE "/values", ROLE_READ, values_params,
              "Lists the values of a field of the catalog, with the number of recordings of each.", api_values, NULL,
              NULL, NULL},
     .id = "listValues",
     .tag = "catalog",
     .answers = "200" ERRORS_LIST},
    {.http = {"GET", BASE "/stats", ROLE_READ, stats_params, "Returns totals by format, collection, state and time.",
              api_stats, NULL, NULL, NULL},
     .id = "getStats",
     .tag = "catalog",
     .answers = "200" ERRORS_LIST},
    {.http = {"GET", BASE "/coverage", ROLE_READ, coverage_across_params, "Returns the calendar times of recordings.",
              api_coverage_across, NULL, NULL, NULL},
     .id = "getCoverageAcross",
     .tag = "catalog",
     .answers = "200" ERRORS_LIST},
    {.http = {"GET", BASE "/collections", ROLE_READ, api_page_params, "Lists the collections with their totals.",
              api_collections_list, NULL, NULL, NULL},
     .id = "listCollections",
     .tag = "catalog",
     .answers = "200" ERRORS_LIST},
    {.http = {"GET", BASE "/collections/{name}", ROLE_READ, api_no_params, "Returns a collection with its totals.",
              api_collection_get, NULL, NULL, NULL},
     .id = "getCollection",
     .tag = "catalog",
     .answers = "200" ERRORS_ONE},
    {.http = {"PATCH", BASE "/collections/{name}", ROLE_EDIT, api_no_params,
              "Changes the description or the name of a collection.", api_collection_patch, JSON_BODY},
     .id = "changeCollection",
     .tag = "catalog",
     .detail = "A new name needs the role admin: retention rules, quotas, tokens and webhooks that name the collection "
               "change with it.",
     .answers = "200" ERRORS_WRITE},
    {.http = {"POST", BASE "/admin/rescan/{id}", ROLE_EDIT, api_no_params, "Scans a recording again, as a job.",
              api_rescan, NULL, NULL, NULL},
     .id = "rescanRecording",
     .tag = "recordings",
     .answers = "202:JobStarted 410:Gone" ERRORS_WRITE},
    {.id = NULL},
};
