/* One row in the table of a writer is an option of the command line, a parameter of HTTP, part of the entity tag, a row
 * of the OpenAPI document and a line of the help, from which the manual page and the completions are made. */
#include "convert/writer.h"

extern const struct reel_writer grain_writer, plain_writer;
#define TOY_MORE_WRITERS &grain_writer, &plain_writer,
#include "makers/toy_format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/export/conversion.h"
#include "api/export/export.h"
#include "api/routes.h"
#include "api/service/openapi.h"
#include "cli/cli.h"
#include "http/http_internal.h"

/* ---- the writers: one of them prints its options, the other has none */

static bool put_options(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    char text[256];
    const char *glob = w->writer->options ? reel_write_option_text(w, "only_topic", 0) : NULL;
    (void)err;
    if (w->writer->options) {
        snprintf(text, sizeof text, "%llu %llu %llu %s", (unsigned long long)reel_write_option_u64(w, "grain_size"),
                 (unsigned long long)reel_write_option_u64(w, "bright"),
                 (unsigned long long)reel_write_option_u64(w, "pause"), reel_write_option_text(w, "paper", 0));
        reel_sink_put(out, text, strlen(text));
    }
    for (uint32_t i = 0; glob; glob = reel_write_option_text(w, "only_topic", ++i)) {
        reel_sink_put(out, " ", 1);
        reel_sink_put(out, glob, strlen(glob));
    }
    return true;
}

static bool skip_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct reel_message m;
    enum reel_step step;
    (void)out;
    while ((step = reel_write_next(w, &m, err)) == REEL_STEP_MESSAGE) {
    }
    return step == REEL_STEP_END;
}

static bool accepts(const struct reel_channel *channel, struct reel_loss *loss) {
    (void)channel;
    (void)loss;
    return true;
}

static const char *const papers[] = {"matt", "glossy", NULL};
static const struct reel_write_option grain_options[] = {
    {.name = "grain_size",
     .type = REEL_OPTION_UINT,
     .least = 2,
     .most = 50,
     .initial = "7",
     .help = "so many grains on a line"},
    {.name = "bright", .type = REEL_OPTION_FLAG, .help = "print it bright"},
    {.name = "pause", .type = REEL_OPTION_DURATION, .most = 2000000000, .help = "the time between pages"},
    {.name = "paper", .type = REEL_OPTION_CHOICE, .choices = papers, .initial = "matt", .help = "the paper"},
    {.name = "only_topic", .type = REEL_OPTION_GLOBS, .most = 2, .help = "print only these"},
    {0},
};
#define WRITER .version = 1, .media_type = "x/y", .accepts = accepts, .head = put_options, .messages = skip_messages
const struct reel_writer grain_writer = {.name = "grain", .extension = ".grain", .options = grain_options, WRITER};
const struct reel_writer plain_writer = {.name = "plain", .extension = ".plain", WRITER};

/* ---- the command line */

/* As `reel WORDS…`; words ends with NULL. */
static int run_convert(const char *const *words) {
    char copies[8][512], *argv[9] = {NULL};
    int n = 0;
    for (; n < 8 && words[n]; n++) {
        snprintf(copies[n], sizeof copies[n], "%s", words[n]);
        argv[n] = copies[n];
    }
    return cli_convert.run(n, argv);
}
static int convert(const char *out, const char *option, const char *value) {
    const char *const words[] = {"convert", "--force", REEL_SCRATCH "/in.toy", out, option, value, NULL};
    return run_convert(words);
}

