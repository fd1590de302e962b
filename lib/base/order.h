/* Orders for qsort() and bsearch(). */
#ifndef REEL_BASE_ORDER_H
#define REEL_BASE_ORDER_H

#include <stdint.h>
#include <string.h>

static inline int order_u64(const void *a, const void *b) { /* the items begin with a uint64_t */
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}
static inline int order_texts(const void *a, const void *b) { /* the items begin with a const char * */
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

#endif
