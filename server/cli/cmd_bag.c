/* reel bag: the output of ROS's `rosbag info`, without ROS. */
#include <string.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "formats/rosbag/info.h"

static bool bag_print(const struct cli_files *files, struct reel_bag_question q, struct reel_error *err) {
    q.path = files->n == 1 ? files->paths[0] : files->name;
    AUTO(reel_recording_free) struct reel_recording *recording = cli_open_files(files, false, err);
    AUTO_MEM char *text = recording ? reel_bag_info(recording, &q, err) : NULL;
    return text && (fputs(text, stdout) >= 0 || reel_fail_errno(err, "could not write")) && cli_flush(err);
}

static int run_bag(int argc, char **argv) {
    struct reel_bag_question q = {0};
    int first, code;
    const struct cli_option options[] = {
        {.name = "yaml", .kind = CLI_FLAG, .to = &q.yaml, .help = "print YAML, as `rosbag info --yaml`"},
        {.name = "freq",
         .kind = CLI_FLAG,
         .to = &q.freq,
         .help = "print message rates, as `rosbag info --freq`; here also for bag version 2.0"},
        {0},
    };
    if (!cli_options(&cli_bag, options, 2, argc, argv, &first, &code)) {
        return code;
    }
    if (strcmp(argv[first], "info") != 0) {
        return cli_misused(&cli_bag, "unknown subcommand \"%s\"; the only one is info", argv[first]);
    }
    cli_catch_interrupt();
    struct reel_error err = {0};
    AUTO_STRUCT(cli_recordings_done) struct cli_recordings all = {.n = 0};
    const struct cli_gather_options gather = {.deep = true};
    if (!cli_gather(argv + first + 1, (uint32_t)(argc - first - 1), &gather, &all, &err)) {
        return cli_fail(&cli_bag, NULL, &err);
    }
    for (uint32_t i = 0; i < all.n; i++) {
        if (!bag_print(&all.items[i], q, &err)) {
            cli_forget_files(&all.items[i], &err);
            return cli_fail(&cli_bag, all.items[i].name, &err);
        }
        fputs(i + 1 < all.n ? "---\n" : "", stdout);
    }
    return CLI_DONE;
}

const struct cli_command cli_bag = {
    .name = "bag",
    .arguments = "info FILE… [OPTION]…",
    .summary = "print what `rosbag info` prints",
    .details = "For bags that rosbag can read, the output is byte for byte the same. Other bags and ROS recordings are "
               "printed in the same form.",
    .run = run_bag,
};
