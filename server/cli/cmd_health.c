/* reel health: checks that a running server is ready; for health checks of containers. */
#include <curl/curl.h>
#include <string.h>

#include "cli/cli.h"

enum { RESPONSE_BYTES = 4096, TIMEOUT_S = 5 };

struct response {
    size_t size;
    char text[RESPONSE_BYTES];
};

static size_t health_take(char *data, size_t one, size_t n, void *context) {
    struct response *response = context;
    size_t room = sizeof response->text - 1 - response->size, size = n < room ? n : room;
    (void)one;
    memcpy(response->text + response->size, data, size);
    response->size += size;
    return n;
}

/* GET /readyz. No secret is sent, and the certificate may be for another name than this address: it is not verified. */
static bool get_ready(const char *url, long *status, struct response *response, struct reel_error *err) {
    char why[CURL_ERROR_SIZE] = "", address[512];
    CURL *curl = curl_easy_init();
    if (!curl) {
        return reel_fail_memory(err);
    }
    const char *scheme = strstr(url, "://"), *host = scheme ? scheme + 3 : url;
    snprintf(address, sizeof address, "%s%.*s/readyz", scheme ? "" : "http://",
             (int)(host - url + (ptrdiff_t)strcspn(host, "/?#")), url);
    curl_easy_setopt(curl, CURLOPT_URL, address);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, health_take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, response);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status);
    curl_easy_cleanup(curl);
    if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL) {
        return reel_fail(err, REEL_ARGUMENT, "\"%.100s\" is not an address such as http://127.0.0.1:8040", url);
    }
    return code == CURLE_OK ||
           reel_fail(err, REEL_IO, "no server at %.100s: %s", url, why[0] ? why : curl_easy_strerror(code));
}

static int run_health(int argc, char **argv) {
    const struct cli_option options[] = {{0}};
    struct reel_error err = {0};
    struct response response = {0};
    int first, code;
    long status = 0;
    if (!cli_options(&cli_health, options, 0, argc, argv, &first, &code)) {
        return code;
    }
    if (argc - first > 1) {
        return cli_misused(&cli_health, "expected one address");
    }
    if (!get_ready(first < argc ? argv[first] : "http://127.0.0.1:8040", &status, &response, &err)) {
        return err.code == REEL_ARGUMENT ? cli_misused(&cli_health, "%s", err.text) : cli_fail(&cli_health, NULL, &err);
    }
    if (status != 200) {
        fprintf(stderr, "reel health: not ready (%ld)\n%s", status, response.text);
        return CLI_FAILED;
    }
    puts("ready");
    return CLI_DONE;
}

const struct cli_command cli_health = {
    .name = "health",
    .arguments = "[URL]",
    .summary = "check that a running server is ready",
    .details = "URL defaults to http://127.0.0.1:8040. Exit status: 0 if the server is ready, 1 otherwise.",
    .run = run_health,
};
