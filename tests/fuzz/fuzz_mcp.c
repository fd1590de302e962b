/* Fuzzes a body of POST /mcp: what is read is a request, and each call of a tool is the path of one of our own routes
 * or is refused. The first line is a header, the rest the body. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/body.h"
#include "api/mcp/rpc.h"
#include "api/mcp/tools.h"
#include "base/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) {
        abort();
    }
}

/* A path that leaves its route would have other segments, or a second "?". */
static void check_target(const char *text, const struct mcp_operation *o) {
    size_t slashes = 0, expected = 0;
    const char *path = mcp_row(o)->http.path, *query = strchr(text, '?');
    for (const char *p = path; *p; p++) {
        expected += *p == '/';
    }
    for (const char *p = text; *p && p != query; p++) {
        slashes += *p == '/';
    }
    must(slashes == expected && strncmp(text, path, strcspn(path, "{")) == 0);
    must(!query || !strchr(query + 1, '?'));
    must(!strpbrk(text, " \r\n#"));
}

static void try_tool(const struct mcp_tool *tool, const json_t *arguments) {
    for (const struct mcp_operation *o = tool->operations; o->id; o++) {
        AUTO_MEM char *text = NULL;
        size_t size;
        struct reel_error err = {0};
        FILE *f = open_memstream(&text, &size);
        must(f);
        bool good = mcp_put_target(f, tool, o, arguments, 1, &err);
        must(fclose(f) == 0);
        if (good) {
            check_target(text, o);
        } else {
            must(err.text[0] != '\0');
        }
    }
}

static void try_answers(const struct rpc_call *call) {
    json_auto_t *result = rpc_result(call->id, json_object());
    json_auto_t *error = rpc_error(call->id, RPC_INTERNAL, "x", NULL);
    must(json_object_size(result) == 3 && json_object_size(error) == 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = memchr(data, '\n', size);
    size_t first = end ? (size_t)(end - data) : 0;
    AUTO_MEM char *header = strndup((const char *)data, first);
    const char *text = (const char *)data + (end ? first + 1 : 0);
    size -= end ? first + 1 : 0;
    struct rpc_call call;
    struct rpc_fault fault;
    if (rpc_read(text, size, &call, &fault)) {
        const json_t *arguments = json_object_get(call.params, "arguments");
        must(json_is_object(call.body) && call.method && (!call.params || json_is_object(call.params)));
        must(!call.id || json_is_string(call.id) || json_is_integer(call.id));
        rpc_header_is(header, call.method);
        for (const struct mcp_tool *tool = mcp_tools; tool->name && json_is_object(arguments); tool++) {
            try_tool(tool, arguments);
        }
    } else {
        must(fault.text && fault.status >= 400);
    }
    try_answers(&call);
    rpc_done(&call);
    return 0;
}
