/* reel serve: runs the server until SIGTERM or SIGINT. Both signals are blocked in every thread and waited for here:
 * stopping is an ordinary return that drains running requests and closes everything in order. */
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "access/access.h"
#include "access/local.h"
#include "api/routes.h"
#include "api/service/service.h"
#include "api/tree/s3.h"
#include "app.h"
#include "base/cleanup.h"
#include "catalog/location.h"
#include "catalog/maintenance.h"
#include "cli/cli.h"
#include "cli/systemd.h"
#include "imports/import.h"
#include "log_queue.h"
#include "store/tokens_record.h"

enum { MB = 1000000 };

static void block_signals(sigset_t *stop) {
    sigemptyset(stop);
    sigaddset(stop, SIGINT);
    sigaddset(stop, SIGTERM);
    sigaddset(stop, SIGHUP);
    pthread_sigmask(SIG_BLOCK, stop, NULL); /* before the first thread: all threads inherit the mask */
    signal(SIGPIPE, SIG_IGN);
}

static void reload_certificate(const struct app *app) {
    struct reel_error err = {0};
    bool good = http_server_reload(app->http, &err);
    log_queue_printf(app->log, good ? "reel: read the certificate again" : "reel: the certificate in use stays: %s",
                     err.text);
}

/* While waiting, systemd is notified as long as the catalog answers. SIGHUP stops a server without TLS, as a closed
 * terminal should. A second signal ends the process at once, without draining. */
static void wait_for_stop(const struct app *app, const sigset_t *stop) {
    int64_t every_ns = systemd_alive_every_ns();
    const struct timespec timeout = {.tv_sec = every_ns / 1000000000, .tv_nsec = every_ns % 1000000000};
    for (int got = 0; got <= 0;) {
        got = every_ns > 0 ? sigtimedwait(stop, NULL, &timeout) : sigwaitinfo(stop, NULL);
        if (got == SIGHUP && http_server_is_tls(app->http)) {
            reload_certificate(app);
            got = 0;
        }
        if (every_ns > 0 && catalog_ready(app->catalog)) {
            systemd_alive();
        }
    }
    systemd_stopping();
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, stop, NULL);
}

/* The output of a service goes into logs that others may read: there the token is written to a file of its owner's
 * instead. */
static bool report_first_token(const char *data, const char *token, struct reel_error *err) {
    char path[PATH_MAX];
    bool shown = isatty(STDOUT_FILENO);
    printf("Other machines can reach this server, so requests need a token. ");
    if (shown) {
        printf("Admin token (not shown again):\n%s\n", token);
        return true;
    }
    if (snprintf(path, sizeof path, "%s/first-token", data) >= (int)sizeof path) {
        return reel_fail(err, REEL_ARGUMENT, "the data folder's path is too long");
    }
    (void)unlink(path);
    AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || dprintf(fd, "%s\n", token) < 0 || fsync(fd) != 0) {
        return reel_fail_errno(
            err, "the first token could not be written to %s; run: reel token create --role admin --name admin", path);
    }
    printf("The first admin token is in %s; delete the file once you have it.\n", path);
    return true;
}

static void report_lost_tokens(const char *data) {
    fprintf(
        stderr,
        "reel: this archive has had tokens, but its catalog has none: it was lost, rebuilt or replaced. Requests are "
        "refused until you create one on this machine: reel token create --role admin --name admin --data %s\n",
        data);
}

/* Where others can reach the server, tokens are required: the first start creates one. Not the first start after the
 * tokens were lost: whoever runs the server has to know that they are. */
static bool create_first_token(struct app *app, struct reel_error *err) {
    const struct app_config *c = &app->config;
    const struct token_archive archive = {.data = c->data, .store = app->store, .catalog = app->catalog};
    enum tokens_state state;
    char token[TOKEN_TEXT];
    if (c->insecure_open) {
        return true;
    }
    if (!tokens_state(&archive, &state, err)) {
        return false;
    }
    if (state == TOKENS_LOST) {
        report_lost_tokens(c->data);
    }
    if (state != TOKENS_NEVER || local_is_server(c)) {
        return true;
    }
    struct reel_error why = {0};
    if (!access_first_token(&archive, token, &why)) {
        return why.code == REEL_CONFLICT || reel_error_pass(err, &why); /* another server has just created it */
    }
    return report_first_token(c->data, token, err);
}

