/* Fuzzes what finds out the format of an uploaded file. u8: how much of the file the probes get to see; u8: its name;
 * the rest is the file. */
#include "fuzz_scan.h"
#include "index/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"x",         "x.mcap", "x.bag",         "x.db3",        "x.log",   "x.rec",
                                    "x.tape",    "x.tide", "x.nanover.zip", "x.traj",       "x.state", "x.ndjson",
                                    "x.msgpack", "x.tar",  "x.zip",         "metadata.yaml"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) {
        return 0;
    }
    struct reel_error err = {0};
    struct reel_bytes file = bytes_of(data + 2, size - 2);
    AUTO(reel_source_free)
    struct reel_source *source = reel_source_from_memory(file, names[data[1] % (sizeof names / sizeof *names)], &err);
    fuzz_expect(source != NULL, "make the source", &err);
    const struct reel_format *format = reel_format_probe(source, &err);
    fuzz_expect((format != NULL) == (err.code == REEL_OK), "a file of no known format says so", &err);
    for (size_t i = 0; reel_formats[i]; i++) {
        fuzz_probe(reel_formats[i], source, bytes_of(file.data, file.size * data[0] / 255));
    }
    return 0;
}
