/* What people say of a package that they deposit: the parameter `deposit`, a JSON object. */
#ifndef SERVER_API_EXPORT_DEPOSIT_H
#define SERVER_API_EXPORT_DEPOSIT_H

#include <jansson.h>

#include "http/http.h"

/* The members of the parameter, checked: title, description, license, publisher, doi and date are texts; authors are
 * objects of name, or family and given, with orcid, affiliation and email; keywords and instruments are lists of texts.
 * title and date are always there. A new reference; NULL: replied. */
json_t *deposit_read(struct http_request *r);
const char *deposit_text(const json_t *object, const char *member); /* NULL: it does not have it */
/* "Ada Lovelace". Returns `out`. */
enum { PERSON_ROOM = 2048 };
const char *deposit_person(const json_t *author, char out[PERSON_ROOM]);
/* Whether the licence is the identifier that SPDX gave it, not an address. */
bool deposit_license_is_spdx(const char *license);
/* CITATION.cff, malloc'd; NULL: no memory. There are authors: the format asks for one. */
char *deposit_citation(const json_t *deposit);

#endif