/* What --check-config knows without opening the store. A catalog that cannot be read is reported at the start. */
static void check_tokens(const char *data) {
    char path[PATH_MAX];
    struct reel_error err = {0};
    bool recorded = false, exist = false;
    if (!tokens_record_exists(data, NULL, &recorded, &err) || !recorded || !catalog_location(data, path, &err)) {
        return;
    }
    struct catalog *c = catalog_open_readonly(path, &err);
    if (c ? catalog_tokens_exist(c, &exist, &err) && !exist : err.code == REEL_NOT_FOUND) {
        report_lost_tokens(data);
    }
    catalog_close(c);
}

/* Each connection is a file descriptor, and the soft limit is often 1024. */
static void raise_file_limit(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files); /* raising it to the hard limit cannot fail */
    }
}

/* By default glibc keeps freed blocks of up to 32 MB in the heap of every thread: 200 requests of 4 MB each held 0.9
 * GB. */
static void return_large_blocks(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

static int serve(struct app_config *config) {
    struct app app = {0};
    struct reel_error err = {0};
    char address[SYSTEMD_ADDRESS_ROOM];
    sigset_t stop;
    if (!systemd_socket(&config->listen_fd, address, &err)) {
        return cli_fail(&cli_serve, NULL, &err);
    }
    config->listen = config->listen_fd > 0 ? address : config->listen;
    block_signals(&stop);
    raise_file_limit();
    return_large_blocks();
    int code = CLI_FAILED;
    if (catalog_set_location(config->data, config->catalog, &err) && app_open(&app, config, &err) &&
        create_first_token(&app, &err) &&
        app_serve(&app, api_routes(), api_policies(), api_hint, api_page_unknown, &api_s3, &err)) {
        printf("listening on %s\n", http_server_url(app.http));
        fflush(stdout);
        systemd_ready();
        wait_for_stop(&app, &stop);
        code = CLI_DONE;
    }
    if (code != CLI_DONE) {
        cli_fail(&cli_serve, NULL, &err);
    }
    app_close(&app);
    return code;
}

/* ---- options */

#define MB_MAX (UINT64_MAX / MB)
enum { DAY_S = 86400 };

static const char *const log_formats[] = {"logfmt", "json", NULL}; /* LOG_LOGFMT, LOG_JSON */

static void config_done(struct app_config *config) {
#define TEXT(...)
#define LIST(member, ...) reel_auto_option_list_done(&config->member);
#define FLAG(...)
#define CHOICE(...)
#define NUMBER(...)
#define DURATION(...)
#include "serve_options.inc"
#undef TEXT
#undef LIST
#undef FLAG
#undef CHOICE
#undef NUMBER
#undef DURATION
}

/* clang-format off */
#define TEXT(member, name_, value_, initial_, help_) \
    {.name = name_, .kind = CLI_TEXT, .to = &config.member, .value = value_, .initial = initial_, .help = help_},
#define LIST(member, name_, value_, help_) {.name = name_, .kind = CLI_LIST, .to = &config.member, .value = value_, .help = help_},
#define FLAG(member, name_, help_) {.name = name_, .kind = CLI_FLAG, .to = &config.member, .help = help_},
#define CHOICE(member, name_, value_, choices_, initial_, help_) \
    {.name = name_, .kind = CLI_CHOICE, .to = &config.member, .value = value_, .choices = choices_, .initial = initial_, .help = help_},
#define NUMBER(type, member, name_, value_, initial_, unit_, least_, most_, help_) \
    {.name = name_, .kind = CLI_UINT, .to = &config.member, .narrow = sizeof(type) == sizeof(unsigned), .value = value_, \
     .initial = initial_, .unit = unit_, .least = least_, .most = most_, .help = help_},
#define DURATION(member, name_, initial_, least_, most_, help_) \
    {.name = name_, .kind = CLI_DURATION, .to = &config.member, .narrow = true, .value = "DURATION", \
     .initial = initial_, .least = least_, .most = most_, .help = help_},
/* clang-format on */

static bool is_web_address(const char *text) {
    const char *host = strncmp(text, "http://", 7) == 0 ? text + 7 : strncmp(text, "https://", 8) == 0 ? text + 8 : "";
    return *host && *host != '/';
}

/* Its host goes into the page's Content-Security-Policy. */
static bool is_tile_address(const char *text) {
    const char *host = is_web_address(text) ? strstr(text, "://") + 3 : "", *path = strchr(host, '/');
    return path &&
           strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]") ==
               (size_t)(path - host) &&
           strstr(path, "{z}") && strstr(path, "{x}") && strstr(path, "{y}") && !strpbrk(path, " \"'<>\\");
}