/* What a small file has. */
static const char *content(const char *path) {
    static char text[64 << 10];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

static void the_command_line_takes_it(void **state) {
    (void)state;
    const char *out = REEL_SCRATCH "/out.grain";
    struct toy t = {0};
    toy_start(&t, REEL_CLOCK_WALL);
    toy_channel(&t, &(struct reel_channel){.name = "/a", .type = "T", .encoding = "ros1"});
    toy_message(&t, 0, 1000, 1, "x", 1);
    FILE *f = fopen(REEL_SCRATCH "/in.toy", "w");
    assert_non_null(f);
    assert_int_equal(fwrite(t.data, 1, t.size, f), t.size);
    assert_int_equal(fclose(f), 0);
    toy_free(&t);
    assert_int_equal(convert(out, NULL, NULL), CLI_DONE);
    assert_string_equal(content(out), "7 0 0 matt");
    assert_int_equal(convert(out, "--grain-size", "12"), CLI_DONE);
    assert_string_equal(content(out), "12 0 0 matt");
    assert_int_equal(convert(out, "--bright", NULL), CLI_DONE);
    assert_string_equal(content(out), "7 1 0 matt");
    assert_int_equal(convert(out, "--pause", "1.5s"), CLI_DONE);
    assert_string_equal(content(out), "7 0 1500000000 matt");
    assert_int_equal(convert(out, "--paper", "glossy"), CLI_DONE);
    assert_string_equal(content(out), "7 0 0 glossy");
    assert_int_equal(convert(out, "--only-topic", "/a*"), CLI_DONE);
    assert_string_equal(content(out), "7 0 0 matt /a*");
    assert_int_equal(convert(out, "--grain-size", "51"), CLI_USAGE);
    assert_int_equal(convert(out, "--pause", "3s"), CLI_USAGE);
    assert_int_equal(convert(out, "--paper", "rough"), CLI_USAGE);
    assert_int_equal(convert(REEL_SCRATCH "/out.plain", "--grain-size", "12"), CLI_FAILED);
}

static void the_help_lists_it(void **state) {
    (void)state;
    const char *const words[] = {"convert", "--help", NULL};
    const char *path = REEL_SCRATCH "/help.txt";
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    FILE *f = fopen(path, "w");
    assert_true(kept >= 0 && f && dup2(fileno(f), STDOUT_FILENO) >= 0);
    int code = run_convert(words);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    fclose(f);
    assert_int_equal(code, CLI_DONE);
    assert_non_null(
        strstr(content(path), "  --grain-size N              .grain: so many grains on a line (default 7)\n"));
    assert_non_null(strstr(content(path), "  --bright                    .grain: print it bright\n"));
    assert_non_null(
        strstr(content(path), "  --paper KIND                matt, glossy: .grain: the paper (default matt)\n"));
}

/* ---- HTTP */

static const struct http_param *convert_params(void) {
    for (const struct http_route *r = api_routes(); r->path; r++) {
        if (strcmp(r->path, "/api/v1/recordings/{id}/as/{name}") == 0) {
            return r->params;
        }
    }
    return NULL;
}

/* The values of a query; they point into `buffer`. */
static void read_query(const char *query, char *buffer, struct reel_write_values *values) {
    struct http_request r = {0};
    json_auto_t *errors = json_array();
    values->n = 0;
    assert_true(params_parse(query, buffer, convert_params(), NULL, &r.query, errors));
    assert_true(api_read_write_options(&r, &grain_writer, values));
    free(r.query.values);
}

static void http_takes_it(void **state) {
    (void)state;
    struct reel_write_values values;
    char buffer[256];
    read_query("grain_size=12&only_topic=/b&bright&only_topic=/a", buffer, &values);
    assert_int_equal(values.n, 4);
    assert_string_equal(values.items[0].name, "grain_size");
    assert_int_equal(values.items[0].number, 12);
    assert_string_equal(values.items[1].name, "bright");
    assert_int_equal(values.items[1].number, 1);
    assert_string_equal(values.items[2].text, "/b");
    assert_string_equal(values.items[3].text, "/a");
}

static void the_entity_tag_depends_on_it(void **state) {
    (void)state;
    static const char *const queries[] = {"",         "grain_size=12", "grain_size=13", "bright", "paper=glossy",
                                          "pause=1s", "only_topic=/a", "only_topic=/b"};
    enum { N = sizeof queries / sizeof *queries };
    char tags[N][64], buffer[256];
    struct inputs in = {0};
    for (size_t i = 0; i < N; i++) {
        struct conversion c = {.in = &in, .writer = &grain_writer, .options = {.compression = ""}};
        read_query(queries[i], buffer, &c.values);
        c.options.values = c.values.items;
        c.options.n_values = c.values.n;
        assert_true(conversion_tag(&c, 0));
        memcpy(tags[i], c.etag, sizeof tags[i]);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(tags[i], tags[k]);
        }
    }
}

