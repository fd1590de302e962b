/* The line of a search box: what it is taken for, what it is refused for, and what it finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "catalog/notes.h"
#include "catalog/pattern.h"
#include "catalog/search.h"
#include "catalog/values.h"
#include "makers/catalog_fixture.h"

/* ---- the grammar */

static void put_node(FILE *out, const struct search *s, const struct search_node *t) {
    static const char *const kinds[] = {"all",  "any",      "word",       "topic",  "type",  "meta",
                                        "tag",  "format",   "collection", "state",  "group", "damaged",
                                        "size", "duration", "messages",   "created"};
    const char *between = t->kind == SEARCH_ANY ? " | " : " ";
    fprintf(out, "%s%s", t->negated ? "-" : "", t->kind <= SEARCH_WORD ? "" : kinds[t->kind]);
    if (t->kind == SEARCH_TAG) {
        fprintf(out, t->key.exact ? "=%s" : "~%s", t->key.text);
    }
    for (uint32_t k = 0; k < t->n_values; k++) {
        fprintf(out, "%s%s%s",
                k > 0                    ? ","
                : t->kind == SEARCH_WORD ? ""
                                         : " ",
                t->values[k].exact ? "=" : "~", t->values[k].text);
    }
    if (t->has_range && t->kind != SEARCH_WORD) {
        fprintf(out, " %lld..%lld", (long long)t->min, (long long)t->max);
    } else if (t->has_range) {
        fprintf(out, "@%lld", (long long)((t->max - t->min) / 86400000000000 + 1));
    }
    if (t->kind <= SEARCH_ANY) {
        fputc('(', out);
        for (uint32_t k = t->first; k; k = s->nodes[k].next) {
            put_node(out, s, &s->nodes[k]);
            fputs(s->nodes[k].next ? between : "", out);
        }
        fputc(')', out);
    }
}

/* "((~door tag~robot ~r1) | (…))" */
static char *description_of(const struct search *s) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    put_node(out, s, &s->nodes[0]);
    fclose(out);
    return text;
}

