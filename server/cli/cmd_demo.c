/* reel demo: writes small generated recordings. The bytes are the same each time. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/size_text.h"
#include "cli/cli.h"
#include "recordings/demo.h"

static bool write_demo(const char *folder, size_t number, bool replace, struct reel_error *err) {
    AUTO_MEM uint8_t *data = NULL;
    AUTO_MEM char *path = NULL;
    AUTO(output_file_done) struct output_file out = {.fd = -1};
    size_t size = 0;
    if (asprintf(&path, "%s/%s", folder, demos[number].name) < 0) {
        path = NULL;
        return reel_fail_memory(err);
    }
    if (!demos[number].make(&data, &size, err) || !cli_output_open(&out, path, replace, err) ||
        !cli_output_write(&out, data, size, err) || !output_file_finish(&out, err)) {
        return false;
    }
    char text[16];
    printf("%s  (%s)\n", path, size_text(size, text));
    return true;
}

static int run_demo(int argc, char **argv) {
    bool force = false;
    int first, code;
    struct reel_error err = {0};
    const struct cli_option options[] = {
        {.name = "force", .kind = CLI_FLAG, .to = &force, .help = "replace existing files"},
        {0},
    };
    if (!cli_options(&cli_demo, options, 1, argc, argv, &first, &code)) {
        return code;
    }
    if (argc - first > 1) {
        return cli_misused(&cli_demo, "expected one folder");
    }
    if (mkdir(argv[first], 0777) != 0 && errno != EEXIST) {
        reel_fail_errno(&err, "%s", argv[first]);
        return cli_fail(&cli_demo, NULL, &err);
    }
    for (size_t i = 0; i < sizeof demos / sizeof *demos; i++) {
        if (!write_demo(argv[first], i, force, &err)) {
            return cli_fail(&cli_demo, NULL, &err);
        }
    }
    return cli_flush(&err) ? CLI_DONE : cli_fail(&cli_demo, NULL, &err);
}

const struct cli_command cli_demo = {
    .name = "demo",
    .arguments = "DIR [--force]",
    .summary = "write small recordings to try Reel with",
    .details = "demo.bag: 20 s of a robot driving in a circle (ROS bag 1.2). demo.nanover.zip: 20 s of a simulated "
               "molecule and two users.",
    .run = run_demo,
};
