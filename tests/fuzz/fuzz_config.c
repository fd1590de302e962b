/* Fuzzes configuration files: the input is one, for options of every kind. What is refused says where and why; what a
 * value of each kind is set to is one that its option allows. */
#include "base/cleanup.h"
#include "cli/cli.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const choices[] = {"copy", "link", "move", NULL};
enum { ARGUMENTS = 4 };

static struct {
    const char *config, *text;
    struct option_list list;
    bool flag;
    uint64_t large;
    unsigned small;
    int choice;
} to;

static void must(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static const struct cli_option options[] = {
    {.name = "config", .kind = CLI_TEXT, .to = &to.config},
    {.name = "text", .kind = CLI_TEXT, .to = &to.text},
    {.name = "list", .kind = CLI_LIST, .to = &to.list},
    {.name = "flag", .kind = CLI_FLAG, .to = &to.flag},
    {.name = "large-mb", .kind = CLI_UINT, .to = &to.large, .unit = 1 << 20, .least = 1, .most = 1 << 30},
    {.name = "small", .kind = CLI_UINT, .to = &to.small, .most = 86400, .narrow = true},
    {.name = "choice", .kind = CLI_CHOICE, .to = &to.choice, .choices = choices},
    {0},
};

static void check_values(void) {
    static volatile size_t seen; /* reads every text */
    for (uint32_t i = 0; i < to.list.count; i++) {
        must(to.list.items[i][0] != '\0', "no item of a list is empty");
        seen = strlen(to.list.items[i]);
    }
    seen = to.text ? strlen(to.text) : 0;
    must(to.large == 0 || (to.large >= 1 << 20 && to.large <= (uint64_t)1 << 50), "a number is within its bounds");
    must(to.small <= 86400 && to.choice >= 0 && to.choice < 3, "a value is one that is allowed");
    (void)seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct reel_error err = {0};
    struct cli_sources sources = {.config = &to.config};
    AUTO_MEM char *text = strndup((const char *)data, size);
    must(text, "memory");
    memset(&to, 0, sizeof to);
    bool good = cli_read_config("reel.conf", text, options, &sources, ARGUMENTS, &err);
    must(good == (err.code == REEL_OK), "what is refused says why");
    must(good || strncmp(err.text, "reel.conf:", 10) == 0, "and where");
    check_values();
    free(to.list.items);
    cli_sources_done(&sources);
    return 0;
}
