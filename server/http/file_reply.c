/* Replies with a body of known length: the whole, one range, several ranges, or only headers. On a read error the
 * connection is cut, so that the client receives fewer bytes than Content-Length, never wrong ones. */
#include "base/cleanup.h"
#include "http/http_internal.h"
#include "http/read_ahead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The body is a sequence of pieces: generated texts (multipart headers) and ranges of the file. */
struct piece {
    char *text; /* NULL: a range of the file */
    uint64_t offset, size;
};

/* Pieces of at least READ_AHEAD_MIN are read ahead, but only after the first bytes: a client that disconnects early
 * costs little. */
enum { READ_AHEAD_AFTER = 1 << 20, READ_AHEAD_MIN = 4 << 20 };

struct file_body {
    struct http_request *request;
    struct http_file file;
    struct read_ahead *ahead;        /* for the piece being sent */
    uint64_t ahead_offset;           /* its position in the file */
    const struct piece *works_ahead; /* the piece for which the file's read() does that itself */
    size_t count;
    struct piece pieces[];
};

static void file_release(const struct http_file *file) {
    if (file->fd >= 0) {
        close(file->fd);
    }
    if (file->free) {
        file->free(file->context);
    }
}

static void body_free(void *context) {
    struct file_body *body = context;
    read_ahead_stop(body->ahead);
    for (size_t i = 0; i < body->count; i++) {
        free(body->pieces[i].text);
    }
    file_release(&body->file);
    free(body);
}

