/* The output format of answers that are tables (tables/table.h). */
#ifndef SERVER_API_TABLE_H
#define SERVER_API_TABLE_H

#include "http/http.h"
#include "tables/table.h"

enum { API_TABLE_TEXT = -1 }; /* a form: the text output of the format's own tool */

/* Reads ?output=, or else Accept: *form is an enum reel_table_form or API_TABLE_TEXT. `fallback` is the default, and
 * what Accept: any gets. API_TABLE_TEXT and REEL_TABLE_GEOJSON are only offered if they are `fallback` or `also` (to
 * offer neither, pass `fallback` twice). Returns the Content-Type; NULL: replied (406). */
const char *api_table_form(struct http_request *r, int fallback, int also, int *form);

#endif
