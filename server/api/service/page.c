/* The page and the OpenAPI document, which are built into the program. They contain nothing of the archive, so they
 * need no token; the requests that the page then sends do. */
#include "api/service/page.h"

#include <libdeflate.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/digests.h"
#include "api/service/openapi.h"
#include "api/service/service.h"
#include "app.h"
#include "base/cleanup.h"
#include "http/json_text.h"

static const char not_built[] =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><base href=\"/\"><title>Reel</title><h1>Reel</h1><p>The "
    "server runs. It was "
    "built without its "
    "page: "
    "install Node 18 or newer with npm, and build again (<code>./dev run</code> does both).</p><p>All of the API "
    "works: "
    "<a href=\"api/v1/recordings\">recordings</a>, <a href=\"api/v1\">the service document</a>.</p></html>\n";

static const struct page_file *page_find(const char *name) {
    for (const struct page_file *f = page_files; f->name; f++) {
        if (strcmp(f->name, name) == 0) {
            return f;
        }
    }
    return NULL;
}

static bool read_bytes(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    (void)err;
    memcpy(buffer, (const unsigned char *)context + offset, size);
    return true;
}

/* Only scripts of this server, connections to this server, and its images and those of --map-tiles. The worker that
 * computes checksums may compile WebAssembly; the page may not. */
static void add_guards(struct http_request *r, const char *name) {
    bool hashes = strncmp(name, "assets/hash_worker", strlen("assets/hash_worker")) == 0;
    const char *tiles = http_app(r)->config.map_tiles;
    /* cmd_serve.c has checked it */
    size_t origin = tiles ? (size_t)(strchr(strstr(tiles, "://") + 3, '/') - tiles) : 0;
    AUTO_MEM char *policy = NULL;
    int n = asprintf(
        &policy,
        "default-src 'self'; img-src 'self' data: blob:%s%.*s; object-src 'none'; base-uri 'self'; form-action 'self'; "
        "frame-ancestors 'none'",
        origin ? " " : "", (int)origin, tiles ? tiles : "");
    http_add_header(r, "Content-Security-Policy",
                    hashes || n < 0 ? "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'" : policy);
    http_add_header(r, "Cross-Origin-Opener-Policy", "same-origin");
    http_add_header(r, "Permissions-Policy", "camera=(), geolocation=(), microphone=()");
    http_add_header(r, "X-Frame-Options", "DENY");
}

static void page_reply(struct http_request *r, const struct page_file *f, const char *cache_control) {
    bool packed = f->gzip && http_accepts_coding(r, "gzip");
    const unsigned char *begin = packed ? f->gzip : f->plain, *end = packed ? f->gzip_end : f->plain_end;
    char etag[80];
    snprintf(etag, sizeof etag, "\"%s%s\"", f->hash, packed ? "-gzip" : "");
    add_guards(r, f->name);
    http_add_header(r, "Cache-Control", cache_control);
    http_add_header(r, "Vary", "Accept-Encoding");
    if (packed) {
        http_add_header(r, "Content-Encoding", "gzip");
    }
    struct http_file file = {.length = (uint64_t)(end - begin),
                             .etag = etag,
                             .media_type = f->media_type,
                             .fd = -1,
                             .read = read_bytes,
                             .context = (void *)(uintptr_t)begin};
    http_reply_file(r, &file);
}

/* The addresses in the page are relative to its <base>, which is the only thing in it that depends on the server. */
static char *page_index_of(const struct page_file *f, const char *prefix) {
    static const char base[] = "<base href=\"/";
    const char *text = f ? (const char *)f->plain : not_built;
    size_t size = f ? (size_t)(f->plain_end - f->plain) : sizeof not_built - 1;
    const char *mark = memmem(text, size, base, sizeof base - 1);
    size_t head = mark ? (size_t)(mark - text) + sizeof base - 2 : 0; /* up to the slash */
    char *out = NULL;
    return asprintf(&out, "%.*s%s%.*s", (int)head, text, prefix, (int)(size - head), text + head) >= 0 ? out : NULL;
}

