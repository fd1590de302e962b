/* What the C library prints and reads depends on the locale that the program has set: "1,5" instead of 1.5, names of
 * months, texts of errors. In the scope of
 *
 *     C_LOCALE;
 *
 * this thread has the locale "C"; then it has the one that it had before. tests/lint/locales.py checks where it is
 * needed. */
#ifndef REEL_BASE_C_LOCALE_H
#define REEL_BASE_C_LOCALE_H

#include <locale.h>

#define C_LOCALE __attribute__((cleanup(c_locale_leave))) const locale_t locale_before_ = c_locale_enter()

static inline locale_t c_locale_enter(void) {
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); /* "C" is a constant: nothing to free */
}
static inline void c_locale_leave(const locale_t *before) {
    uselocale(*before);
}

#endif
