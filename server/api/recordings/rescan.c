/* Scans a recording again, as a job. */
#include "api/job_reply.h"
#include "api/recording.h"
#include "api/recordings/recordings.h"
#include "scans/scan_job.h"

void api_rescan(struct http_request *r) {
    struct api_recording a;
    struct reel_error err = {0};
    char id[JOB_ID_TEXT];
    if (!api_find(r, &a)) {
        return;
    }
    if (a.row.state == STATE_TRASHED) {
        http_reply_problem(r, 410, "trashed", "this recording is in the trash; POST …/restore brings it back");
    } else if (a.row.state == STATE_ANNOUNCED) {
        api_reply_announced(r, &a.row);
    } else if (scan_again(http_app(r), &a.row, id, &err)) {
        api_reply_job(r, id);
    } else {
        http_reply_error(r, &err);
    }
    api_recording_done(&a);
}