static bool file_reply_file_read(const struct http_file *file, uint64_t offset, char *buffer, size_t size,
                                 struct reel_error *err) {
    if (file->fd < 0) {
        return file->read(file->context, offset, buffer, size, err);
    }
    while (size > 0) {
        ssize_t got = pread(file->fd, buffer, size, (off_t)offset);
        if (got <= 0) {
            return got < 0 ? reel_fail_errno(err, "the file cannot be read")
                           : reel_fail(err, REEL_CHANGED, "the file became shorter");
        }
        buffer += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}

static void read_ahead(struct file_body *body, const struct piece *piece, uint64_t offset) {
    const struct http_file *file = &body->file;
    uint64_t end = piece->offset + piece->size;
    if (file->ahead && file->ahead(file->context, offset, end)) {
        body->works_ahead = piece;
    } else {
        body->ahead = read_ahead_start(file, offset, end);
    }
}

/* Reads bytes of the file for the piece, by read-ahead for long pieces. Returns how many; 0 on failure. */
static size_t piece_read(struct file_body *body, const struct piece *piece, uint64_t position, char *buffer,
                         size_t size, struct reel_error *err) {
    uint64_t offset = piece->offset + position;
    if (position == 0 && body->file.expect) {
        body->file.expect(body->file.context, piece->offset + piece->size);
    }
    if (body->ahead && body->ahead_offset != offset) { /* it was for another piece */
        read_ahead_stop(TAKE(body->ahead));
    }
    if (!body->ahead && body->works_ahead != piece && body->file.fd < 0 && position >= READ_AHEAD_AFTER &&
        piece->size - position >= READ_AHEAD_MIN) {
        read_ahead(body, piece, offset);
    }
    if (body->ahead) {
        size = read_ahead_take(body->ahead, buffer, size, err);
        body->ahead_offset = offset + size;
        return size;
    }
    return file_reply_file_read(&body->file, offset, buffer, size, err) ? size : 0;
}

static ssize_t body_read(void *context, uint64_t position, char *buffer, size_t size) {
    struct file_body *body = context;
    struct http_request *r = body->request;
    const struct piece *piece = body->pieces;
    for (; piece < body->pieces + body->count && position >= piece->size; piece++) {
        position -= piece->size;
    }
    if (piece == body->pieces + body->count) {
        return MHD_CONTENT_READER_END_OF_STREAM;
    }
    size = size < piece->size - position ? size : (size_t)(piece->size - position);
    if (piece->text) {
        memcpy(buffer, piece->text + position, size);
    } else {
        int64_t begun_ms = http_clock_ms();
        struct reel_error err = {0};
        size = piece_read(body, piece, position, buffer, size, &err);
        if (size == 0) {
            reply_note_error(r, err.text);
            return MHD_CONTENT_READER_END_WITH_ERROR;
        }
        connection_worked(r, begun_ms);
    }
    r->sent_bytes += size;
    return (ssize_t)size;
}

/* Takes ownership of the file. */
static struct file_body *body_new(struct http_request *r, const struct http_file *file, size_t pieces) {
    struct file_body *body = calloc(1, sizeof *body + pieces * sizeof body->pieces[0]);
    if (!body) {
        file_release(file);
        return NULL;
    }
    body->request = r;
    body->file = *file;
    return body;
}

/* Takes ownership of the body. */
static struct MHD_Response *body_response(struct file_body *body, uint64_t *length) {
    *length = 0;
    for (size_t i = 0; i < body->count; i++) {
        *length += body->pieces[i].size;
    }
    size_t block = *length < HTTP_BLOCK_BYTES ? (size_t)*length : HTTP_BLOCK_BYTES;
    struct MHD_Response *response =
        MHD_create_response_from_callback(*length, block ? block : 1, body_read, body, body_free);
    if (!response) {
        body_free(body);
    }
    return response;
}

/* A small range, read before the response begins: a file that cannot be read is answered with an error, and a packet is
 * saved. */
static struct MHD_Response *memory_response(struct http_request *r, const struct http_file *file, uint64_t offset,
                                            size_t size) {
    struct reel_error err = {0};
    AUTO_MEM char *bytes = malloc(size);
    if (!bytes || !file_reply_file_read(file, offset, bytes, size, &err)) {
        request_drop_headers(r); /* they are about the file */
        bytes ? http_reply_error(r, &err) : http_reply_no_memory(r);
        return NULL;
    }
    struct MHD_Response *response = MHD_create_response_from_buffer(size, bytes, MHD_RESPMEM_MUST_FREE);
    if (response) {
        TAKE(bytes);
    }
    r->by_library = true;
    return response;
}

/* By sendfile. Takes the descriptor. */
static struct MHD_Response *descriptor_response(struct http_request *r, int fd, uint64_t offset, uint64_t size) {
    struct MHD_Response *response = MHD_create_response_from_fd_at_offset64(size, fd, offset);
    if (!response) {
        close(fd);
        return NULL;
    }
    r->by_library = r->sends_fd = true;
    deadline_file(r->connection, fd, offset + size);
    return response;
}

/* One range of the file. Takes ownership of the file. */
static struct MHD_Response *range_response(struct http_request *r, const struct http_file *file, uint64_t offset,
                                           uint64_t size) {
    if (size == 0) {
        file_release(file);
        return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    }
    if (file->fd >= 0 && size <= HTTP_FILE_IN_MEMORY) {
        struct MHD_Response *response = memory_response(r, file, offset, (size_t)size);
        file_release(file);
        return response;
    }
    if (file->fd >= 0 && !r->server->tls) { /* with TLS the library would read 4 KiB at a time */
        struct http_file rest = *file;
        struct MHD_Response *response = descriptor_response(r, file->fd, offset, size);
        rest.fd = -1;
        file_release(&rest);
        return response;
    }
    struct file_body *body = body_new(r, file, 1);
    if (!body) {
        return NULL;
    }
    body->pieces[body->count++] = (struct piece){.offset = offset, .size = size};
    return body_response(body, &size);
}

static bool file_reply_add_text(struct file_body *body, const char *text) {
    struct piece *piece = &body->pieces[body->count];
    *piece = (struct piece){.text = strdup(text), .size = strlen(text)};
    body->count += piece->text != NULL;
    return piece->text != NULL;
}

/* multipart/byteranges. Takes ownership of the file. */
static struct MHD_Response *parts_response(struct http_request *r, const struct http_file *file,
                                           const struct http_ranges *ranges, uint64_t *length) {
    char boundary[HTTP_ID_MAX + 16], text[512];
    snprintf(boundary, sizeof boundary, "reel-part-%.16s", r->id);
    struct file_body *body = body_new(r, file, 2 * ranges->count + 1);
    bool good = body != NULL;
    for (size_t i = 0; good && i < ranges->count; i++) {
        const struct http_range *range = &ranges->items[i];
        snprintf(text, sizeof text, "%s--%s\r\nContent-Type: %.200s\r\nContent-Range: bytes %llu-%llu/%llu\r\n\r\n",
                 i ? "\r\n" : "", boundary, file->media_type, (unsigned long long)range->first,
                 (unsigned long long)range->last, (unsigned long long)file->length);
        good = file_reply_add_text(body, text);
        if (good) {
            body->pieces[body->count++] =
                (struct piece){.offset = range->first, .size = range->last - range->first + 1};
        }
    }
    snprintf(text, sizeof text, "\r\n--%s--\r\n", boundary);
    if (!good || !file_reply_add_text(body, text)) {
        if (body) {
            body_free(body);
        }
        return NULL;
    }
    struct MHD_Response *response = body_response(body, length);
    if (response) {
        snprintf(text, sizeof text, "multipart/byteranges; boundary=%s", boundary);
        reply_header(response, "Content-Type", text);
    }
    return response;
}

/* Content-Disposition with the name twice: in ASCII, and encoded by RFC 8187. */
static void add_disposition(struct http_request *r, const char *name) {
    char plain[HTTP_FILE_NAME_MAX + 1], encoded[3 * HTTP_FILE_NAME_MAX + 1], value[4 * HTTP_FILE_NAME_MAX + 64];
    size_t size = strlen(name), used = 0;
    if (size > HTTP_FILE_NAME_MAX) {
        for (size = HTTP_FILE_NAME_MAX; size > 0 && ((unsigned char)name[size] & 0xc0) == 0x80; size--) {
        }
    }
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)name[i];
        plain[i] = c < 0x20 || c >= 0x7f || c == '"' || c == '\\' || c == '%' || c == '/' ? '_' : (char)c;
        bool safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    (c && strchr("!#$&+-.^_`|~", c));
        if (safe) {
            encoded[used++] = (char)c;
        } else {
            used += (size_t)snprintf(encoded + used, 4, "%%%02X", c);
        }
    }
    plain[size] = encoded[used] = '\0';
    snprintf(value, sizeof value, "attachment; filename=\"%s\"; filename*=UTF-8''%s", plain, encoded);
    http_add_header(r, "Content-Disposition", value);
}

