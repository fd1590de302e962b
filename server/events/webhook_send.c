/* One POST of a webhook. The address of the connection decides whether it is allowed, not the name, so no name can lead
 * into a private network. Redirects are not followed and no proxy is used. */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "access/network.h"
#include "base/hex.h"
#include "events/webhooks.h"
#include "http/json_text.h"
#include "reel/time.h"

enum { CONNECT_MS = 5000, WHOLE_MS = 10000, ANSWER_MAX = 64 << 10 };

struct webhook_sender {
    CURL *curl;
    bool private, refused; /* refused: the address was a private one */
    const struct reel_progress *progress;
    size_t answered;
    char problem[256], library[CURL_ERROR_SIZE];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void start_library(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* ---- allowed addresses */

static const char *const closed[] = {
    "0.0.0.0/8",    "10.0.0.0/8",     "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4",    "::/96",
    "64:ff9b::/96", "64:ff9b:1::/48", "100::/64",      "2001::/32",   "2002::/16",      "fc00::/7",
    "fe80::/10",    "fec0::/10",      "ff00::/8",
};
enum { CLOSED = sizeof closed / sizeof *closed };

static bool address_is_private(const char *text) {
    struct network networks[CLOSED];
    struct address address;
    for (size_t i = 0; i < CLOSED; i++) {
        if (!network_parse(closed[i], &networks[i], NULL)) {
            return true;
        }
    }
    return !address_parse(text, &address) || network_holds(networks, CLOSED, &address);
}

bool webhook_is_private(const struct sockaddr *address) {
    char text[INET6_ADDRSTRLEN];
    const void *raw = address->sa_family == AF_INET
                          ? (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr
                      : address->sa_family == AF_INET6
                          ? (const void *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr
                          : NULL;
    return !raw || !inet_ntop(address->sa_family, raw, text, sizeof text) || address_is_private(text);
}

static bool check_parts(CURLU *url, const char *text, bool private, struct reel_error *err) {
    char *scheme = NULL, *host = NULL, *user = NULL, *fragment = NULL;
    if (curl_url_set(url, CURLUPART_URL, text, CURLU_NO_DEFAULT_PORT) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK) {
        curl_free(scheme);
        return reel_fail(err, REEL_ARGUMENT, "it is not an address such as https://example.org/hook");
    }
    bool has_more = curl_url_get(url, CURLUPART_USER, &user, 0) == CURLUE_OK ||
                    curl_url_get(url, CURLUPART_FRAGMENT, &fragment, 0) == CURLUE_OK;
    bool https = strcmp(scheme, "https") == 0, http = strcmp(scheme, "http") == 0;
    char bare[256];
    snprintf(bare, sizeof bare, "%s", host[0] == '[' ? host + 1 : host);
    bare[strcspn(bare, "]%")] = '\0';
    struct address literal;
    bool is_private = strcmp(host, "localhost") == 0 || (address_parse(bare, &literal) && address_is_private(bare));
    curl_free(scheme);
    curl_free(host);
    curl_free(user);
    curl_free(fragment);
    if (has_more) {
        return reel_fail(err, REEL_ARGUMENT, "it must not have a user, password or fragment");
    }
    if (!https && !(http && private)) {
        return reel_fail(err, REEL_ARGUMENT, "it must be https%s",
                         http ? "; http is for servers started with --webhook-private" : "");
    }
    return !is_private || private ||
           reel_fail(err, REEL_ARGUMENT,
                     "it is a private address; start the server with --webhook-private to allow that");
}

bool webhook_url_check(const char *url, bool private, struct reel_error *err) {
    pthread_once(&once, start_library);
    size_t size = strlen(url);
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)url[i] <= ' ' || (unsigned char)url[i] >= 0x7f) {
            return reel_fail(err, REEL_ARGUMENT, "it has characters that must be escaped");
        }
    }
    if (size > WEBHOOK_URL_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "it is longer than %d bytes", WEBHOOK_URL_MAX);
    }
    CURLU *parts = curl_url();
    bool good = parts ? check_parts(parts, url, private, err) : reel_fail_memory(err);
    curl_url_cleanup(parts);
    return good;
}

/* ---- callbacks of libcurl */

static curl_socket_t on_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    struct webhook_sender *s = context;
    if (purpose != CURLSOCKTYPE_IPCXN || (!s->private && webhook_is_private(&address->addr))) {
        s->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static size_t on_answer(char *data, size_t size, size_t n, void *context) {
    struct webhook_sender *s = context;
    (void)data;
    s->answered += size * n;
    return s->answered <= ANSWER_MAX ? size * n : 0; /* ignored */
}

static int webhook_send_on_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
    struct webhook_sender *s = context;
    (void)a, (void)b, (void)c, (void)d;
    return !s->progress->report(s->progress->context, 0, 0);
}

