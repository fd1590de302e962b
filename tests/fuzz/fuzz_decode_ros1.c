/* Fuzzes messages of ROS 1 and their definitions. */
#include "fuzz_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const languages[] = {"ros1msg"};
    return fuzz_decode(data, size, "ros1", languages, 1);
}
