/* reel dataset: lists the datasets of a server, previews one, and downloads its files: checked by their SHA-256, and
 * only what is missing. */
#include <jansson.h>
#include <string.h>
#include <time.h>

#include "base/c_locale.h"
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/download.h"
#include "recordings/names.h"

struct dataset {
    struct download d;
    const char *name, *search;
    uint64_t fps;
};

static void dataset_done(struct dataset *s) {
    download_done(&s->d);
}

/* ---- requests */

/* download_json(); asks again while a dataset is being planned. */
static json_t *ask(struct dataset *s, const char *url, const char *body, struct reel_error *err) {
    while (true) {
        json_t *json = download_json(&s->d, url, body, err);
        if (json || s->d.answer.status != 503 || cli_interrupted()) {
            return json;
        }
        *err = (struct reel_error){0};
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    }
}

/* The address of BASE/NAME/REST; malloc'd, NULL with err. `base` is below the server's root. */
static char *address(struct dataset *s, const char *base, const char *name, const char *rest, struct reel_error *err) {
    static const char api[] = "/api/v1";
    AUTO_MEM char *escaped = push_http_escape(s->d.http, name);
    char *text = NULL;
    int root = (int)(strlen(s->d.api) - (sizeof api - 1));
    if (!escaped || asprintf(&text, "%.*s%s/%s%s", root, s->d.api, base, escaped, rest) < 0) {
        reel_fail_memory(err);
        return NULL;
    }
    return text;
}

static const char *text_of(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* ---- list */

static void print_names(const json_t *object) {
    const char *name, *before = "";
    json_t *value;
    json_object_foreach((json_t *)object, name, value) {
        printf("%s%s", before, name);
        before = ", ";
    }
}

static bool list(struct dataset *s, struct reel_error *err) {
    AUTO_MEM char *url = NULL;
    if (asprintf(&url, "%s/datasets", s->d.api) < 0) {
        return reel_fail_memory(err);
    }
    json_auto_t *body = ask(s, url, NULL, err);
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(body, "items"), i, item) {
        const json_t *value = json_object_get(item, "value");
        printf("%s\t%lld fps\t", text_of(item, "name"), (long long)json_integer_value(json_object_get(value, "fps")));
        print_names(json_object_get(value, "features"));
        putchar('\n');
    }
    return body;
}

/* ---- preview */

static void print_dropped(const json_t *dropped) {
    const char *why, *before = "; dropped: ";
    json_t *n;
    json_object_foreach((json_t *)dropped, why, n) {
        if (json_integer_value(n) > 0) {
            printf("%s%s %lld", before, why, (long long)json_integer_value(n));
            before = ", ";
        }
    }
}

static void print_ages(const json_t *ages) {
    C_LOCALE;
    const char *source;
    json_t *age;
    json_object_foreach((json_t *)ages, source, age) {
        printf("  %-40s age: median %.3f s, 99%% %.3f s, largest %.3f s\n", source,
               json_number_value(json_object_get(age, "median_s")), json_number_value(json_object_get(age, "p99_s")),
               json_number_value(json_object_get(age, "max_s")));
    }
}

static void print_episode(const json_t *e) {
    const char *problem = text_of(e, "problem");
    if (*problem) {
        printf("left out: %s: %s\n", text_of(e, "name"), problem);
        return;
    }
    printf("episode %lld: %s: %lld frames, task: %s", (long long)json_integer_value(json_object_get(e, "episode")),
           text_of(e, "name"), (long long)json_integer_value(json_object_get(e, "frames")), text_of(e, "task"));
    print_dropped(json_object_get(e, "dropped"));
    putchar('\n');
    print_ages(json_object_get(e, "ages"));
}

static void print_report(const json_t *report) {
    const json_t *proposed = json_object_get(report, "proposed");
    size_t i;
    json_t *episode;
    if (proposed) {
        printf("proposed: ");
        json_dumpf(proposed, stdout, JSON_INDENT(2));
        putchar('\n');
    }
    printf("%lld episodes, %lld frames at %lld fps\nfeatures: ",
           (long long)json_integer_value(json_object_get(report, "total_episodes")),
           (long long)json_integer_value(json_object_get(report, "total_frames")),
           (long long)json_integer_value(json_object_get(report, "fps")));
    print_names(json_object_get(report, "features"));
    putchar('\n');
    json_array_foreach(json_object_get(report, "episodes"), i, episode) {
        print_episode(episode);
    }
}

/* Of what --search finds, with the features that the server proposes. */
static json_t *ask_preview(struct dataset *s, struct reel_error *err) {
    AUTO_MEM char *url = NULL;
    json_auto_t *body = json_pack("{s:{s:{s:s}}}", "value", "search", "q", s->search);
    if (s->fps > 0) {
        json_object_set_new(json_object_get(body, "value"), "fps", json_integer((json_int_t)s->fps));
    }
    AUTO_MEM char *text = json_dumps(body, JSON_COMPACT);
    if (!text || asprintf(&url, "%s/datasets:preview", s->d.api) < 0) {
        reel_fail_memory(err);
        return NULL;
    }
    return ask(s, url, text, err);
}