static int run_serve(int argc, char **argv) {
    AUTO_STRUCT(config_done) struct app_config config = {0};
    AUTO_STRUCT(cli_sources_done) struct cli_sources sources = {.config = &config.config};
    struct reel_error err = {0};
    char prefix[HTTP_PREFIX];
    int first, code;
    const struct cli_option options[] = {
#include "serve_options.inc"
        {0},
    };
    if (!cli_settings(&cli_serve, options, &sources, argc, argv, &first, &code)) {
        return code;
    }
    if (first < argc) {
        return cli_misused(&cli_serve, "unexpected argument \"%s\"", argv[first]);
    }
    if (config.viewer && !is_web_address(config.viewer)) {
        return cli_misused(&cli_serve, "--viewer must begin with http:// or https://");
    }
    if (config.viewer_mol && !is_web_address(config.viewer_mol)) {
        return cli_misused(&cli_serve, "--viewer-mol must begin with http:// or https://");
    }
    if (config.public_url && (!is_web_address(config.public_url) || strpbrk(config.public_url, "?# "))) {
        return cli_misused(&cli_serve, "--public-url must be like https://archive.example, without a query");
    }
    if (!http_prefix_read(config.public_url, api_routes(), prefix, &err)) {
        return cli_misused(&cli_serve, "%s", err.text);
    }
    if (config.map_tiles && !is_tile_address(config.map_tiles)) {
        return cli_misused(&cli_serve, "--map-tiles must be like https://tiles.example/{z}/{x}/{y}.png");
    }
    if (config.peer_address &&
        (!is_web_address(config.peer_address) || strpbrk(strstr(config.peer_address, "://") + 3, "/?#@ "))) {
        return cli_misused(&cli_serve, "--peer-address must be like http://10.0.0.5:8040, without a path");
    }
    if (!config.tls_cert != !config.tls_key) {
        return cli_misused(&cli_serve, "--tls-cert and --tls-key need each other");
    }
    if (config.check_config) {
        cli_print_settings(&cli_serve, options, &sources);
        if (!cli_print_pending(config.data, "# ", &err)) {
            printf("# catalog: %s\n", err.text);
        }
        check_tokens(config.data);
        return CLI_DONE;
    }
    return serve(&config);
}

const struct cli_command cli_serve = {
    .name = "serve",
    .arguments = "[OPTION]…",
    .summary = "run the archive as a web server",
    .details =
        "Every option can also be set in the environment: --cache-mb as REEL_CACHE_MB, lists separated by commas, "
        "flags\n"
        "as true or false. REEL_CACHE_MB_FILE names a file with the value. --config FILE names a file with lines like\n"
        "\"cache-mb = 256\". The command line overrides the environment, which overrides that file; --check-config "
        "prints\n"
        "the result, which is such a file, with what the start would change in the catalog as comments. Prints "
        "\"listening on http://…\" when ready. SIGTERM or Ctrl-C lets "
        "running\n"
        "requests finish, then the server exits with status 0. SIGHUP reads the certificate of --tls-cert again.",
    .run = run_serve,
};
