/* /bag/info: what `rosbag info` prints, or its topics as rows. */
#include <stdlib.h>

#include "api/answer.h"
#include "api/common.h"
#include "api/reports/reports.h"
#include "api/table.h"
#include "formats/rosbag/info.h"

void api_bag_info(struct http_request *r) {
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
