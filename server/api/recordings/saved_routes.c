/* Endpoints of what users save by name: layouts of collections, searches. */
#include "api/params.h"
#include "api/recordings/recordings.h"

#define DETAIL_PUT                                                                                                     \
    "Replaces the one of this name, if there is one. With If-Match only the one of this tag, with If-None-Match: * "   \
    "none. An archive has "                                                                                            \
    "at "                                                                                                              \
    "most 200 searches, and 200 layouts for each collection."

const struct api_route api_routes_saved[] = {
    {.http = {"GET", BASE "/collections/{name}/layouts", ROLE_READ, api_row_params,
              "Lists the layouts of a collection, by name.", api_saved_list, NULL, NULL, NULL},
     .id = "listPanelLayouts",
     .tag = "catalog",
     .answers = "200" ERRORS_LIST},
    {.http = {"GET", BASE "/collections/{name}/layouts/{layout...}", ROLE_READ, api_no_params,
              "Returns a layout of a collection.", api_saved_get, NULL, NULL, NULL},
     .id = "getPanelLayout",
     .tag = "catalog",
     .answers = "200 304:NotModified" ERRORS_ONE},
    {.http = {"PUT", BASE "/collections/{name}/layouts/{layout...}", ROLE_EDIT, api_no_params,
              "Saves a layout of a collection.", api_saved_put, JSON_BODY},
     .id = "savePanelLayout",
     .tag = "catalog",
     .detail = DETAIL_PUT,
     .policy = {.if_match = true, .if_none_match = true},
     .answers = "200 201:savePanelLayout201" ERRORS_WRITE},
    {.http = {"DELETE", BASE "/collections/{name}/layouts/{layout...}", ROLE_EDIT, api_no_params,
              "Deletes a layout of a collection.", api_saved_delete, NULL, NULL, NULL},
     .id = "deletePanelLayout",
     .tag = "catalog",
     .policy = {.if_match = true},
     .answers = "204:Deleted" ERRORS_WRITE},
    {.http = {"GET", BASE "/searches", ROLE_READ, api_row_params, "Lists the saved searches, by name.", api_saved_list,
              NULL, NULL, NULL},
     .id = "listSearches",
     .tag = "catalog",
     .detail = "A caller that is limited to some collections sees none, as a search may name any collection.",
     .answers = "200" ERRORS_LIST},
    {.http = {"GET", BASE "/searches/{search...}", ROLE_READ, api_no_params, "Returns a saved search.", api_saved_get,
              NULL, NULL, NULL},
     .id = "getSearch",
     .tag = "catalog",
     .answers = "200 304:NotModified" ERRORS_ONE},
    {.http = {"PUT", BASE "/searches/{search...}", ROLE_EDIT, api_no_params, "Saves a search.", api_saved_put,
              JSON_BODY},
     .id = "saveSearch",
     .tag = "catalog",
     .detail = DETAIL_PUT,
     .policy = {.if_match = true, .if_none_match = true},
     .answers = "200 201:saveSearch201" ERRORS_WRITE},
    {.http = {"DELETE", BASE "/searches/{search...}", ROLE_EDIT, api_no_params, "Deletes a saved search.",
              api_saved_delete, NULL, NULL, NULL},
     .id = "deleteSearch",
     .tag = "catalog",
     .policy = {.if_match = true},
     .answers = "204:Deleted" ERRORS_WRITE},
    {.id = NULL},
};
