/* Answers that are tables (reel/table.h): which form the client wants. */
#ifndef SERVER_API_TABLE_H
#define SERVER_API_TABLE_H

#include "http/http.h"
#include "reel/table.h"

enum { API_TABLE_TEXT = -1 }; /* the tool's own words, where there are any */

/* By ?format= or Accept: *form is an enum reel_table_form, or API_TABLE_TEXT, which is first when `has_text`. Returns the Content-Type; NULL: replied (406). */
const char *api_table_form(struct http_request *r, bool has_text, int *form);
/* The same without the tool's own words, for a client that takes any form: `usual`. */
const char *api_table_form_of(struct http_request *r, enum reel_table_form usual, int *form);

#endif
