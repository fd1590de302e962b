/* Fuzzes the reader of files of rows. */
#include "formats/rows/container.h"
#include "fuzz_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_scan(data, size, &reel_format_rows);
}
