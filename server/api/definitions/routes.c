/* Endpoints of the definitions that users supply. */
#include "api/definitions/definitions.h"
#include "api/params.h"

const struct api_route api_routes_definitions[] = {
    {.http = {"GET", BASE "/definitions", ROLE_READ, api_page_params,
              "Lists the definitions of message types that were supplied, by name.", api_definitions_list, NULL, NULL,
              NULL},
     .id = "listDefinitions",
     .tag = "definitions",
     .answers = "200" ERRORS_LIST},
    {.http = {"POST", BASE "/definitions", ROLE_EDIT, api_no_params,
              "Adds all definitions of a ZIP archive, such as one of a ROS workspace.", api_definitions_add, body_begin,
              body_archive_piece, NULL},
     .id = "addDefinitions",
     .tag = "definitions",
     .detail =
         "Its .msg, .srv, .action and .idl files are named by their paths, as PACKAGE/msg/TYPE.msg in any folder; "
         "other files are ignored. Definitions of the same names are replaced.",
     .answers = "200" ERRORS_WRITE},
    {.http = {"GET", BASE "/definitions/{package}/{type...}", ROLE_READ, api_no_params,
              "Returns a definition that was supplied, as JSON or as its text.", api_definition_get, NULL, NULL, NULL},
     .id = "getDefinition",
     .tag = "definitions",
     .answers = "200 304:NotModified" ERRORS_ONE " 406:NotAcceptable"},
    {.http = {"PUT", BASE "/definitions/{package}/{type...}", ROLE_EDIT, api_no_params,
              "Supplies the definition of a message type, for recordings that hold none.", api_definition_put,
              JSON_BODY},
     .id = "putDefinition",
     .tag = "definitions",
     .detail =
         "The body is the text of the .msg, .srv, .action or .idl file. It applies to the whole archive, to "
         "recordings that are in it and to later ones: to channels whose recording has no definition of the type "
         "or lacks it as a part, unless its MD5 sum or type hash is not the recorded one. It counts before a "
         "built-in definition. Replaces the one of this name, if there is one; with If-Match only the one of this "
         "tag, with If-None-Match: * none.",
     .policy = {.if_match = true, .if_none_match = true},
     .answers = "200 201:putDefinition201" ERRORS_WRITE},
    {.http = {"DELETE", BASE "/definitions/{package}/{type...}", ROLE_EDIT, api_no_params, "Deletes a definition.",
              api_definition_delete, NULL, NULL, NULL},
     .id = "deleteDefinition",
     .tag = "definitions",
     .policy = {.if_match = true},
     .answers = "204:Deleted" ERRORS_WRITE},
    {.id = NULL},
};
