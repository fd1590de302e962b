/* A size as people read it: "1.5 GB". */
#ifndef REEL_BASE_SIZE_TEXT_H
#define REEL_BASE_SIZE_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/c_locale.h"

/* `out` has room for 16. */
static inline const char *size_text(uint64_t bytes, char out[16]) {
    C_LOCALE;
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 999.95 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        unit++;
    }
    snprintf(out, 16, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return out;
}

#endif
