/* Fuzzes Cap'n Proto messages and their schemas: u32 length, CodeGeneratorRequest, the rest is a payload of its struct
 * Root. */
#include "base/bytes.h"
#include "fuzz_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cursor c = cursor_of(bytes_of(data, size));
    struct reel_bytes definition = cursor_string32(&c), payload = bytes_of(c.at, cursor_left(&c));
    const struct reel_schema schema = {.name = "Root", .encoding = "capnproto", .hash = "", .data = definition};
    const struct reel_channel channel = {
        .name = "/a", .type = "Root", .encoding = "capnproto", .schemas = &schema, .n_schemas = 1};
    return c.failed ? 0 : fuzz_decode_payload(&channel, payload);
}