static void the_openapi_document_describes_it(void **state) {
    (void)state;
    struct reel_error err = {0};
    json_auto_t *components = json_pack("{s:{}}", "info"), *document = openapi_document(components, &err);
    assert_non_null(document);
    const json_t *path = json_object_get(json_object_get(document, "paths"), "/api/v1/recordings/{id}/as/{name}"), *p;
    unsigned found = 0;
    size_t i;
    json_array_foreach(json_object_get(json_object_get(path, "get"), "parameters"), i, p) {
        const char *name = json_string_value(json_object_get(p, "name"));
        if (name && strcmp(name, "grain_size") == 0) {
            AUTO_MEM char *row = json_dumps(p, JSON_COMPACT | JSON_SORT_KEYS);
            assert_string_equal(row, "{\"description\":\".grain: so many grains on a line.\",\"in\":\"query\",\"name\":"
                                     "\"grain_size\",\"schema\":{\"default\":7,\"maximum\":50,\"minimum\":2,\"type\":"
                                     "\"integer\"}}");
            found++;
        }
    }
    assert_int_equal(found, 1);
}

/* ---- values */

static void others_name_what_they_have(void **state) {
    (void)state;
    struct reel_write_values values = {.n = 0};
    struct reel_error err = {0};
    assert_false(reel_writer_set_option(&plain_writer, "grain_size", "3", false, &values, &err));
    assert_string_equal(err.text, "means nothing for plain files, which take no options of their own");
    assert_false(reel_writer_set_option(&grain_writer, "fps", "3", false, &values, &err));
    assert_string_equal(err.text,
                        "means nothing for grain files, which take grain_size, bright, pause, paper, only_topic");
    assert_false(reel_writer_set_option(&grain_writer, "fps", "3", true, &values, &err));
    assert_string_equal(
        err.text, "means nothing for grain files, which take --grain-size, --bright, --pause, --paper, --only-topic");
}

static void values_are_checked(void **state) {
    (void)state;
    static const char *const wrong[][3] = {
        {"grain_size", "1", "must be a whole number from 2 to 50"},
        {"grain_size", "51", "must be a whole number from 2 to 50"},
        {"grain_size", "-3", "must be a whole number from 2 to 50"},
        {"grain_size", "99999999999999999999", "must be a whole number from 2 to 50"},
        {"bright", "maybe", "must be true or false"},
        {"pause", "2.1s", "must be a duration from 0 to 2000000000 ns"},
        {"paper", "rough", "must be one of matt, glossy"},
    };
    struct reel_write_values values = {.n = 0};
    struct reel_error err = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(reel_writer_set_option(&grain_writer, wrong[i][0], wrong[i][1], false, &values, &err));
        assert_string_equal(err.text, wrong[i][2]);
    }
    assert_int_equal(values.n, 0);
    assert_true(reel_writer_set_option(&grain_writer, "grain_size", "2", false, &values, &err));
    assert_true(reel_writer_set_option(&grain_writer, "grain_size", "50", false, &values, &err)); /* the last counts */
    assert_int_equal(values.n, 1);
    assert_int_equal(values.items[0].number, 50);
    assert_true(reel_writer_set_option(&grain_writer, "only_topic", "/a", false, &values, &err));
    assert_true(reel_writer_set_option(&grain_writer, "only_topic", "/b", false, &values, &err));
    assert_false(reel_writer_set_option(&grain_writer, "only_topic", "/c", false, &values, &err));
    assert_string_equal(err.text, "may be given at most 2 times");
    assert_int_equal(values.n, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_command_line_takes_it),
        cmocka_unit_test(the_help_lists_it),
        cmocka_unit_test(http_takes_it),
        cmocka_unit_test(the_entity_tag_depends_on_it),
        cmocka_unit_test(the_openapi_document_describes_it),
        cmocka_unit_test(others_name_what_they_have),
        cmocka_unit_test(values_are_checked),
    };
    setenv("XDG_CACHE_HOME", REEL_SCRATCH, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
