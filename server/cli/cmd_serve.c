/* reel serve: the server, until SIGTERM or SIGINT. Its one rule: signals are blocked in every thread and waited for here, so that stopping
 * is an ordinary return – what runs is drained, then all is closed in order. */
#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "access/access.h"
#include "api/routes.h"
#include "app.h"
#include "catalog/location.h"
#include "cli/cli.h"
#include "cli/systemd.h"
#include "ingest/import.h"
#include "wire/cleanup.h"

enum { MB = 1000000 };

static bool is_loopback(const char *listen) {
    char host[64];
    const char *colon = strrchr(listen, ':');
    size_t n = colon ? (size_t)(colon - listen) : strlen(listen);
    bool bracketed = n > 1 && listen[0] == '[' && listen[n - 1] == ']';
    struct in_addr v4;
    struct in6_addr v6;
    if (n >= sizeof host) {
        return false;
    }
    memcpy(host, listen + bracketed, n - 2 * bracketed);
    host[n - 2 * bracketed] = '\0';
    if (inet_pton(AF_INET, host, &v4) == 1) {
        return ntohl(v4.s_addr) >> 24 == 127;
    }
    return inet_pton(AF_INET6, host, &v6) == 1 ? IN6_IS_ADDR_LOOPBACK(&v6) : strcmp(host, "localhost") == 0;
}

static void block_signals(sigset_t *stop) {
    sigemptyset(stop);
    sigaddset(stop, SIGINT);
    sigaddset(stop, SIGTERM);
    pthread_sigmask(SIG_BLOCK, stop, NULL); /* before the first thread, which all inherit */
    signal(SIGPIPE, SIG_IGN);
}

/* Who asks a second time does not want to wait for the drain. While waiting systemd hears that the catalog still answers. */
static void wait_for_stop(const struct app *app, const sigset_t *stop) {
    int64_t every_ns = systemd_alive_every_ns();
    const struct timespec patience = {.tv_sec = every_ns / 1000000000, .tv_nsec = every_ns % 1000000000};
    while ((every_ns > 0 ? sigtimedwait(stop, NULL, &patience) : sigwaitinfo(stop, NULL)) < 0) {
        if (every_ns > 0 && catalog_ready(app->catalog)) {
            systemd_alive();
        }
    }
    systemd_stopping();
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, stop, NULL);
}

/* Others reach this address: without any token nobody would get in, so the first start makes one. */
static bool lock_doors(struct app *app, struct reel_error *err) {
    const struct app_config *c = &app->config;
    char token[TOKEN_TEXT];
    bool made;
    if (c->insecure_open || is_loopback(c->listen)) {
        return true;
    }
    if (!access_first_token(app->catalog, token, &made, err)) {
        return false;
    }
    if (made) {
        printf("the first start on an address that others reach: this token of the role admin is shown only now\n%s\n", token);
    }
    return true;
}

