/* JSON-RPC 2.0 as the Model Context Protocol uses it: one request, notification or response in a body, no batches. */
#ifndef SERVER_API_MCP_RPC_H
#define SERVER_API_MCP_RPC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { RPC_BYTES_MAX = 64 << 10, RPC_DEPTH_MAX = 16 }; /* of a body */
enum rpc_code {
    RPC_PARSE = -32700,
    RPC_INVALID = -32600,
    RPC_METHOD = -32601,
    RPC_PARAMS = -32602,
    RPC_INTERNAL = -32603,
    RPC_HEADERS = -32020, /* of MCP: a header is missing or contradicts the body */
    RPC_VERSION = -32022, /* of MCP: the version of the protocol is unknown */
};

struct rpc_fault {
    enum rpc_code code;
    unsigned status; /* of HTTP */
    const char *text;
};

struct rpc_call {
    json_t *body;
    json_t *id;         /* a text or a number; of the body; NULL: a notification or a response, which gets no answer */
    const char *method; /* "" of a response */
    const json_t *params; /* an object, or NULL */
    const char *version;  /* of the protocol, as _meta names it; NULL: it does not */
};
/* False: *fault says why; out->id is set as far as it is known. rpc_done() also then. */
bool rpc_read(const char *text, size_t size, struct rpc_call *out, struct rpc_fault *fault);
void rpc_done(struct rpc_call *call);

/* The value of a header that may be coded as =?base64?…?=. False: it is not equal to `expected`. */
bool rpc_header_is(const char *header, const char *expected);

/* The documents of an answer; take `result` and `data`, which may be NULL. */
json_t *rpc_result(json_t *id, json_t *result);
json_t *rpc_error(json_t *id, enum rpc_code code, const char *text, json_t *data);

#endif
