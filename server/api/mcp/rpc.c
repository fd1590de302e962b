/* See rpc.h. */
#include "api/mcp/rpc.h"

#include <stdlib.h>
#include <string.h>

#include "api/body.h"
#include "base/cleanup.h"
#include "syntax/base64.h"

enum { HEADER_MAX = 512 };
static const char CODED_BEGIN[] = "=?base64?", CODED_END[] = "?=";

static bool rpc_fail(struct rpc_fault *fault, enum rpc_code code, unsigned status, const char *text) {
    *fault = (struct rpc_fault){.code = code, .status = status, .text = text};
    return false;
}

static bool read_body(const char *text, size_t size, json_t **out, struct rpc_fault *fault) {
    if (size > RPC_BYTES_MAX) {
        return rpc_fail(fault, RPC_INVALID, 413, "The body is longer than 64 KiB.");
    }
    if (body_depth(text, size) > RPC_DEPTH_MAX) {
        return rpc_fail(fault, RPC_INVALID, 400, "The body is nested too deeply.");
    }
    *out = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    if (!*out) {
        return rpc_fail(fault, RPC_PARSE, 400, "The body is not JSON.");
    }
    if (json_is_array(*out)) {
        return rpc_fail(fault, RPC_INVALID, 400, "Batches are not supported: send one request at a time.");
    }
    return json_is_object(*out) || rpc_fail(fault, RPC_INVALID, 400, "The body is not a JSON object.");
}

static bool is_version(const json_t *body) {
    const char *version = json_string_value(json_object_get(body, "jsonrpc"));
    return version && strcmp(version, "2.0") == 0;
}

bool rpc_read(const char *text, size_t size, struct rpc_call *out, struct rpc_fault *fault) {
    *out = (struct rpc_call){.method = ""};
    if (!read_body(text, size, &out->body, fault)) {
        return false;
    }
    json_t *id = json_object_get(out->body, "id");
    const json_t *method = json_object_get(out->body, "method"), *params = json_object_get(out->body, "params");
    bool answers = !method && (json_object_get(out->body, "result") || json_object_get(out->body, "error"));
    if (id && !json_is_string(id) && !json_is_integer(id)) {
        return rpc_fail(fault, RPC_INVALID, 400, "The id is neither a string nor an integer.");
    }
    out->id = answers ? NULL : id;
    if (!is_version(out->body) || !(json_is_string(method) || answers)) {
        return rpc_fail(fault, RPC_INVALID, 400, "The body is not a request of JSON-RPC 2.0.");
    }
    if (params && !json_is_object(params)) {
        return rpc_fail(fault, RPC_INVALID, 400, "The params are not an object.");
    }
    out->method = answers ? "" : json_string_value(method);
    out->params = params;
    out->version =
        json_string_value(json_object_get(json_object_get(params, "_meta"), "io.modelcontextprotocol/protocolVersion"));
    return true;
}

void rpc_done(struct rpc_call *call) {
    json_decref(call->body);
    *call = (struct rpc_call){0};
}

bool rpc_header_is(const char *header, const char *expected) {
    size_t size = header ? strlen(header) : 0, begin = sizeof CODED_BEGIN - 1, end = sizeof CODED_END - 1;
    if (!header || size > HEADER_MAX) {
        return false;
    }
    if (size < begin + end || strncmp(header, CODED_BEGIN, begin) != 0 || strcmp(header + size - end, CODED_END) != 0) {
        return strcmp(header, expected) == 0;
    }
    uint8_t decoded[BASE64_ROOM(HEADER_MAX)];
    size_t n;
    struct reel_bytes text = {(const uint8_t *)header + begin, size - begin - end};
    return base64_read(text, decoded, &n) && n == strlen(expected) && memcmp(decoded, expected, n) == 0;
}

static json_t *document(json_t *id, const char *member, json_t *value) {
    json_t *out = json_pack("{s:s, s:O}", "jsonrpc", "2.0", "id", id ? id : json_null());
    if (!out || !value) {
        json_decref(value);
    } else if (json_object_set_new(out, member, value) == 0) {
        return out;
    }
    json_decref(out);
    return NULL;
}

json_t *rpc_result(json_t *id, json_t *result) {
    return document(id, "result", result);
}

json_t *rpc_error(json_t *id, enum rpc_code code, const char *text, json_t *data) {
    return document(id, "error", json_pack("{s:i, s:s, s:o*}", "code", (int)code, "message", text, "data", data));
}