static void lines_are_taken_apart(void **state) {
    (void)state;
    const struct {
        const char *q, *description;
    } cases[] = {
        {"", "(())"},
        {"  \t ", "(())"},
        {"door", "((~door))"},
        {"door  open", "((~door ~open))"},
        {"\"door open\"", "((=door open))"},
        {"-door x", "((-~door ~x))"},
        {"-a -\"b c\"", "((-~a -=b c))"},
        {"- / --- a", "((~a))"},
        {"a\"b", "((~a\"b))"},
        {"NOT a b* ^c {d} NEAR(e)", "((~NOT ~a ~b* ~^c ~{d} ~NEAR(e)))"},
        {"\"say \\\"hi\\\" \\\\ \\n\"", "((=say \"hi\" \\ \\n))"},
        {"robot:r1", "((tag~robot ~r1))"},
        {"robot:r1,r2,\"r 3\"", "((tag~robot ~r1,~r2,=r 3))"},
        {"robot:*", "((tag~robot ~*))"},
        {"*:r1", "((tag~* ~r1))"},
        {"-robot:r1", "((-tag~robot ~r1))"},
        {"robot:\"\"", "((tag~robot =))"},
        {"\"a:b\":c", "((tag=a:b ~c))"},
        {"\"topic\":x", "((tag=topic ~x))"},
        {"at:12:30:01", "((tag~at ~12:30:01))"},
        {"url:http://x?a=1", "((tag~url ~http://x?a=1))"},
        {"topic:/scan type:sensor_msgs/* x", "((topic ~/scan type ~sensor_msgs/* ~x))"},
        {"format:rosbag1 collection:lab,field state:ready,failed group:g damaged:true",
         "((format ~rosbag1 collection ~lab,~field state ~ready,~failed group ~g damaged ~true))"},
        {"meta.dc:Title:Run", "((meta ~dc:Title:Run))"},
        {"meta.dc:Title:\"A b\",c", "((meta =dc:Title:A b,~dc:Title:c))"},
        {"meta.\"a b:c\":d,\"e f\" x", "((meta ~a b:c:d,=a b:c:e f ~x))"},
        {"meta.operator:*", "((meta ~operator:*))"},
        {"-meta.a:1,2", "((-meta ~a:1,~a:2))"},
        {"Tag.x:1", "((tag~Tag.x ~1))"},
        {"T\xc3\xbcr:\xc3\xa4", "((tag~T\xc3\xbcr ~\xc3\xa4))"},
        {"a or b", "((~a) | (~b))"},
        {"a b OR c | d", "((~a ~b) | (~c) | (~d))"},
        {"order \"or\" oregon", "((~order =or ~oregon))"},
        {"a (b or c)", "((~a ((~b) | (~c))))"},
        {"-(a b)", "((-((~a ~b))))"},
        {"((a))", "((((((~a))))))"},
        {"(a)or(b)", "((((~a))) | (((~b))))"},
        {"run(1) (run(2) or k:v(3))", "((~run(1) ((~run(2)) | (tag~k ~v(3)))))"},
        {"(a,b:c)", "((((tag~a,b ~c))))"},
        {"2024-06-11", "((~2024-06-11@1))"},
        {"2024-06 -2023-02", "((~2024-06@30 -~2023-02@28))"},
        {"2024-13 2024-02-30 2024-06-1", "((~2024-13 ~2024-02-30 ~2024-06-1))"},
        {"\"2024-06-11\"", "((=2024-06-11))"},
        {"size:>100M", "((size 100000001..9223372036854775807))"},
        {"size:>=64Ki", "((size 65536..9223372036854775807))"},
        {"messages:9007199254740993", "((messages 9007199254740993..9007199254740993))"},
        {"size:>=9007199254740993", "((size 9007199254740993..9223372036854775807))"},
        {"size:>=1.5Ki", "((size 1536..9223372036854775807))"},
        {"size:>=9999999999999999999", "((size 9223372036854775807..9223372036854775807))"},
        {"size:<1.5kB", "((size -9223372036854775808..1499))"},
        {"size:1..2M -size:=5", "((size 1..2000000 -size 5..5))"},
        {"duration:<5s", "((duration -9223372036854775808..4999999999))"},
        {"duration:<=1m", "((duration -9223372036854775808..60000000000))"},
        {"duration:100ms..2s", "((duration 100000000..2000000000))"},
        {"messages:>1000 (messages:0)", "((messages 1001..9223372036854775807 ((messages 0..0))))"},
        {"created:1970-01-02", "((created 86400000000000..172799999999999))"},
        {"created:>1970-01-02", "((created 172800000000000..9223372036854775807))"},
        {"created:1970-01-02..1970-01", "((created 86400000000000..2678399999999999))"},
        {"created:<1970-01-01T00:00:01Z", "((created -9223372036854775808..999999999))"},
        {"\"size\":>1", "((tag=size ~>1))"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct search search;
        if (!search_parse(cases[i].q, &search, &err)) {
            fail_msg("%s: %s", cases[i].q, err.text);
        }
        char *is = description_of(&search);
        if (strcmp(is, cases[i].description) != 0) {
            fail_msg("%s is parsed as %s, not %s", cases[i].q, is, cases[i].description);
        }
        free(is);
        search_done(&search);
    }
}

static void errors_name_the_place(void **state) {
    (void)state;
    char many[400] = "", values[400] = "k:", long_line[SEARCH_BYTES_MAX + 2];
    for (int i = 0; i <= SEARCH_NODES_MAX; i++) {
        strcat(many, "k:v ");
    }
    for (int i = 0; i <= SEARCH_VALUES_MAX; i++) {
        strcat(values, "v,");
    }
    memset(long_line, 'a', sizeof long_line - 1);
    long_line[sizeof long_line - 1] = '\0';
    const struct {
        const char *q, *says;
    } cases[] = {
        {"one \"two", "character 5: this quote is not closed"},
        {"\xc3\xa4\xc3\xa4 key:", "character 8: a value is missing"},
        {"key:a,,b", "character 7: a value is missing"},
        {"key:a,", "character 7: a value is missing"},
        {":x", "character 1: a key is missing"},
        {"a -:x", "character 4: a key is missing"},
        {"\"a\"b", "character 4: a quoted phrase"},
        {"k:\"a\"b", "character 6: a quoted value"},
        {"state:odd", "character 7: a state is"},
        {"damaged:maybe", "character 9: damaged is"},
        {"meta.key", "[]"},
        {"a or", "character 5: a term is missing"},
        {"or a", "character 1: a term is missing"},
        {"a or or b", "character 6: a term is missing"},
        {"()", "character 2: a term is missing"},
        {"(a", "character 1: this parenthesis is not closed"},
        {"a )", "character 3: this parenthesis closes nothing"},
        {"(a or ) b", "character 7: a term is missing"},
        {"(((((((((a)))))))))", "character 9: too many parentheses"},
        {"size:>", "character 6: a bound is missing"},
        {"size:>1..2", "character 6: a bound is missing"},
        {"size:1..", "character 6: a bound is missing"},
        {"x size:big", "character 8: \"big\" is no size: write 500, 100M"},
        {"size:1,2", "character 6: \"1,2\" is no size"},
        {"messages:5M..5k", "character 10: the first bound is above the second"},
        {"messages:1.2.3", "character 10: \"1.2.3\" is no number"},
        {"duration:5", "character 10: \"5\" is not a duration"},
        {"created:june", "character 9: \"june\" is no date: write 2024-06-11"},
        {"created:+5s", "character 9: \"+5s\" is no date"},
        {"group:a*", "character 7: a group is named whole"},
        {"meta.\"x\"", "character 9: this is written meta"},
        {"meta.:x", "character 6: this is written meta.KEY:value"},
        {many, "too many terms"},
        {values, "too many values"},
        {long_line, "longer than 2000 bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct search search;
        err = (struct reel_error){0};
        bool taken = search_parse(cases[i].q, &search, &err);
        if (taken != (strcmp(cases[i].says, "[]") == 0) ||
            (!taken && (err.code != REEL_ARGUMENT || !strstr(err.text, cases[i].says)))) {
            fail_msg("%.40s: %s", cases[i].q, taken ? "taken" : err.text);
        }
        search_done(&search);
    }
}

static void patterns_are_bounded(void **state) {
    (void)state;
    bool yes;
    AUTO(pattern_free) struct pattern *plain = pattern_new("^/cam(era)?/", &err);
    assert_non_null(plain);
    assert_true(pattern_match(plain, "/camera/x", &yes, &err) && yes);
    assert_true(pattern_match(plain, "/lidar", &yes, &err) && !yes);
    AUTO(pattern_free) struct pattern *slow = pattern_new("^(a+)+$", &err);
    assert_non_null(slow);
    assert_false(pattern_match(slow, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", &yes, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    assert_null(pattern_new("a(", &err));
    assert_non_null(strstr(err.text, "byte 3"));
    char big[PATTERN_BYTES_MAX + 2];
    memset(big, 'a', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    assert_null(pattern_new(big, &err));
}

/* ---- what is found */

/* Odd and even ones as of put_many(), tagged; and one with topics of its own. */
static void put_tagged(void) {
    char n[12];
    put_many();
    struct catalog_page page;
    assert_true(catalog_list(c, &(struct catalog_query){.limit = 1000}, &page, &err));
    for (uint32_t i = 0; i < page.n_items; i++) {
        snprintf(n, sizeof n, "%u", i % 3);
        const struct catalog_tag tags[] = {{(char *)"robot", n},
                                           {(char *)(i % 2 ? "even:odd" : "shift"), (char *)"a b"}};
        bool changed;
        assert_true(
            catalog_change(c, page.items[i].id, &(struct catalog_change){.tags = tags, .n_tags = 2}, &changed, &err));
    }
    catalog_page_done(&page);
}

static void terms_find(void **state) {
    (void)state;
    put_tagged();
    uint32_t all = find(""), robots[3] = {find("robot:0"), find("robot:1"), find("robot:2")};
    assert_int_equal(all, MANY - 8);
    assert_int_equal(robots[0] + robots[1] + robots[2], all);
    assert_int_equal(robots[1], (all + 1) / 3);
    assert_int_equal(find("robot:0,1"), robots[0] + robots[1]);
    assert_int_equal(find("robot:*"), all);
    assert_int_equal(find("robot:[0]"), 0);
    assert_int_equal(find("robot:?"), all);
    assert_int_equal(find("-robot:0"), all - robots[0]);
    assert_int_equal(find("-robot:*"), 0);
    assert_int_equal(find("-robot:9"), all);
    assert_int_equal(find("robot:9"), 0);
    assert_int_equal(find("robot:0 robot:1"), 0);
    assert_int_equal(find("*:0"), robots[0]);
    assert_int_equal(find("shift:*"), (all + 1) / 2);
    assert_int_equal(find("\"even:odd\":\"a b\""), all / 2);
    assert_int_equal(find("*:\"a b\""), all);
    assert_int_equal(find("sh*:a*"), (all + 1) / 2);
    assert_int_equal(find("collection:odd"), count(&(struct catalog_query){.collection = "odd"}));
    assert_int_equal(find("collection:*d"), find("collection:odd"));
    assert_int_equal(find("collection:odd,even"), all);
    assert_int_equal(find("collection:odd -collection:o*"), 0);
    assert_int_equal(find("-collection:odd"), find("collection:even"));
    assert_int_equal(find("format:doll"), 10);
    assert_int_equal(find("format:d*,t*"), all);
    assert_int_equal(find("-format:doll"), all - 10);
    assert_int_equal(find("state:trashed"), 8);
    assert_int_equal(find("state:*"), MANY);
    assert_int_equal(find("state:failed,ready"), all);
    assert_int_equal(find("-state:failed"), all - 4);
    assert_int_equal(find("damaged:true"), 4);
    assert_int_equal(find("damaged:false"), all - 4);
    assert_int_equal(find("-damaged:true"), all - 4);
    assert_int_equal(find("-n0"), all - find("n0"));
    assert_int_equal(find("n0 -n0"), 0);
    assert_int_equal(find("n0 collection:odd format:toy"), 3);
    assert_int_equal(find("group:x"), 0);
    assert_int_equal(find("\"a b\""), all); /* a tag's value */
    assert_int_equal(find("\"b a\""), 0);
    assert_int_equal(find("-\"a b\""), 0);
    for (size_t i = 0; i < 3; i++) { /* the same in the order of another index */
        const char *sorts[] = {"name", "-size", "end"};
        assert_int_equal(count(&(struct catalog_query){.words = "robot:0 -format:doll", .sort = sorts[i]}),
                         find("robot:0 -format:doll"));
    }
    struct catalog_page none;
    assert_false(catalog_list(c, &(struct catalog_query){.words = "group:a*"}, &none, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
}

static struct catalog_range range(int64_t min, int64_t max) {
    return (struct catalog_range){.has_min = min >= 0, .min = min, .has_max = max >= 0, .max = max};
}

static void parameters_find(void **state) {
    (void)state;
    put_tagged();
    uint32_t all = find("");
    const char *tag = "robot=1", *key = "shift", *globbed = "robot=*", *bad = "=x";
    assert_int_equal(count(&(struct catalog_query){.tags = &tag, .n_tags = 1}), find("robot:1"));
    assert_int_equal(count(&(struct catalog_query){.tags = &key, .n_tags = 1}), find("shift:*"));
    assert_int_equal(count(&(struct catalog_query){.tags = &globbed, .n_tags = 1}), all);
    struct catalog_page none;
    assert_false(catalog_list(c, &(struct catalog_query){.tags = &bad, .n_tags = 1}, &none, &err));
    uint32_t small = count(&(struct catalog_query){.size = range(-1, 1)}),
             large = count(&(struct catalog_query){.size = range(2, -1)});
    assert_true(small > 0 && large > 0);
    assert_int_equal(small + large, all);
    assert_int_equal(count(&(struct catalog_query){.messages = range(1, 2)}) +
                         count(&(struct catalog_query){.messages = range(0, 0)}),
                     all);
    assert_int_equal(count(&(struct catalog_query){.size = range(3, 2)}), 0);
    assert_int_equal(count(&(struct catalog_query){.size = range(0, -1), .has_state = true, .state = STATE_TRASHED}),
                     8);
}

static void topics_find_by_pattern(void **state) {
    (void)state;
    struct toy toy = {0};
    toy_start(&toy, REEL_CLOCK_WALL);
    toy_channel(&toy, &(struct reel_channel){.name = "/scan", .type = "sensor_msgs/LaserScan", .encoding = "ros1"});
    toy_channel(&toy, &(struct reel_channel){.name = "odom", .type = "nav/Odometry", .encoding = "ros1"});
    toy_message(&toy, 0, 1000, 1, "abc", 3);
    struct reel_recording *toys = toy_open(&toy);
    struct catalog_part part;
    struct catalog_recording r = describe(&part, "lab", "one", '1');
    assert_true(catalog_add(c, &r, reel_recording_index(toys), false, &err));
    assert_true(put("lab", "two", '2', false, NULL));
    const char *good[] = {"^/scan$", "odo"}, *half[] = {"^/scan$", "nothing"}, *bad = "a(", *type = "Laser.can$";
    assert_int_equal(count(&(struct catalog_query){.topic_patterns = good, .n_topic_patterns = 2}), 1);
    assert_int_equal(count(&(struct catalog_query){.topic_patterns = half, .n_topic_patterns = 2}), 0);
    assert_int_equal(count(&(struct catalog_query){.topic_patterns = half, .n_topic_patterns = 2, .match_any = true}),
                     1);
    assert_int_equal(count(&(struct catalog_query){.topics = half, .n_topics = 2, .match_any = true}), 0);
    assert_int_equal(count(&(struct catalog_query){.type_patterns = &type, .n_type_patterns = 1}), 1);
    const char *globs[] = {"scan", "/none"};
    assert_int_equal(count(&(struct catalog_query){.topics = globs, .n_topics = 2, .match_any = true}), 1);
    struct catalog_page none;
    assert_false(catalog_list(c, &(struct catalog_query){.topic_patterns = &bad, .n_topic_patterns = 1}, &none, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    assert_int_equal(find("topic:scan"), 1);
    assert_int_equal(find("topic:/odom"), 1);
    assert_int_equal(find("topic:/sc*,zzz type:nav/*"), 1);
    assert_int_equal(find("topic:\"/scan\""), 1);
    assert_int_equal(find("topic:\"/sc*\""), 0);
    assert_int_equal(find("-topic:scan"), 1);
    assert_int_equal(find("-topic:*"), 1);

    struct values_counts values;
    assert_true(catalog_values(c, &(struct values_query){.field = VALUES_TOPIC, .limit = 10}, &values, &err));
    assert_int_equal(values.counts.n, 2);
    assert_string_equal(values.counts.items[0].name, "/scan");
    assert_int_equal(values.counts.items[0].recordings, 1);
    catalog_counts_done(&values.counts);
    assert_true(catalog_trash(c, r.id, &err));
    assert_true(catalog_values(c, &(struct values_query){.field = VALUES_TOPIC, .limit = 10}, &values, &err));
    assert_int_equal(values.counts.n, 0);
    catalog_counts_done(&values.counts);
    assert_true(catalog_restore(c, r.id, &err));
    assert_true(
        catalog_values(c, &(struct values_query){.field = VALUES_TOPIC, .prefix = "od", .limit = 10}, &values, &err));
    assert_int_equal(values.counts.n, 1);
    catalog_counts_done(&values.counts);
    reel_recording_free(toys);
    toy_free(&toy);
}

/* ---- totals are what counting says, whatever has happened */

static void totals_agree(const char *what) {
    sqlite3 *raw = open_raw();
    const char *sql =
        "SELECT (SELECT count(*) FROM (SELECT * FROM sums EXCEPT SELECT collection, format, state, day, count(*), "
        "sum(size), "
        "sum(messages), sum(counted_ms) FROM recordings GROUP BY 1, 2, 3, 4)), (SELECT count(*) FROM sums), "
        "(SELECT count(*) FROM (SELECT 1 FROM recordings GROUP BY collection, format, state, day)), "
        "(SELECT count(*) FROM label_sets AS s WHERE recordings <> (SELECT count(*) FROM recordings AS r WHERE r.state "
        "<> 4 AND "
        "s.id IN (r.channel_labels, r.metadata_labels))) + (SELECT count(*) FROM labels_changed)";
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(raw, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    if (sqlite3_column_int(s, 0) != 0 || sqlite3_column_int(s, 1) != sqlite3_column_int(s, 2) ||
        sqlite3_column_int(s, 3) != 0) {
        fail_msg("%s: %d wrong, %d sums, %d groups, %d labels", what, sqlite3_column_int(s, 0),
                 sqlite3_column_int(s, 1), sqlite3_column_int(s, 2), sqlite3_column_int(s, 3));
    }
    sqlite3_finalize(s);
    sqlite3_close(raw);
}

static uint64_t total_of(enum totals_by by, const char *name) {
    struct catalog_total *rows;
    uint32_t n;
    uint64_t found = 0;
    assert_true(catalog_totals(c, by, NULL, &rows, &n, &err));
    for (uint32_t i = 0; i < n; i++) {
        found = strcmp(rows[i].name, name) == 0 ? rows[i].recordings : found;
    }
    free(rows);
    return found;
}

static void totals_follow(void **state) {
    (void)state;
    put_tagged();
    totals_agree("filled");
    assert_int_equal(total_of(TOTALS_FORMAT, "doll"), 10);
    assert_int_equal(total_of(TOTALS_STATE, "trashed"), 8);
    assert_int_equal(total_of(TOTALS_DAY, "1970-01-01"),
                     count(&(struct catalog_query){.has_end = true, .end_ns = INT64_MAX}));
    assert_int_equal(total_of(TOTALS_MONTH, "1970-01"), total_of(TOTALS_DAY, "1970-01-01"));
    struct catalog_page page;
    assert_true(catalog_list(c, &(struct catalog_query){.limit = 10}, &page, &err));
    assert_true(catalog_trash(c, page.items[0].id, &err) &&
                catalog_purge_at(c, page.items[1].id, CATALOG_ANY_VERSION, &err));
    bool changed;
    assert_true(catalog_change(c, page.items[2].id, &(struct catalog_change){.collection = "third"}, &changed, &err));
    assert_true(catalog_set_state(c, page.items[3].id, STATE_MISSING, "gone", &err));
    catalog_page_done(&page);
    totals_agree("changed");
    assert_int_equal(total_of(TOTALS_STATE, "missing"), 1);
    const char *const third[] = {"third", NULL};
    struct catalog_total *rows;
    uint32_t n;
    assert_true(catalog_totals(c, TOTALS_FORMAT, third, &rows, &n, &err));
    assert_int_equal(n, 1);
    free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_taken_apart),
        cmocka_unit_test(errors_name_the_place),
        cmocka_unit_test(patterns_are_bounded),
        cmocka_unit_test_setup_teardown(terms_find, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parameters_find, set_up, tear_down),
        cmocka_unit_test_setup_teardown(topics_find_by_pattern, set_up, tear_down),
        cmocka_unit_test_setup_teardown(totals_follow, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
