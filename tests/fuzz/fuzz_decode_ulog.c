/* Fuzzes messages of ULog and their definitions. */
#include "fuzz_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const languages[] = {"ros1msg"};
    return fuzz_decode(data, size, "ulog", languages, 1);
}
