/* Fuzzes the reader of PX4 ULog files. */
#include "fuzz_scan.h"
#include "makers/tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_scan(data, size, &reel_format_ulog);
}
