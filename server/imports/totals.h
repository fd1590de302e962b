/* What becomes of a file that is imported, and the totals since the start of the process. */
#ifndef SERVER_IMPORTS_TOTALS_H
#define SERVER_IMPORTS_TOTALS_H

#include <stdint.h>

enum import_outcome {
    IMPORT_WOULD, /* dry run: it would be imported */
    IMPORT_CREATED,
    IMPORT_EXISTS,    /* its content exists under its name */
    IMPORT_SCANNING,  /* it is in the catalog, and its scan continues */
    IMPORT_UNCHANGED, /* known from before, and not read */
    IMPORT_PASSED,    /* not a recording, by content and by name */
    IMPORT_WAITS,     /* still being written */
    IMPORT_FAILED,
    IMPORT_OUTCOMES
};

struct import_totals {
    /* under_way: recordings queued or being imported */
    _Atomic uint64_t outcomes[IMPORT_OUTCOMES], bytes_read, under_way;
};

#endif
