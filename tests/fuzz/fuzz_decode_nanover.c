/* Fuzzes messages of NanoVer in both forms: u8 which, the rest is the message. */
#include "base/bytes.h"
#include "fuzz_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct reel_channel channels[] = {
        {.name = "frame", .type = "nanover/frame+state", .encoding = "nanover"},
        {.name = "frame", .type = "GetFrameResponse", .encoding = "nanover-protobuf"},
        {.name = "state", .type = "StateUpdate", .encoding = "nanover-protobuf"},
    };
    return size == 0 ? 0 : fuzz_decode_payload(&channels[data[0] % 3], bytes_of(data + 1, size - 1));
}