/* Headers that a 304 also carries. */
static void add_validators(struct http_request *r, const struct http_file *file) {
    if (file->etag) {
        http_add_header(r, "ETag", file->etag);
    }
    if (file->modified_ns) {
        char date[HTTP_DATE_TEXT];
        http_date_text(file->modified_ns, date);
        http_add_header(r, "Last-Modified", date);
    }
    http_add_header(r, "Accept-Ranges", "bytes");
}

static void add_content_range(struct http_request *r, const struct http_range *range, uint64_t length) {
    char text[96] = "";
    if (range) {
        snprintf(text, sizeof text, "bytes %llu-%llu/%llu", (unsigned long long)range->first,
                 (unsigned long long)range->last, (unsigned long long)length);
    } else {
        snprintf(text, sizeof text, "bytes */%llu", (unsigned long long)length);
    }
    http_add_header(r, "Content-Range", text);
}

/* 304, 412 and 416: without the file's content. Takes ownership of the file. */
static void reply_without(struct http_request *r, const struct http_file *file, unsigned status) {
    if (status == 304) {
        reply_not_modified(r, file->length);
    } else if (status == 412) {
        http_reply_problem(r, 412, "precondition-failed",
                           "The file does not match the precondition of the request (If-Match, If-Unmodified-Since).");
    } else {
        add_content_range(r, NULL, file->length);
        http_reply_problem(r, 416, "range-not-satisfiable", "The range is outside the file of %llu bytes.",
                           (unsigned long long)file->length);
    }
    file_release(file);
}

/* The value that is sent for a header of the file: what http_set_file_header() has set, else its own. */
static const char *file_header(const struct http_request *r, const char *name, const char *own) {
    for (size_t i = 0; i < HTTP_FILE_HEADERS && r->file_headers[i].name; i++) {
        if (strcmp(r->file_headers[i].name, name) == 0) {
            return r->file_headers[i].value;
        }
    }
    return own;
}

static void add_file_headers(struct http_request *r, const struct http_file *file) {
    if (file->file_name && !file_header(r, "Content-Disposition", NULL)) {
        add_disposition(r, file->file_name);
    }
    if (file->repr_digest) {
        http_add_header(r, "Repr-Digest", file->repr_digest);
    }
    for (size_t i = 0; i < HTTP_FILE_HEADERS && r->file_headers[i].name; i++) {
        if (strcmp(r->file_headers[i].name, "Content-Type") != 0 && r->file_headers[i].value[0]) {
            http_add_header(r, r->file_headers[i].name, r->file_headers[i].value);
        }
    }
}

static bool read_begin(const void *context, char *buffer, size_t size, struct reel_error *err) {
    const struct http_file *file = context;
    if (file->expect) {
        file->expect(file->context, size);
    }
    return file_reply_file_read(file, 0, buffer, size, err);
}

void http_reply_file(struct http_request *r, const struct http_file *file) {
    if (r->replied) {
        file_release(file);
        return;
    }
    if (r->inner) {
        reply_take(r, 200, inner_file(r, file->media_type, file->length, read_begin, file), file->length);
        file_release(file);
        return;
    }
    struct http_validators validators = {.etag = file->etag, .modified_ns = file->modified_ns};
    struct http_ranges ranges = {0};
    add_validators(r, file);
    unsigned condition = conditional_status(r, &validators);
    if (condition) {
        reply_without(r, file, condition);
        return;
    }
    bool ranged = request_method_is(r, "GET") && conditional_if_range(r, &validators);
    enum http_range_answer answer = ranged ? range_parse(http_header(r, "Range"), file->length, &ranges) : RANGE_WHOLE;
    if (answer == RANGE_UNSATISFIABLE) {
        reply_without(r, file, 416);
        return;
    }
    add_file_headers(r, file);
    struct http_range all = {.first = 0, .last = file->length - 1};
    const struct http_range *range = answer == RANGE_PARTS ? &ranges.items[0] : &all;
    uint64_t length = range->last - range->first + 1; /* 0 for an empty file */
    bool several = answer == RANGE_PARTS && ranges.count > 1;
    if (answer == RANGE_PARTS && !several) {
        add_content_range(r, range, file->length);
    }
    AUTO_MEM char *media_type = strdup(file_header(r, "Content-Type", file->media_type)); /* the context may own it */
    struct MHD_Response *response =
        several ? parts_response(r, file, &ranges, &length) : range_response(r, file, range->first, length);
    if (response && !several) {
        reply_header(response, "Content-Type", media_type ? media_type : "application/octet-stream");
    }
    reply_take(r, answer == RANGE_PARTS ? 206 : 200, response, length);
}