/* A connection is a file too, and many systems begin with 1024. */
static void allow_files(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files); /* what is allowed already cannot be refused */
    }
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
    allow_files();
    int code = CLI_FAILED;
    if (catalog_set_location(config->data, config->catalog, &err) && app_open(&app, config, &err) && lock_doors(&app, &err) &&
        app_serve(&app, api_routes, &err)) {
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

struct upload_options { /* as the command line has them */
    const char *data, *catalog, *listen, *viewer, *user_header, *proxy_role;
    struct cli_list hosts, origins, proxies, roots, watches;
    int watch_mode; /* enum import_mode */
    uint64_t still_time, rescan_interval, watch_folders;
    uint64_t cache_mb, derived_mb, upload_max_mb, upload_expiry, header_timeout, idle_timeout, drain, connections, scan_threads,
        body_min_rate, trash_days;
    const char *backup_dir;
    int log_format; /* position in log_formats */
    bool check_config;
    struct cli_sources sources;
    bool webhook_private, insecure_open, metrics_open;
};
static inline void reel_auto_upload_options_done(struct upload_options *w) {
    reel_auto_cli_list_done(&w->hosts);
    cli_sources_done(&w->sources);
    reel_auto_cli_list_done(&w->origins);
    reel_auto_cli_list_done(&w->proxies);
    reel_auto_cli_list_done(&w->roots);
    reel_auto_cli_list_done(&w->watches);
}

static struct app_config config_of(const struct upload_options *w) {
    return (struct app_config){
        .data = w->data,
        .catalog = w->catalog,
        .listen = w->listen,
        .viewer = w->viewer,
        .backup_dir = w->backup_dir,
        .log_json = w->log_format == 1,
        .hosts = w->hosts.items,
        .origins = w->origins.items,
        .insecure_open = w->insecure_open,
        .metrics_open = w->metrics_open,
        .trusted_proxies = w->proxies.items,
        .proxy_user_header = w->user_header,
        .proxy_role = w->proxy_role,
        .cache_bytes = w->cache_mb * MB,
        .derived_bytes = w->derived_mb * MB,
        .upload_max_bytes = w->upload_max_mb * MB,
        .import_roots = w->roots.items,
        .watches = w->watches.items,
        .watch_mode = w->watch_mode,
        .still_s = (unsigned)w->still_time,
        .rescan_s = (unsigned)w->rescan_interval,
        .watch_folders = (unsigned)w->watch_folders,
        .upload_expiry_s = (unsigned)w->upload_expiry,
        .header_timeout_s = (unsigned)w->header_timeout,
        .idle_timeout_s = (unsigned)w->idle_timeout,
        .drain_s = (unsigned)w->drain,
        .connections_max = (unsigned)w->connections,
        .scan_threads = (unsigned)w->scan_threads,
        .body_min_rate = w->body_min_rate,
        .trash_days = (unsigned)w->trash_days,
        .webhook_private = w->webhook_private,
    };
}

#define BYTES_MB_MAX (UINT64_MAX / MB)
enum { DAY_S = 86400 };

/* clang-format off */
#define WORD(name_, kind_, to_, value_, help_) {.name = name_, .kind = kind_, .to = to_, .value = value_, .help = help_}
#define NUMBER(name_, to_, value_, least_, most_, help_) \
    {.name = name_, .kind = CLI_UINT, .to = to_, .value = value_, .help = help_, .least = least_, .most = most_}

static const char *const log_formats[] = {"logfmt", "json", NULL};

static int run(int argc, char **argv) {
    AUTO(upload_options_done) struct upload_options w = {
        .data = "./data", .listen = "127.0.0.1:8040", .cache_mb = 256, .derived_mb = 10000, .upload_expiry = 7 * DAY_S, .header_timeout = 15, .idle_timeout = 60,
        .still_time = 10, .rescan_interval = 300, .watch_folders = 65536, .drain = 30, .connections = 1000, .scan_threads = 2, .body_min_rate = 1000};
    int first, code;
    const struct cli_option options[] = {
        WORD("data", CLI_TEXT, &w.data, "DIR", "folder of the archive, made when missing (./data)"),
        WORD("catalog", CLI_TEXT, &w.catalog, "DIR", "folder of the catalog when it is to lie elsewhere, on a local disk; said once, every command knows it"),
        WORD("listen", CLI_TEXT, &w.listen, "ADDRESS:PORT", "where to answer (127.0.0.1:8040); port 0 takes a free one"),
        WORD("insecure-open", CLI_FLAG, &w.insecure_open, NULL, "no token is needed: anybody who reaches it may read and write"),
        WORD("trust-proxy", CLI_LIST, &w.proxies, "ADDRESS", "of a proxy (10.0.0.7, 10.0.0.0/8) that says who asks; may be repeated"),
        WORD("proxy-user-header", CLI_TEXT, &w.user_header, "NAME", "the header in which it says that (X-Remote-User); it must remove it from what clients send"),
        WORD("proxy-role", CLI_TEXT, &w.proxy_role, "ROLE", "of its users: read (usual), upload, edit or admin"),
        WORD("metrics-open", CLI_FLAG, &w.metrics_open, NULL, "/metrics needs no token"),
        WORD("host", CLI_LIST, &w.hosts, "NAME", "a further name this server is reached by; may be repeated"),
        WORD("origin", CLI_LIST, &w.origins, "ORIGIN", "a web page's origin that may read and write (\"*\": any may read)"),
        WORD("viewer", CLI_TEXT, &w.viewer, "URL", "where recordings open with pictures (a viewer of the Foxglove lineage): each gets links; allow its --origin"),
        WORD("backup-dir", CLI_TEXT, &w.backup_dir, "DIR", "folder for the backups that POST /admin/backup makes"),
        {.name = "log-format", .kind = CLI_CHOICE, .to = &w.log_format, .value = "FORMAT", .choices = log_formats, .help = "of the lines on stderr, one a request and job (logfmt)"},
        NUMBER("cache-mb", &w.cache_mb, "N", 1, BYTES_MB_MAX, "memory for decompressed chunks (256)"),
        NUMBER("derived-mb", &w.derived_mb, "N", 0, BYTES_MB_MAX, "disk for files that can be made again (10000)"),
        NUMBER("upload-max-mb", &w.upload_max_mb, "N", 0, BYTES_MB_MAX, "largest upload (0: what the disk holds)"),
        NUMBER("upload-expiry", &w.upload_expiry, "S", 1, 365 * DAY_S, "seconds an interrupted upload is kept (604800, a week)"),
        WORD("import-root", CLI_LIST, &w.roots, "DIR", "a folder whose files may be imported, or referred to where they lie; may be repeated"),
        WORD("watch", CLI_LIST, &w.watches, "DIR[=COLLECTION]", "import what appears in this folder; may be repeated"),
        {.name = "watch-mode", .kind = CLI_CHOICE, .to = &w.watch_mode, .value = "MODE", .choices = import_modes, .help = "what becomes of files in watched folders (copy)"},
        NUMBER("still-time", &w.still_time, "S", 0, DAY_S, "seconds a file there must not have been written to (10)"),
        NUMBER("rescan-interval", &w.rescan_interval, "S", 1, 365 * DAY_S, "seconds between looks through all of them, and at files that are referred to (300)"),
        NUMBER("watch-folders", &w.watch_folders, "N", 0, 10000000, "folders of which the system is asked to tell at once; more only wait for the next look (65536)"),
        NUMBER("trash-days", &w.trash_days, "N", 0, 36500, "days after which what lies in the trash is purged (0: never)"),
        WORD("webhook-private", CLI_FLAG, &w.webhook_private, NULL, "webhooks may lead to addresses of this machine and of private networks, and be plain HTTP"),
        NUMBER("header-timeout", &w.header_timeout, "S", 1, DAY_S, "seconds for a request's header (15)"),
        NUMBER("idle-timeout", &w.idle_timeout, "S", 1, DAY_S, "seconds a connection may do nothing (60)"),
        NUMBER("drain", &w.drain, "S", 0, DAY_S, "seconds that running requests get when the server ends (30)"),
        NUMBER("connections", &w.connections, "N", 1, 100000, "at most so many at once (1000); for one more the longest idle one is closed"),
        NUMBER("scan-threads", &w.scan_threads, "N", 1, 64, "scans and other jobs at once (2)"),
        NUMBER("body-min-rate", &w.body_min_rate, "B/S", 0, 0, "slower uploads are cut (1000; 0: never)"),
        WORD("check-config", CLI_FLAG, &w.check_config, NULL, "only say what these options and the environment come to: exit code 0, or 2 when they make no sense"),
        {0},
    };
    /* clang-format on */
    if (!cli_options_and_environment(&cli_serve, options, &w.sources, argc, argv, &first, &code)) {
        return code;
    }
    if (first < argc) {
        return cli_misused(&cli_serve, "\"%s\" is no option", argv[first]);
    }
    if (w.viewer && strncmp(w.viewer, "http://", 7) != 0 && strncmp(w.viewer, "https://", 8) != 0) {
        return cli_misused(&cli_serve, "--viewer takes the address of a page: http://… or https://…");
    }
    if (w.check_config) {
        cli_print_settings(&cli_serve, options, &w.sources);
        return CLI_DONE;
    }
    struct app_config config = config_of(&w);
    return serve(&config);
}

const struct cli_command cli_serve = {
    .name = "serve",
    .arguments = "[OPTION]…",
    .summary = "the archive as a web server",
    .details =
        "Each option may also be set by the environment: --cache-mb as REEL_CACHE_MB, a list with commas, a flag as true or false; "
        "REEL_CACHE_MB_FILE\n"
        "names a file that holds the value. The command line goes first. --check-config shows what it all comes to.\n"
        "Prints \"listening on http://…\" when it is ready. SIGTERM or Ctrl-C: running requests end, then it does, with exit code 0.",
    .run = run,
};
