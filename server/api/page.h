/* The built page, compiled into the program. */
#ifndef SERVER_PAGE_H
#define SERVER_PAGE_H

struct page_file {
    const char *name;              /* "index.html", "assets/main-5QX3.js" */
    const char *media_type, *hash; /* of its bytes */
    const unsigned char *plain, *plain_end;
    const unsigned char *gzip, *gzip_end; /* compressed; NULL: compression does not make it smaller */
};
extern const struct page_file page_files[]; /* ends with {0}; empty where the page was not built */

#endif
