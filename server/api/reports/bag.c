/* /bag/info: what `rosbag info` prints, or its topics as rows. */
#include <stdlib.h>

#include "api/answer.h"
#include "api/params.h"
#include "api/recording.h"
#include "api/table.h"
#include "formats/rosbag/info.h"

static void api_bag_info(struct http_request *r) {
    struct api_recording a;
    struct reel_error err = {0};
    struct reel_bag_question q = {0};
    http_param_bool(r, "yaml", &q.yaml);
    http_param_bool(r, "freq", &q.freq);
    int form = API_TABLE_TEXT;
    const char *media = q.yaml ? "application/yaml" : api_table_form(r, API_TABLE_TEXT, API_TABLE_TEXT, &form);
    if (!media || !api_open(r, &a)) {
        return;
    }
    if (form != API_TABLE_TEXT) {
        api_answer_once(r, a.recording, form, media, reel_bag_topics);
        api_recording_done(&a);
        return;
    }
    q.path = a.row.n_parts > 0 ? a.row.parts[0].file_name : a.row.name;
    char *text = reel_bag_info(a.recording, &q, &err);
    if (text) {
        http_reply_text(r, 200, media, text);
    } else {
        http_reply_error(r, &err);
    }
    free(text);
    api_recording_done(&a);
}

/* ---- the endpoints */

static const struct http_param bag_info_params[] = {
    {.name = "yaml", .type = HTTP_BOOL, .help = "Returns the output of rosbag info --yaml."},
    {.name = "freq", .type = HTTP_BOOL, .help = "Also returns the message rates, as rosbag info --freq."},
    PARAM_OUTPUT("text", "json", "csv", "ndjson", "parquet", "arrows"),
    {0},
};

const struct api_route api_routes_bag[] = {
    {.http = {"GET", BASE "/recordings/{id}/bag/info", ROLE_READ, bag_info_params, "Returns the output of rosbag info.",
              api_bag_info, NULL, NULL, NULL},
     .id = "getBagInfo",
     .tag = "ros and rsb",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.id = NULL},
};
