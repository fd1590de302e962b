/* Fuzzes messages of ROS 2 and their definitions in both languages. */
#include "fuzz_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const languages[] = {"ros2msg", "ros2idl"};
    return fuzz_decode(data, size, "cdr", languages, 2);
}
