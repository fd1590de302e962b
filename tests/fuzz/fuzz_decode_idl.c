/* Fuzzes definitions in OMG IDL and messages in CDR by them. */
#include "fuzz_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const languages[] = {"ros2idl", "omgidl"};
    return fuzz_decode(data, size, "cdr", languages, 2);
}
