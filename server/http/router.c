/* Matches paths to routes. If several templates match, the one with a literal furthest to the left wins, whatever their
 * order in the table. The rows are sorted that way once; a request then takes the first that matches. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "http/http_internal.h"

#include <stdlib.h>
#include <string.h>

enum part_kind { PART_END, PART_LITERAL, PART_NAME, PART_REST }; /* in sort order */

struct part {
    enum part_kind kind;
    struct reel_bytes text; /* the literal, or the name between the braces */
};

struct row {
    const struct http_route *route;
    size_t count;
    struct part parts[HTTP_ROUTE_PARTS_MAX];
};

struct http_router {
    size_t count;
    struct row rows[];
};

/* Splits off the next segment of a path that begins with "/". */
static struct reel_bytes next_segment(const char **path) {
    const char *begin = *path + 1;
    size_t size = strcspn(begin, "/");
    *path = begin + size;
    return bytes_of(begin, size);
}

static bool part_parse(struct reel_bytes segment, bool last, struct part *out) {
    bool named = segment.size >= 2 && segment.data[0] == '{' && segment.data[segment.size - 1] == '}';
    *out = (struct part){.kind = PART_LITERAL, .text = segment};
    if (!named) {
        return true;
    }
    struct reel_bytes name = bytes_of(segment.data + 1, segment.size - 2);
    bool rest = name.size > 3 && memcmp(name.data + name.size - 3, "...", 3) == 0;
    name.size -= rest ? 3 : 0;
    *out = (struct part){.kind = rest ? PART_REST : PART_NAME, .text = name};
    return name.size > 0 && (last || !rest);
}

static bool row_parse(const struct http_route *route, struct row *row, struct reel_error *err) {
    const char *path = route->path;
    *row = (struct row){.route = route};
    bool good = path && *path == '/' && route->method && strlen(route->method) <= HTTP_METHOD_MAX && route->handle &&
                (!route->piece || route->begin);
    while (good && *path) {
        good = row->count < HTTP_ROUTE_PARTS_MAX;
        if (good) {
            struct reel_bytes segment = next_segment(&path);
            good = part_parse(segment, *path == '\0', &row->parts[row->count++]);
        }
    }
    return good || reel_fail(err, REEL_ARGUMENT, "malformed route %s %s", route->method ? route->method : "?",
                             route->path ? route->path : "?");
}

static int row_compare(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    for (size_t i = 0; i < HTTP_ROUTE_PARTS_MAX; i++) {
        if (x->parts[i].kind != y->parts[i].kind) {
            return (int)x->parts[i].kind - (int)y->parts[i].kind;
        }
    }
    return x->route < y->route ? -1 : x->route > y->route; /* else by table order */
}

struct http_router *router_new(const struct http_route *routes, struct reel_error *err) {
    size_t count = 0;
    while (routes[count].path) {
        count++;
    }
    AUTO(router_free) struct http_router *router = calloc(1, sizeof *router + count * sizeof router->rows[0]);
    if (!router) {
        reel_fail_memory(err);
        return NULL;
    }
    for (; router->count < count; router->count++) {
        if (!row_parse(&routes[router->count], &router->rows[router->count], err)) {
            return NULL;
        }
    }
    qsort(router->rows, count, sizeof router->rows[0], row_compare);
    return TAKE(router);
}

void router_free(struct http_router *router) {
    free(router);
}

static bool is_dots(const char *text, size_t size) {
    return (size == 1 && text[0] == '.') || (size == 2 && text[0] == '.' && text[1] == '.');
}

/* A segment may contain a decoded "/": its pieces are checked too. */
static bool holds_dots(const char *text, size_t size) {
    while (true) {
        const char *slash = memchr(text, '/', size);
        size_t piece = slash ? (size_t)(slash - text) : size;
        if (is_dots(text, piece)) {
            return true;
        }
        if (!slash) {
            return false;
        }
        text += piece + 1;
        size -= piece + 1;
    }
}

