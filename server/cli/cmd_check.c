/* reel check: reports damage in a file. Always scans the file itself; a kept index is not used. */
#include "api/views.h"
#include "cli/cli.h"
#include "wire/cleanup.h"

enum { CHECK_CLEAN = 0, CHECK_DAMAGED = 1, CHECK_UNREADABLE = 2 };

static void print_finding(const struct reel_finding *f) {
    char size[16];
    printf("  %-7s  at %llu", view_severity(f->severity), (unsigned long long)f->offset);
    if (f->length > 0) {
        printf(", %s", cli_size_text(f->length, size));
    }
    printf(": %s\n", f->text);
}

static int check(const char *path, struct reel_error *err) {
    AUTO(reel_recording_free) struct reel_recording *recording = cli_open(path, true, err);
    if (!recording) {
        return CHECK_UNREADABLE;
    }
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    size_t n;
    const struct reel_finding *findings = reel_index_findings(reel_recording_index(recording), &n);
    char size[16];
    printf("%s: %s, %llu message%s in %u channel%s, ", path, info->container[0] ? info->container : info->format->title,
           (unsigned long long)info->messages, info->messages == 1 ? "" : "s", info->n_channels, info->n_channels == 1 ? "" : "s");
    if (info->damaged) {
        printf("damaged: %s lost\n", info->lost_bytes > 0 ? cli_size_text(info->lost_bytes, size) : "data");
    } else {
        puts(info->n_findings_total > 0 ? "nothing lost" : "clean");
    }
    for (size_t i = 0; i < n; i++) {
        print_finding(&findings[i]);
    }
    if (info->n_findings_total > n) {
        printf("  … and %llu more\n", (unsigned long long)(info->n_findings_total - n));
    }
    return !cli_flush(err) ? CHECK_UNREADABLE : info->damaged ? CHECK_DAMAGED : CHECK_CLEAN;
}

static int run(int argc, char **argv) {
    int first, code, worst = CHECK_CLEAN;
    const struct cli_option options[] = {{0}};
    if (!cli_options(&cli_check, options, 1, argc, argv, &first, &code)) {
        return code;
    }
    cli_catch_interrupt();
    for (int i = first; i < argc; i++) {
        struct reel_error err = {0};
        code = check(argv[i], &err);
        if (code == CHECK_UNREADABLE) {
            cli_fail(&cli_check, cli_file_name(argv[i]), &err);
        }
        worst = code > worst ? code : worst;
    }
    return worst;
}

const struct cli_command cli_check = {
    .name = "check",
    .arguments = "FILE…",
    .summary = "report damage in recordings",
    .details = "Exit status: 0 if nothing is lost, 1 if a file is damaged, 2 if a file cannot be read at all.",
    .run = run,
};