/* Options shared by all POSTs; connections are reused. */
static void set_up(struct webhook_sender *s) {
    curl_easy_setopt(s->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(s->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(s->curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(s->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(s->curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(s->curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(s->curl, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(s->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(s->curl, CURLOPT_TIMEOUT_MS, (long)WHOLE_MS);
    curl_easy_setopt(s->curl, CURLOPT_USERAGENT, "reel/" REEL_VERSION);
    curl_easy_setopt(s->curl, CURLOPT_ERRORBUFFER, s->library);
    curl_easy_setopt(s->curl, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    curl_easy_setopt(s->curl, CURLOPT_OPENSOCKETDATA, s);
    curl_easy_setopt(s->curl, CURLOPT_WRITEFUNCTION, on_answer);
    curl_easy_setopt(s->curl, CURLOPT_WRITEDATA, s);
    curl_easy_setopt(s->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(s->curl, CURLOPT_XFERINFOFUNCTION, webhook_send_on_progress);
    curl_easy_setopt(s->curl, CURLOPT_XFERINFODATA, s);
}

struct webhook_sender *webhook_sender_new(bool private, const struct reel_progress *progress, struct reel_error *err) {
    pthread_once(&once, start_library);
    struct webhook_sender *s = calloc(1, sizeof *s);
    if (!s || !(s->curl = curl_easy_init())) {
        free(s);
        reel_fail_memory(err);
        return NULL;
    }
    s->private = private;
    s->progress = progress;
    set_up(s);
    return s;
}

void webhook_sender_free(struct webhook_sender *s) {
    if (s) {
        curl_easy_cleanup(s->curl);
        free(s);
    }
}

/* ---- one POST */

bool webhook_sign(const char *secret, int64_t time_s, const char *body, char out[WEBHOOK_SIGNATURE]) {
    char *text = NULL;
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    int size = asprintf(&text, "%lld.%s", (long long)time_s, body);
    bool good = size >= 0 &&
                HMAC(EVP_sha256(), secret, (int)strlen(secret), (const unsigned char *)text, (size_t)size, mac, &n);
    int at = snprintf(out, WEBHOOK_SIGNATURE, "t=%lld,v1=", (long long)time_s);
    if (good) {
        hex_write(mac, n, out + at);
    }
    free(size >= 0 ? text : NULL);
    return good;
}

static struct curl_slist *headers_of(const struct webhook *w, const json_t *change, const char *signature) {
    char line[256];
    struct curl_slist *list = curl_slist_append(NULL, "Content-Type: application/json"), *more = NULL;
    snprintf(line, sizeof line, "Reel-Event: %s", json_string_value(json_object_get(change, "kind")));
    list = list && (more = curl_slist_append(list, line)) ? more : list;
    snprintf(line, sizeof line, "Reel-Delivery: %lld-%lld", (long long)w->row,
             (long long)json_integer_value(json_object_get(change, "seq")));
    list = list && (more = curl_slist_append(list, line)) ? more : list;
    snprintf(line, sizeof line, "Reel-Signature: %s", signature);
    return list && (more = curl_slist_append(list, line)) ? more : list;
}

static char *body_of(const struct webhook *w, const json_t *change) {
    json_t *o = json_copy((json_t *)change);
    char *text = o && json_object_set_new(o, "webhook", json_integer(w->row)) == 0 ? json_text(o) : NULL;
    json_decref(o);
    return text;
}

static void perform(struct webhook_sender *s, struct webhook_result *result) {
    int64_t begun_ns = reel_now_ns();
    long status = 0;
    s->refused = false;
    s->answered = 0;
    s->library[0] = '\0';
    CURLcode code = curl_easy_perform(s->curl);
    curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &status);
    result->took_ms = (reel_now_ns() - begun_ns) / 1000000;
    result->status = (unsigned)status;
    result->delivered = status >= 200 && status < 300 && (code == CURLE_OK || code == CURLE_WRITE_ERROR);
    if (s->refused) {
        snprintf(s->problem, sizeof s->problem,
                 "it resolves to a private address; start the server with --webhook-private to allow that");
    } else if (!result->delivered && code == CURLE_OK) {
        snprintf(s->problem, sizeof s->problem, "the answer was %ld%s", status,
                 status >= 300 && status < 400 ? "; redirects are not followed" : "");
    } else if (!result->delivered) {
        snprintf(s->problem, sizeof s->problem, "%s", s->library[0] ? s->library : curl_easy_strerror(code));
    }
}

void webhook_send(struct webhook_sender *s, const struct webhook *w, const json_t *change,
                  struct webhook_result *result) {
    char signature[WEBHOOK_SIGNATURE];
    char *body = body_of(w, change);
    s->problem[0] = '\0';
    result->problem = s->problem;
    result->seq = (int64_t)json_integer_value(json_object_get(change, "seq"));
    if (!body || !webhook_sign(w->secret, reel_now_ns() / 1000000000, body, signature)) {
        snprintf(s->problem, sizeof s->problem, "no memory");
        free(body);
        return;
    }
    struct curl_slist *headers = headers_of(w, change, signature);
    curl_easy_setopt(s->curl, CURLOPT_URL, w->url);
    curl_easy_setopt(s->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(s->curl, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
    curl_easy_setopt(s->curl, CURLOPT_POSTFIELDS, body);
    perform(s, result);
    curl_easy_setopt(s->curl, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    free(body);
}
