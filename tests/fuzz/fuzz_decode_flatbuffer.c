/* Fuzzes FlatBuffers and their schemas: u32 length, binary schema, the rest is a payload of its table demo.Root, or of
 * the schema's own root. */
#include "base/bytes.h"
#include "fuzz_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cursor c = cursor_of(bytes_of(data, size));
    struct reel_bytes definition = cursor_string32(&c), payload = bytes_of(c.at, cursor_left(&c));
    const char *name = definition.size % 2 ? "" : "demo.Root";
    const struct reel_schema schema = {.name = name, .encoding = "flatbuffer", .hash = "", .data = definition};
    const struct reel_channel channel = {
        .name = "/a", .type = name, .encoding = "flatbuffer", .schemas = &schema, .n_schemas = 1};
    return c.failed ? 0 : fuzz_decode_payload(&channel, payload);
}
