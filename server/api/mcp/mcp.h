/* POST /mcp: the Model Context Protocol, by which agents call tools, and documents for agents. */
#ifndef SERVER_API_MCP_MCP_H
#define SERVER_API_MCP_MCP_H

#include "api/mcp/tools.h"
#include "http/http.h"

enum {
    MCP_TEXT_MAX = 96000,      /* bytes of the data of a result, escaped as in the answer */
    MCP_IMAGE_MAX = 768 << 10, /* bytes of an image before it becomes base64 */
};

/* mcp.c */
void api_mcp(struct http_request *r);
/* call.c: the result of a call, also of one that fails. NULL: no memory, or it has replied. */
json_t *mcp_call(struct http_request *r, const struct mcp_tool *tool, const json_t *arguments);
/* guide.c */
void api_llms(struct http_request *r);
void api_skill(struct http_request *r);

#endif
