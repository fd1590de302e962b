/* Which origins a pattern of --record-from allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "live/websocket_client.h"

static void test_patterns(void **state) {
    static const struct {
        const char *pattern, *origin;
        bool allowed;
    } cases[] = {
        {"ws://lab7:38801", "ws://lab7:38801", true},
        {"wss://lab7/", "wss://lab7:443", true},
        {"ws://lab7:*", "ws://lab7:80", true},
        {"ws://lab7:*", "wss://lab7:80", false},
        {"ws://lab*:80", "ws://lab12:80", true},
        {"ws://10.0.0.*:38801", "ws://10.0.0.17:38801", true},
        {"ws://10.0.0.*:38801", "ws://10.0.0.1.evil.example:38801", false},
        {"ws://10.0.0.*", "ws://10.0.0.1.evil.example:38801", false},
        {"ws://lab*:80", "ws://lab.evil.example:80", false},
        {"ws://*.lab.example:80", "ws://a.lab.example:80", true},
        {"ws://*.lab.example:80", "ws://a.b.lab.example:80", false},
        {"ws://*:80", "ws://a.b.example:80", true},
        {"*", "wss://a.b.example:443", true},
        {"ws://*lab:80", "ws://evil.lab:80", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (websocket_allows(cases[i].pattern, cases[i].origin) != cases[i].allowed) {
            fail_msg("%s with %s", cases[i].pattern, cases[i].origin);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_patterns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
