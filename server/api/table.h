/* Answers that are tables (reel/table.h): which form the client wants. */
#ifndef SERVER_API_TABLE_H
#define SERVER_API_TABLE_H

#include "http/http.h"
#include "reel/table.h"

enum { API_TABLE_TEXT = -1 }; /* a form: the tool's own words, where there are any */

/* By ?output= or Accept: *form is an enum reel_table_form, or API_TABLE_TEXT. `usual` is for a client that takes any; API_TABLE_TEXT and
 * REEL_TABLE_GEOJSON are only there where `usual` or `also` names them (else give `usual` twice). Returns the Content-Type; NULL: replied
 * (406). */
const char *api_table_form(struct http_request *r, int usual, int also, int *form);

#endif
