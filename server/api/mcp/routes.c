/* Endpoints for agents. */
#include "api/mcp/mcp.h"
#include "api/params.h"

const struct api_route api_routes_mcp[] = {
    {.http = {"POST", "/mcp", ROLE_READ, api_no_params, "Answers a request of the Model Context Protocol.", api_mcp,
              JSON_BODY},
     .id = "mcp",
     .policy = {.key = HTTP_KEY_NATURAL},
     .tag = "service",
     .detail = "One JSON-RPC request in the body: server/discover, tools/list and tools/call of the revision "
               "2026-07-28, which needs no session, or initialize, ping and the same of earlier revisions. The tools "
               "only read. A notification is answered 202.",
     .answers = "200 202:mcp202 400:mcpFault 401:Unauthorized 403:Forbidden 404:mcpFault 413:mcpFault "
                "415:UnknownFormat 429:TooManyFailures 500:Failed 503:Unavailable"},
    {.http = {"GET", "/llms.txt", ROLE_NONE, api_no_params, "Describes this server to agents.", api_llms, NULL, NULL,
              NULL},
     .id = "getLlms",
     .tag = "service",
     .answers = "200 400:BadRequest"},
    {.http = {"GET", "/skill.md", ROLE_NONE, api_no_params, "Describes to agents how to ask this server with curl.",
              api_skill, NULL, NULL, NULL},
     .id = "getSkill",
     .tag = "service",
     .answers = "200 400:BadRequest"},
    {.id = NULL},
};
