/* The built page, which is embedded in the program. */
#ifndef SERVER_API_SERVICE_PAGE_H
#define SERVER_API_SERVICE_PAGE_H

#include <jansson.h>

struct page_file {
    const char *name;              /* "index.html", "assets/main-5QX3.js" */
    const char *media_type, *hash; /* of its bytes */
    const unsigned char *plain, *plain_end;
    const unsigned char *gzip, *gzip_end; /* the same packed; NULL: it does not get smaller */
};
extern const struct page_file page_files[]; /* ends with {0}; empty where the page was not built */

/* The OpenAPI document; belongs to the program. NULL: the page was not built. */
json_t *page_openapi(void);

#endif
