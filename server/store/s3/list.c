/* Lists of objects and of multipart uploads, page by page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/c_locale.h"
#include "base/cleanup.h"
#include "store/s3/s3_internal.h"
#include "store/s3/xml.h"

enum { PAGE_BYTES_MAX = 16 << 20, QUERY_MAX = 3 * (2 * S3_KEY_MAX + S3_UPLOAD_MAX) + 256 };

struct page {
    bool (*object)(void *context, const char *key, const struct s3_object *object);
    bool (*upload)(void *context, const char *key, const char *upload, int64_t begun_s);
    void *context;
    size_t below; /* a key is given to them from there on */
    bool stopped, more, bad;
    char key[S3_KEY_MAX + 1], last_key[S3_KEY_MAX + 1], id[S3_UPLOAD_MAX], last_id[S3_UPLOAD_MAX];
    struct s3_object now;
    int64_t begun_s;
};

/* %XX, as encoding-type=url gives it; + is a blank. */
static bool unescape(const char *text, char *out, size_t size) {
    size_t n = 0;
    for (; *text && n + 1 < size; text++) {
        unsigned value;
        if (*text == '%' && sscanf(text + 1, "%2x", &value) == 1 && value > 0) {
            out[n++] = (char)value;
            text += 2;
        } else {
            out[n++] = *text == '+' ? ' ' : *text;
        }
    }
    out[n] = '\0';
    return *text == '\0';
}

static int64_t moment(const char *text) {
    C_LOCALE;
    struct tm t = {0};
    return strptime(text, "%Y-%m-%dT%H:%M:%S", &t) ? (int64_t)timegm(&t) : 0;
}

static void on_object(void *context, const char *path, const char *text) {
    struct page *p = context;
    if (strcmp(path, "IsTruncated") == 0) {
        p->more = strcmp(text, "true") == 0;
    } else if (strcmp(path, "Contents/Key") == 0) {
        p->bad = p->bad || !unescape(text, p->key, sizeof p->key);
    } else if (strcmp(path, "Contents/Size") == 0) {
        p->now.size = strtoull(text, NULL, 10);
    } else if (strcmp(path, "Contents/ETag") == 0) {
        snprintf(p->now.etag, sizeof p->now.etag, "%s", text);
    } else if (strcmp(path, "Contents/LastModified") == 0) {
        p->now.modified_s = moment(text);
    } else if (strcmp(path, "Contents") == 0 && !p->bad) {
        p->stopped = p->stopped || (strlen(p->key) >= p->below && !p->object(p->context, p->key + p->below, &p->now));
        memcpy(p->last_key, p->key, sizeof p->key);
        p->now = (struct s3_object){0};
    }
}

static void on_upload(void *context, const char *path, const char *text) {
    struct page *p = context;
    if (strcmp(path, "IsTruncated") == 0) {
        p->more = strcmp(text, "true") == 0;
    } else if (strcmp(path, "Upload/Key") == 0) {
        p->bad = p->bad || !unescape(text, p->key, sizeof p->key);
    } else if (strcmp(path, "Upload/UploadId") == 0) {
        p->bad = p->bad || snprintf(p->id, sizeof p->id, "%s", text) >= (int)sizeof p->id;
    } else if (strcmp(path, "Upload/Initiated") == 0) {
        p->begun_s = moment(text);
    } else if (strcmp(path, "Upload") == 0 && !p->bad) {
        p->stopped =
            p->stopped || (strlen(p->key) >= p->below && !p->upload(p->context, p->key + p->below, p->id, p->begun_s));
        memcpy(p->last_key, p->key, sizeof p->key);
        memcpy(p->last_id, p->id, sizeof p->id);
    }
}

static bool get_page(struct s3 *s3, const char *bucket, const char *query, struct page *p,
                     void (*text)(void *context, const char *path, const char *text), struct reel_error *err) {
    struct s3_call call = {.method = S3_GET, .name = {bucket, ""}, .query = query, .text_max = PAGE_BYTES_MAX};
    p->more = false;
    bool good = s3_perform(s3, &call, err);
    good = good && ((call.text && s3_xml(call.text, call.text_size, text, p) && !p->bad) ||
                    reel_fail(err, REEL_IO, "the store at %s lists its bucket %s in a way that cannot be read",
                              s3->host, bucket));
    s3_call_done(&call);
    return good;
}

/* Appends NAME=VALUE, escaped. */
static bool s3_list_add(char *query, const char *name, const char *value, struct reel_error *err) {
    size_t used = strlen(query);
    used += (size_t)snprintf(query + used, QUERY_MAX - used, "%s%s=", used > 0 ? "&" : "", name);
    return (used < QUERY_MAX && s3_escape(value, false, query + used, QUERY_MAX - used)) ||
           reel_fail(err, REEL_LIMIT, "the name of an object is too long");
}

/* The place to go on from is the last key: tokens differ between services, start-after does not. */
bool s3_list(struct s3 *s3, const char *bucket, const char *prefix, size_t below,
             bool (*visit)(void *context, const char *key, const struct s3_object *object), void *context,
             struct reel_error *err) {
    AUTO_MEM struct page *p = calloc(1, sizeof *p);
    if (!p) {
        return reel_fail_memory(err);
    }
    p->object = visit;
    p->context = context;
    p->below = below;
    do {
        char query[QUERY_MAX] = "encoding-type=url&list-type=2", before[S3_KEY_MAX + 1];
        memcpy(before, p->last_key, sizeof before);
        if (!s3_list_add(query, "prefix", prefix, err) || !s3_list_add(query, "start-after", before, err) ||
            !get_page(s3, bucket, query, p, on_object, err)) {
            return false;
        }
        if (p->more && strcmp(before, p->last_key) == 0) {
            return reel_fail(err, REEL_IO, "the store at %s lists the same page of bucket %s again", s3->host, bucket);
        }
    } while (p->more && !p->stopped);
    return true;
}

bool s3_uploads(struct s3 *s3, const char *bucket, const char *prefix, size_t below,
                bool (*visit)(void *context, const char *key, const char *upload, int64_t begun_s), void *context,
                struct reel_error *err) {
    AUTO_MEM struct page *p = calloc(1, sizeof *p);
    if (!p) {
        return reel_fail_memory(err);
    }
    p->upload = visit;
    p->context = context;
    p->below = below;
    do {
        char query[QUERY_MAX] = "encoding-type=url", before[S3_UPLOAD_MAX];
        memcpy(before, p->last_id, sizeof before);
        if (!s3_list_add(query, "key-marker", p->last_key, err) || !s3_list_add(query, "prefix", prefix, err) ||
            !s3_list_add(query, "upload-id-marker", p->last_id, err) || !s3_list_add(query, "uploads", "", err) ||
            !get_page(s3, bucket, query, p, on_upload, err)) {
            return false;
        }
        if (p->more && strcmp(before, p->last_id) == 0) {
            return reel_fail(err, REEL_IO, "the store at %s lists the same uploads of bucket %s again", s3->host,
                             bucket);
        }
    } while (p->more && !p->stopped);
    return true;
}
