/* The tools: each is one GET route of the API, or several under one name. Names, descriptions and schemas of their
 * parameters come from the rows of the route table. */
#ifndef SERVER_API_MCP_TOOLS_H
#define SERVER_API_MCP_TOOLS_H

#include <jansson.h>
#include <stdio.h>

#include "api/routes.h"
#include "reel/error.h"

struct mcp_operation {
    const char *kind;   /* the value of the tool's parameter "kind" that selects it; NULL: the only one */
    const char *id;     /* of the row of the route table */
    const char *params; /* the row's parameters that the tool has, separated by spaces */
    const char *try;    /* a query for documents: an example */
};
struct mcp_tool {
    const char *name, *title;
    const char *note;   /* added to the description; NULL: nothing */
    const char *output; /* the parameter output that is always sent; NULL: none */
    /* The parameter that says how much is returned, with its default and maximum here; NULL: none. */
    const char *amount;
    unsigned fallback, max;
    bool image, link;                       /* what the result is, instead of text */
    const struct mcp_operation *operations; /* the first is the default; ends with {0} */
};
extern const struct mcp_tool mcp_tools[]; /* ends with {0} */

const struct mcp_tool *mcp_tool(const char *name);              /* NULL: there is none */
const struct api_route *mcp_row(const struct mcp_operation *o); /* never NULL: tests/unit/server/mcp/tools.c */
/* Its row's parameter of this name, if the tool has it; NULL: it has not. */
const struct http_param *mcp_param(const struct mcp_operation *o, const char *name);
/* Calls visit for each name in braces of the row's path. */
void mcp_each_segment(const struct mcp_operation *o,
                      void (*visit)(void *context, const char *segment, const char *name), void *context);
/* The tools as tools/list has them. NULL: no memory. */
json_t *mcp_list_tools(void);
/* Writes path and query of the row; the values of arguments that are missing are left out. False: an argument is
 * unknown, or of a wrong type, or a part of the path is missing. */
bool mcp_put_target(FILE *f, const struct mcp_tool *tool, const struct mcp_operation *o, const json_t *arguments,
                    uint64_t amount, struct reel_error *err);

#endif