void api_page(struct http_request *r) {
    char *text = page_index_of(page_find("index.html"), http_prefix(r)), etag[64];
    if (!text) {
        http_reply_no_memory(r);
        return;
    }
    api_etag(text, etag);
    add_guards(r, "");
    http_add_header(r, "Cache-Control", "no-cache");
    http_add_header(r, "Vary", "Accept");
    http_reply_file(r, &(struct http_file){.length = strlen(text),
                                           .etag = etag,
                                           .media_type = "text/html; charset=utf-8",
                                           .fd = -1,
                                           .read = read_bytes,
                                           .free = free,
                                           .context = text});
}

static bool prefers_html(struct http_request *r) {
    static const char *const offers[] = {"application/json", "text/html", NULL};
    const char *media = http_negotiate(r, offers);
    return media && strcmp(media, "text/html") == 0;
}

/* An address that somebody has typed: the page says that it is not there, and leads back. */
bool api_page_unknown(struct http_request *r) {
    bool browses = strcmp(http_method(r), "GET") == 0 && strncmp(http_path(r), "/api/", 5) != 0 && prefers_html(r);
    AUTO_MEM char *text = browses ? page_index_of(page_find("index.html"), http_prefix(r)) : NULL;
    if (text) {
        add_guards(r, "");
        http_reply_text(r, 404, "text/html; charset=utf-8", text);
    }
    return text != NULL;
}

/* Clients that prefer HTML get the page, all others the service document. */
void api_root(struct http_request *r) {
    if (prefers_html(r)) {
        api_page(r);
    } else {
        http_add_header(r, "Vary", "Accept");
        api_service(r);
    }
}

/* ---- the OpenAPI document */

static json_t *document;
static struct page_file document_file; /* the same as bytes */

static void pack_document(struct page_file *f) {
    enum { LEVEL = 9 };
    size_t size = (size_t)(f->plain_end - f->plain);
    unsigned char *packed = malloc(size);
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(LEVEL);
    size_t n = compressor && packed ? libdeflate_gzip_compress(compressor, f->plain, size, packed, size) : 0;
    libdeflate_free_compressor(compressor);
    if (n == 0) {
        free(packed);
        return;
    }
    f->gzip = packed;
    f->gzip_end = packed + n;
}

static void write_document(void) {
    static char tag[64];
    AUTO_MEM char *text = json_text(document);
    char *line = NULL;
    int size = text ? asprintf(&line, "%s\n", text) : -1;
    if (size < 0) {
        return;
    }
    api_etag(line, tag);
    tag[strlen(tag) - 1] = '\0'; /* without its quotes */
    document_file = (struct page_file){.name = "",
                                       .media_type = "application/json",
                                       .hash = tag + 1,
                                       .plain = (unsigned char *)line,
                                       .plain_end = (unsigned char *)line + size};
    pack_document(&document_file);
}

static void make_document(void) {
    const struct page_file *f = page_find("openapi.json");
    struct reel_error err = {0};
    json_auto_t *components = f ? json_loadb((const char *)f->plain, (size_t)(f->plain_end - f->plain), 0, NULL) : NULL;
    document = components ? openapi_document(components, &err) : NULL;
    write_document();
}

json_t *page_openapi(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_document);
    return document;
}

void api_openapi(struct http_request *r) {
    if (!page_openapi()) {
        http_reply_problem(r, 404, "not-found",
                           "This server was built without its page, and the document's components come with it "
                           "(server/api/openapi.yaml in the source).");
    } else if (document_file.plain) {
        page_reply(r, &document_file, "no-cache");
    } else {
        http_reply_no_memory(r);
    }
}

void api_page_asset(struct http_request *r) {
    char name[160];
    int n = snprintf(name, sizeof name, "assets/%s", http_segment(r, "name"));
    const struct page_file *f = n > 0 && (size_t)n < sizeof name ? page_find(name) : NULL;
    if (f) {
        page_reply(r, f, "public, max-age=31536000, immutable"); /* its name holds its hash */
    } else {
        http_reply_problem(r, 404, "not-found", "The page has no such file: load it again.");
    }
}

/* Browsers ask for it before they have read the page's <link rel="icon">, and for what is no page. */
void api_favicon(struct http_request *r) {
    for (const struct page_file *f = page_files; f->name; f++) {
        if (strncmp(f->name, "assets/icon-", strlen("assets/icon-")) == 0 &&
            strcmp(f->media_type, "image/svg+xml") == 0) {
            page_reply(r, f, "public, max-age=86400");
            return;
        }
    }
    http_reply_problem(r, 404, "not-found", "The page and its icon are not built into this program.");
}
