/* /bag/info: what `rosbag info` prints. */
#include <stdlib.h>

#include "api/common.h"
#include "api/routes.h"
#include "reel/rosbag_info.h"

void api_bag_info(struct http_request *r) {
    struct api_recording a;
    struct reel_error err = {0};
    struct reel_bag_question q = {0};
    http_param_bool(r, "yaml", &q.yaml);
    http_param_bool(r, "freq", &q.freq);
    if (!api_open(r, &a)) {
        return;
    }
    q.path = a.row.n_parts > 0 ? a.row.parts[0].file_name : a.row.name;
    char *text = reel_bag_info(a.recording, &q, &err);
    if (text) {
        http_reply_text(r, 200, q.yaml ? "application/yaml" : "text/plain; charset=utf-8", text);
    } else {
        http_reply_error(r, &err);
    }
    free(text);
    api_recording_done(&a);
}
