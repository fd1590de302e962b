/* Fuzzes JSON payloads and JSON Schemas. */
#include "fuzz_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const languages[] = {"jsonschema"};
    return fuzz_decode(data, size, "json", languages, 1);
}