bool router_split(const char *raw, size_t size, char *buffer, struct http_path *path) {
    *path = (struct http_path){.text = buffer};
    const char *end = raw + size;
    size_t used = 0;
    while (raw < end) {
        const char *slash = memchr(raw + 1, '/', (size_t)(end - raw - 1));
        size_t raw_size = (size_t)((slash ? slash : end) - raw - 1);
        if (path->count == HTTP_PATH_PARTS_MAX) {
            return false;
        }
        buffer[used++] = '/';
        memcpy(buffer + used, raw + 1, raw_size);
        size_t decoded;
        if (!http_decode(buffer + used, raw_size, false, &decoded) || holds_dots(buffer + used, decoded)) {
            return false;
        }
        path->parts[path->count].at = used;
        path->parts[path->count++].size = decoded;
        used += decoded;
        raw += 1 + raw_size;
    }
    buffer[used] = '\0';
    return true;
}

static bool row_matches(const struct row *row, const struct http_path *path) {
    bool rest = row->count > 0 && row->parts[row->count - 1].kind == PART_REST;
    if (rest ? path->count < row->count : path->count != row->count) {
        return false;
    }
    for (size_t i = 0; i < row->count; i++) {
        const struct part *part = &row->parts[i];
        struct reel_bytes segment = bytes_of(path->text + path->parts[i].at, path->parts[i].size);
        if (part->kind == PART_LITERAL ? !bytes_equal(part->text, segment)
                                       : part->kind == PART_NAME && segment.size == 0) {
            return false;
        }
    }
    return true;
}

enum http_match router_match(const struct http_router *router, const char *method, const struct http_path *path,
                             const struct http_route **route) {
    const char *route_method = strcmp(method, "HEAD") == 0 ? "GET" : method;
    enum http_match match = MATCH_NONE;
    for (size_t i = 0; i < router->count; i++) {
        if (row_matches(&router->rows[i], path)) {
            *route = router->rows[i].route;
            if (strcmp((*route)->method, route_method) == 0) {
                return MATCH_FOUND;
            }
            match = MATCH_METHOD;
        }
    }
    return match;
}

static bool listed(const char *list, const char *method) {
    const char *at = list;
    size_t size = strlen(method);
    while ((at = strstr(at, method)) != NULL) {
        if ((at == list || at[-1] == ' ') && (at[size] == ',' || at[size] == '\0')) {
            return true;
        }
        at += size;
    }
    return false;
}

static void list_add(char *list, size_t size, const char *method) {
    size_t used = strlen(list);
    size_t more = strlen(method) + (used ? 2 : 0);
    if (!listed(list, method) && used + more < size) {
        memcpy(list + used, ", ", used ? 2 : 0);
        memcpy(list + used + (used ? 2 : 0), method, strlen(method) + 1);
    }
}

void router_allow(const struct http_router *router, const struct http_path *path, char *out, size_t size) {
    out[0] = '\0';
    for (size_t i = 0; i < router->count; i++) {
        if (row_matches(&router->rows[i], path)) {
            list_add(out, size, router->rows[i].route->method);
            if (strcmp(router->rows[i].route->method, "GET") == 0) {
                list_add(out, size, "HEAD");
            }
        }
    }
    if (out[0]) {
        list_add(out, size, "OPTIONS");
    }
}

size_t router_capture(const struct http_route *route, const struct http_path *path, char *buffer,
                      struct reel_bytes *names, const char **values) {
    const char *template = route->path;
    size_t count = 0;
    for (size_t i = 0; *template; i++) {
        struct part part;
        struct reel_bytes segment = next_segment(&template);
        part_parse(segment, *template == '\0', &part);
        if (part.kind == PART_LITERAL) {
            continue;
        }
        names[count] = part.text;
        values[count] = path->text + path->parts[i].at; /* {name...}: to the end */
        if (part.kind == PART_NAME) {
            values[count] = memcpy(buffer, values[count], path->parts[i].size);
            buffer[path->parts[i].size] = '\0';
            buffer += path->parts[i].size + 1;
        }
        count++;
    }
    return count;
}