static bool preview(struct dataset *s, struct reel_error *err) {
    AUTO_MEM char *url = s->search ? NULL : address(s, "/api/v1/datasets", s->name, "?report", err);
    json_auto_t *report = s->search ? ask_preview(s, err) : url ? ask(s, url, NULL, err) : NULL;
    if (report) {
        print_report(report);
    }
    return report;
}

/* ---- get */

static bool get_file(struct dataset *s, const char *sha, const json_t *file, struct reel_error *err) {
    const char *name = text_of(file, "rfilename");
    AUTO_MEM char *path = NULL;
    AUTO_MEM char *rest = NULL;
    if (!names_check("x", name, err)) {
        return reel_fail(err, REEL_ARGUMENT, "a name that cannot be a path");
    }
    AUTO_MEM char *escaped = push_http_escape(s->d.http, name);
    if (!escaped || asprintf(&rest, "/resolve/%s/%s", sha, escaped) < 0 ||
        asprintf(&path, "%s/%s", s->d.folder, name) < 0) {
        return reel_fail_memory(err);
    }
    AUTO_MEM char *url = address(s, "/hf/datasets", s->name, rest, err);
    return url && download_file(&s->d, path, url, text_of(json_object_get(file, "lfs"), "sha256"),
                                (uint64_t)json_integer_value(json_object_get(file, "size")), err);
}

static bool get_files(struct dataset *s, struct reel_error *err) {
    AUTO_MEM char *url = address(s, "/hf/api/datasets", s->name, "/revision/main?blobs=true", err);
    json_auto_t *info = url ? ask(s, url, NULL, err) : NULL;
    const json_t *files = json_object_get(info, "siblings");
    size_t i;
    json_t *file;
    json_array_foreach((json_t *)files, i, file) {
        struct reel_error why = {0};
        if (get_file(s, text_of(info, "sha"), file, &why)) {
            continue;
        }
        cli_fail(&cli_dataset, text_of(file, "rfilename"), &why);
        s->d.failed++;
        if (why.code == REEL_CANCELLED || why.code == REEL_NO_SPACE || s->d.answer.status == 404) {
            return reel_fail(err, REEL_CANCELLED, "stopped; run it again to continue");
        }
    }
    return info;
}

static bool get(struct dataset *s, struct reel_error *err) {
    bool good = download_folder(&s->d, err) && get_files(s, err);
    fprintf(stderr, "%u received, %u skipped, %u failed\n", s->d.received, s->d.skipped, s->d.failed);
    return good;
}

/* ---- */

static const struct {
    const char *name;
    int arguments; /* after the name of the action */
    bool (*run)(struct dataset *s, struct reel_error *err);
} actions[] = {{"list", 1, list}, {"preview", 2, preview}, {"get", 3, get}};

static int run_dataset(int argc, char **argv) {
    AUTO_STRUCT(dataset_done) struct dataset s = {0};
    struct reel_error err = {0};
    const char *token_file = NULL;
    int first, code;
    const struct cli_option options[] = {
        {.name = "search",
         .kind = CLI_TEXT,
         .to = &s.search,
         .value = "Q",
         .help = "preview: what a search finds, with features that the server proposes, in place of NAME"},
        {.name = "fps", .kind = CLI_UINT, .to = &s.fps, .value = "N", .most = 1000, .help = "preview: with --search"},
        {.name = "token-file",
         .kind = CLI_TEXT,
         .to = &token_file,
         .value = "FILE",
         .help = "file with the token; without it, REEL_TOKEN"},
        {0},
    };
    if (!cli_options(&cli_dataset, options, 2, argc, argv, &first, &code)) {
        return code;
    }
    size_t i = 0;
    while (i < sizeof actions / sizeof *actions && strcmp(argv[first], actions[i].name) != 0) {
        i++;
    }
    if (i == sizeof actions / sizeof *actions || argc - first - 1 != actions[i].arguments - (s.search ? 1 : 0)) {
        return cli_misused(&cli_dataset, "give list URL, preview URL NAME, or get URL NAME FOLDER");
    }
    s.name = argc - first > 2 ? argv[first + 2] : "";
    s.d.folder = argc - first > 3 ? argv[first + 3] : "";
    cli_catch_interrupt();
    bool good = download_open(&s.d, token_file, argv[first + 1], &err) && actions[i].run(&s, &err) && cli_flush(&err);
    if (!good) {
        return cli_fail(&cli_dataset, NULL, &err);
    }
    return s.d.failed == 0 ? CLI_DONE : CLI_FAILED;
}

const struct cli_command cli_dataset = {
    .name = "dataset",
    .arguments = "list|preview|get URL [NAME [FOLDER]] [OPTION]…",
    .summary = "list, preview and download training sets of a server",
    .details = "list prints the datasets, preview what one has and what was dropped and why. get writes the files of "
               "one, as LeRobot v3\n"
               "reads them, below FOLDER, and checks them by their SHA-256. Run it again to continue: what is there "
               "is skipped, and a file\n"
               "that was received in part goes on where it ended. The token is in the environment variable "
               "REEL_TOKEN.",
    .run = run_dataset,
};
