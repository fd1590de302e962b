/* The demonstration recordings, as `reel demo` writes them: the page uploads them into an empty archive. */
#include <string.h>

#include "api/service/service.h"
#include "base/cleanup.h"
#include "recordings/demo.h"

void api_demo(struct http_request *r) {
    struct reel_error err = {0};
    AUTO_MEM uint8_t *data = NULL;
    size_t size = 0;
    for (size_t i = 0; i < sizeof demos / sizeof *demos; i++) {
        if (strcmp(demos[i].name, http_segment(r, "name")) == 0) {
            if (demos[i].make(&data, &size, &err)) {
                http_reply_bytes(r, 200, "application/octet-stream", data, size);
            } else {
                http_reply_error(r, &err);
            }
            return;
        }
    }
    http_reply_problem(r, 404, "not-found", "there is no demonstration recording of this name");
}
