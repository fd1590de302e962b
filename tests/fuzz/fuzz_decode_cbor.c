/* Fuzzes CBOR: the input is the payload. */
#include "base/bytes.h"
#include "fuzz_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct reel_channel channel = {.name = "/a", .type = "", .encoding = "cbor"};
    return fuzz_decode_payload(&channel, bytes_of(data, size));
}
