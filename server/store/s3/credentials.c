/* See credentials.h. The files are INI files as the AWS command writes them. */
#include "store/s3/credentials.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum { LINE_MAX_BYTES = S3_TOKEN_MAX + 64 };

static const char *variable(const char *name, const char *other) {
    const char *value = getenv(name);
    if (value && value[0]) {
        return value;
    }
    value = other ? getenv(other) : NULL;
    return value && value[0] ? value : NULL;
}

static bool credentials_copy(char *out, size_t size, const char *value) {
    return !value || (size_t)snprintf(out, size, "%s", value) < size;
}

/* Without the blanks around it; changes the line. */
static char *credentials_trim(char *text) {
    text += strspn(text, " \t");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r\n", text[n - 1])) {
        text[--n] = '\0';
    }
    return text;
}

/* Calls set(name, value) for each line of the section. */
static void read_section(const char *path, const char *section,
                         void (*set)(void *context, const char *name, const char *value), void *context) {
    FILE *f = fopen(path, "re");
    AUTO_MEM char *line = malloc(LINE_MAX_BYTES);
    bool inside = false;
    while (f && line && fgets(line, LINE_MAX_BYTES, f)) {
        char *text = credentials_trim(line), *end = strchr(text, ']'), *equals = strchr(text, '=');
        if (text[0] == '[' && end) {
            *end = '\0';
            inside = strcmp(credentials_trim(text + 1), section) == 0;
        } else if (inside && equals && text[0] != '#') {
            *equals = '\0';
            set(context, credentials_trim(text), credentials_trim(equals + 1));
        }
    }
    if (line) {
        explicit_bzero(line, LINE_MAX_BYTES);
    }
    if (f) {
        fclose(f);
    }
}

struct found {
    struct s3_credentials *credentials;
    char *endpoint;
    bool fits;
};

static void set_key(void *context, const char *name, const char *value) {
    struct found *f = context;
    struct s3_credentials *c = f->credentials;
    f->fits = f->fits &&
              (strcmp(name, "aws_access_key_id") != 0 || credentials_copy(c->access, sizeof c->access, value)) &&
              (strcmp(name, "aws_secret_access_key") != 0 || credentials_copy(c->secret, sizeof c->secret, value)) &&
              (strcmp(name, "aws_session_token") != 0 || credentials_copy(c->token, sizeof c->token, value));
}

static void set_place(void *context, const char *name, const char *value) {
    struct found *f = context;
    f->fits = f->fits &&
              (strcmp(name, "region") != 0 ||
               credentials_copy(f->credentials->region, sizeof f->credentials->region, value)) &&
              (strcmp(name, "endpoint_url") != 0 || credentials_copy(f->endpoint, S3_ENDPOINT_MAX, value));
}

static bool file_path(const char *name, const char *in_home, char out[PATH_MAX]) {
    const char *path = variable(name, NULL), *home = getenv("HOME");
    int n = path   ? snprintf(out, PATH_MAX, "%s", path)
            : home ? snprintf(out, PATH_MAX, "%s/.aws/%s", home, in_home)
                   : -1;
    return n > 0 && n < PATH_MAX;
}

static bool check_endpoint(char *endpoint, struct reel_error *err) {
    size_t n = strlen(endpoint);
    if (n > 0 && endpoint[n - 1] == '/') {
        endpoint[n - 1] = '\0';
    }
    const char *host = strncmp(endpoint, "https://", 8) == 0  ? endpoint + 8
                       : strncmp(endpoint, "http://", 7) == 0 ? endpoint + 7
                                                              : "";
    return (host[0] && !strpbrk(host, "/@?# ")) ||
           reel_fail(err, REEL_ARGUMENT,
                     "AWS_ENDPOINT_URL must be https://HOST or http://HOST:PORT, without user, path or query");
}

bool s3_credentials_load(struct s3_credentials *out, char endpoint[S3_ENDPOINT_MAX], struct reel_error *err) {
    struct found f = {.credentials = out, .endpoint = endpoint, .fits = true};
    const char *profile = variable("AWS_PROFILE", NULL), *key = variable("AWS_ACCESS_KEY_ID", NULL);
    char path[PATH_MAX], section[256];
    *out = (struct s3_credentials){0};
    endpoint[0] = '\0';
    profile = profile ? profile : "default";
    snprintf(section, sizeof section, "%s%s", strcmp(profile, "default") == 0 ? "" : "profile ", profile);
    if (file_path("AWS_CONFIG_FILE", "config", path)) {
        read_section(path, section, set_place, &f);
        read_section(path, section, set_key, &f); /* some keep the keys there, too */
    }
    if (file_path("AWS_SHARED_CREDENTIALS_FILE", "credentials", path)) {
        read_section(path, profile, set_key, &f);
    }
    if (key) {
        out->token[0] = '\0';
        f.fits = f.fits && credentials_copy(out->access, sizeof out->access, key) &&
                 credentials_copy(out->secret, sizeof out->secret, variable("AWS_SECRET_ACCESS_KEY", NULL)) &&
                 credentials_copy(out->token, sizeof out->token, variable("AWS_SESSION_TOKEN", NULL));
    }
    f.fits = f.fits &&
             credentials_copy(out->region, sizeof out->region, variable("AWS_REGION", "AWS_DEFAULT_REGION")) &&
             credentials_copy(endpoint, S3_ENDPOINT_MAX, variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"));
    if (!out->region[0]) {
        credentials_copy(out->region, sizeof out->region, "us-east-1");
    }
    if (!endpoint[0]) {
        f.fits =
            f.fits && snprintf(endpoint, S3_ENDPOINT_MAX, "https://s3.%s.amazonaws.com", out->region) < S3_ENDPOINT_MAX;
    }
    if (!out->access[0] || !out->secret[0]) {
        return reel_fail(err, REEL_ARGUMENT,
                         "there are no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write "
                         "them to ~/.aws/credentials");
    }
    return f.fits ? check_endpoint(endpoint, err)
                  : reel_fail(err, REEL_ARGUMENT, "a credential, the region or the address of S3 is too long");
}
