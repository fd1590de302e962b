/* CARLA's packets as values. */
#include "carla_scan.h"
#include "decode_sample.h"

int main(void) {
    MAKER m = make_world(&make_styles[6], 4);
    RECORDING *r = carla_read(&m);
    struct reel_selection all = REEL_SELECT_ALL;
    struct reel_error err = {0};
    struct reel_message msg;
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &all, &err);
    while (reel_stream_next(s, &msg, &err) == REEL_STEP_MESSAGE) {
        struct bytes b;
        reel_stream_payload(s, &msg, &b, &err);
        printf("%s %s\n", s->channels[msg.channel]->name, decode_text(s->channels[msg.channel], b));
    }
    for (uint32_t i = 0; i < s->n_channels; i++) printf("%s: %s", s->channels[i]->name, decode_fields(s->channels[i]));
}
