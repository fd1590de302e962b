/* Linked to every test program: libreel is used by programs that have set a locale, so it is tested under one that
 * differs as much as a locale can. In the Turkish one a number has a comma, "I" is no capital "i", months and errors
 * have other names, and bytes above 127 are letters. tests/CMakeLists.txt makes it and names its folder here. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void set_locale(void) {
    const char *folder = getenv("REEL_TEST_LOCALE");
    if (!folder) {
        return;
    }
    setenv("LOCPATH", folder, 1); /* not from the start: with it, libraries that libreel uses leak memory */
    if (!setlocale(LC_ALL, "tr_TR")) {
        fprintf(stderr, "there is no locale tr_TR in %s\n", folder);
        abort();
    }
    unsetenv("LOCPATH");
}
