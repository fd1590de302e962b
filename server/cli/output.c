/* Output files (base/output_file.h), with what the command line adds. */
#include "cli/cli.h"

bool cli_output_open(struct output_file *o, const char *path, bool replace, struct reel_error *err) {
    return output_file_open(o, path, replace, err) ||
           (err->code == REEL_CONFLICT ? reel_fail(err, REEL_CONFLICT, "%s; --force replaces it", err->text) : false);
}

bool cli_output_write(void *output_file, const void *data, size_t size, struct reel_error *err) {
    return cli_interrupted() ? reel_fail(err, REEL_CANCELLED, "interrupted")
                             : output_file_write(output_file, data, size, err);
}
