/* Access control: tokens and their rows, the Authorization header, signed links, addresses, the limiter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/access.h"
#include "access/audit.h"
#include "access/credentials.h"
#include "access/limiter.h"
#include "access/link_text.h"
#include "access/links.h"
#include "access/network.h"
#include "base/cleanup.h"
#include "makers/catalog_fixture.h"
#include "reel/time.h"
#include "store/tokens_record.h"

#define DATA REEL_SCRATCH
#define KEYS DATA "/link-keys"

#define RECORD DATA "/" TOKENS_RECORD

static int fresh(void **state) {
    remove(KEYS);
    remove(RECORD);
    return set_up(state);
}

static bool create(const struct token_options *options, char text[TOKEN_TEXT], struct token *t) {
    return token_create(&(struct token_archive){.data = DATA, .catalog = c}, options, text, t, &err);
}

/* The first token has to be an admin's. */
static void create_boss(void) {
    char text[TOKEN_TEXT];
    struct token t;
    assert_true(create(&(struct token_options){.name = "boss", .role = "admin"}, text, &t));
    token_done(&t);
}

/* ---- tokens */

static struct token made(const char *name, const char *role, char text[TOKEN_TEXT]) {
    struct token t;
    bool exist = false;
    const struct token_options options = {.name = name, .role = role};
    assert_true(catalog_tokens_exist(c, &exist, &err));
    if (!exist) {
        create_boss();
    }
    assert_true(create(&options, text, &t));
    return t;
}

static void a_token_is_known_by_its_hash_alone(void **state) {
    (void)state;
    char text[TOKEN_TEXT], other[TOKEN_TEXT];
    uint8_t hash[TOKEN_HASH];
    struct token t = made("robot1", "upload", text), u = made("robot2", "read", other), found;
    assert_int_equal(strlen(text), TOKEN_TEXT - 1);
    assert_int_equal(strncmp(text, "reel_", 5), 0);
    assert_string_not_equal(text, other);
    token_hash(text, hash);
    assert_true(catalog_token_by_hash(c, hash, &found, &err));
    assert_int_equal(found.row, t.row);
    assert_string_equal(found.name, "robot1");
    assert_int_equal(found.role, ROLE_UPLOAD);
    token_done(&found);
    hash[31] ^= 1;
    assert_false(catalog_token_by_hash(c, hash, &found, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    AUTO_FD int fd = open(DB_FILE, O_RDONLY); /* the secret is in no file */
    AUTO_FD int wal = open(DB_FILE "-wal", O_RDONLY);
    static char bytes[4 << 20];
    for (int i = 0; i < 2; i++) {
        ssize_t n = read(i ? wal : fd, bytes, sizeof bytes);
        assert_true(n > 0);
        assert_null(memmem(bytes, (size_t)n, text + 5, 16));
    }
    token_done(&t);
    token_done(&u);
}

static void wishes_that_make_no_sense_are_refused(void **state) {
    (void)state;
    char text[TOKEN_TEXT], long_name[200];
    struct token t;
    memset(long_name, 'n', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    const char *bad_glob[] = {""}, *many[TOKEN_COLLECTIONS_MAX + 1];
    for (unsigned i = 0; i <= TOKEN_COLLECTIONS_MAX; i++) {
        many[i] = "a";
    }
    const struct token_options options[] = {
        {.role = "read"},
        {.name = "", .role = "read"},
        {.name = "12", .role = "read"},
        {.name = "a/b", .role = "read"},
        {.name = "a\nb", .role = "read"},
        {.name = "\xff", .role = "read"},
        {.name = long_name, .role = "read"},
        {.name = "reel_x", .role = "read"},
        {.name = "a"},
        {.name = "a", .role = "none"},
        {.name = "a", .role = "root"},
        {.name = "a", .role = "read", .expires = "soon"},
        {.name = "a", .role = "read", .expires = "+2s"},
        {.name = "a", .role = "read", .expires = "2010-01-01T00:00:00Z"},
        {.name = "a", .role = "read", .collections = bad_glob, .n_collections = 1},
        {.name = "a", .role = "read", .collections = many, .n_collections = TOKEN_COLLECTIONS_MAX + 1},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        err = (struct reel_error){0};
        assert_false(create(&options[i], text, &t));
        assert_int_equal(err.code, REEL_ARGUMENT);
        assert_null(t.name);
    }
    bool exist = true;
    assert_true(catalog_tokens_exist(c, &exist, &err));
    assert_false(exist);
}

static void names_are_free_again_after_revoking(void **state) {
    (void)state;
    char text[TOKEN_TEXT], key[24];
    struct token t = made("robot", "read", text), again, found;
    assert_false(create(&(struct token_options){.name = "robot", .role = "read"}, text, &again));
    assert_int_equal(err.code, REEL_CONFLICT);
    assert_true(catalog_token_revoke(c, t.row, &err));
    assert_false(catalog_token_revoke(c, t.row, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    again = made("robot", "edit", text);
    assert_true(again.row > t.row);
    assert_true(catalog_token_by_key(c, "robot", &found, &err));
    assert_int_equal(found.row, again.row);
    token_done(&found);
    snprintf(key, sizeof key, "%lld", (long long)t.row);
    assert_true(catalog_token_by_key(c, key, &found, &err));
    assert_int_equal(token_state(&found, reel_now_ns()), TOKEN_REVOKED);
    token_done(&found);
    assert_false(catalog_token_by_key(c, "9999", &found, &err));
    bool exist = false;
    assert_true(catalog_token_revoke(c, again.row, &err));
    assert_true(catalog_tokens_exist(c, &exist, &err)); /* or revoking the last one would open the server */
    assert_true(exist);
    token_done(&t);
    token_done(&again);
}

static void a_token_ends_at_its_time(void **state) {
    (void)state;
    char text[TOKEN_TEXT];
    struct token t;
    create_boss();
    assert_true(create(&(struct token_options){.name = "a", .role = "read", .expires = "30d"}, text, &t));
    int64_t days = (t.expires_ns - t.created_ns) / 86400000000000;
    assert_true(days == 30 || days == 29);
    assert_int_equal(token_state(&t, t.expires_ns - 1), TOKEN_GOOD);
    assert_int_equal(token_state(&t, t.expires_ns), TOKEN_EXPIRED);
    token_done(&t);
}

static void a_caller_sees_its_collections(void **state) {
    (void)state;
    char text[TOKEN_TEXT];
    void *memory;
    struct token t;
    struct http_caller caller;
    const char *globs[] = {"lab", "sim-*"};
    create_boss();
    assert_true(create(&(struct token_options){.name = "a", .role = "read", .collections = globs, .n_collections = 2},
                       text, &t));
    assert_true(token_caller(&t, "bearer", &caller, &memory));
    assert_true(http_caller_sees(&caller, "lab"));
    assert_true(http_caller_sees(&caller, "sim-1"));
    assert_false(http_caller_sees(&caller, "sim"));
    assert_false(http_caller_sees(&caller, "lab2"));
    assert_false(http_caller_sees(&caller, "/lab"));
    assert_false(http_caller_sees(&caller, ""));
    free(memory);
    free(t.collections);
    t.collections = strdup("[broken"); /* a corrupted row grants nothing */
    assert_true(token_caller(&t, "bearer", &caller, &memory));
    assert_false(http_caller_sees(&caller, "lab"));
    free(memory);
    token_done(&t);
    assert_true(http_caller_sees(NULL, "lab"));
}

static void the_first_token_is_an_admins(void **state) {
    (void)state;
    char text[TOKEN_TEXT] = "";
    struct token t;
    const char *globs[] = {"lab"};
    const struct token_archive archive = {.data = DATA, .catalog = c};
    const struct token_options refused[] = {
        {.name = "a", .role = "read"},
        {.name = "a", .role = "edit"},
        {.name = "a", .role = "admin", .collections = globs, .n_collections = 1},
    };
    enum tokens_state is;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_false(create(&refused[i], text, &t));
        assert_int_equal(err.code, REEL_ARGUMENT);
        assert_non_null(strstr(err.text, "reel token create --role admin"));
        assert_true(tokens_state(&archive, &is, &err));
        assert_int_equal(is, TOKENS_NEVER);
    }
    assert_true(access_first_token(&archive, text, &err));
    assert_true(token_well_formed(text, strlen(text)));
    assert_true(tokens_state(&archive, &is, &err));
    assert_int_equal(is, TOKENS_EXIST);
    assert_true(create(&refused[0], text, &t));
    token_done(&t);
}

static void a_lost_catalog_does_not_open_the_archive(void **state) {
    char text[TOKEN_TEXT];
    struct token t;
    enum tokens_state is;
    create_boss();
    tear_down(state);
    assert_int_equal(set_up(state), 0); /* a new catalog */
    const struct token_archive archive = {.data = DATA, .catalog = c};
    const struct access_options options = {.data = DATA, .catalog = c, .local = true};
    assert_true(tokens_state(&archive, &is, &err));
    assert_int_equal(is, TOKENS_LOST);
    assert_false(create(&(struct token_options){.name = "a", .role = "read"}, text, &t));
    create_boss();
    assert_int_equal(remove(RECORD), 0); /* as in an archive of an earlier version: the next start records it */
    struct access *a = access_open(&options, &err);
    assert_non_null(a);
    access_close(a);
    assert_int_equal(access(RECORD, F_OK), 0);
}

static void lists_show_only_what_is_allowed(void **state) {
    (void)state;
    put_many(); /* collections "odd" and "even" */
    const char *odd[] = {"odd", NULL}, *glob[] = {"o*", "nothing", NULL}, *all[] = {"*", NULL}, *none[] = {NULL},
               *other[] = {"x?*", NULL};
    uint32_t some = count(&(struct catalog_query){.collection = "odd"}), whole = count(&(struct catalog_query){0});
    assert_true(some > 0 && some < whole);
    assert_int_equal(count(&(struct catalog_query){.allowed = odd}), some);
    assert_int_equal(count(&(struct catalog_query){.allowed = glob}), some);
    assert_int_equal(count(&(struct catalog_query){.allowed = all}), whole);
    assert_int_equal(count(&(struct catalog_query){.allowed = none}), 0);
    assert_int_equal(count(&(struct catalog_query){.allowed = other}), 0);
    assert_int_equal(count(&(struct catalog_query){.allowed = odd, .collection = "even"}), 0);
    assert_int_equal(count(&(struct catalog_query){.allowed = odd, .words = "n0"}),
                     count(&(struct catalog_query){.collection = "odd", .words = "n0"}));
    assert_int_equal(count(&(struct catalog_query){.allowed = odd, .has_state = true, .state = STATE_TRASHED}),
                     count(&(struct catalog_query){.collection = "odd", .has_state = true, .state = STATE_TRASHED}));
}

/* ---- the header */

static void basic(const char *plain, char out[1024]) {
    strcpy(out, "Basic ");
    EVP_EncodeBlock((unsigned char *)out + 6, (const unsigned char *)plain, (int)strlen(plain));
}

static void the_header_is_read(void **state) {
    (void)state;
    char text[TOKEN_TEXT], got[TOKEN_TEXT], header[1024], plain[512];
    struct token t = made("a", "read", text);
    snprintf(header, sizeof header, "Bearer %s", text);
    assert_int_equal(credentials_read(header, got), CREDENTIALS_BEARER);
    assert_string_equal(got, text);
    snprintf(header, sizeof header, "bEARER   %s  ", text);
    assert_int_equal(credentials_read(header, got), CREDENTIALS_BEARER);
    snprintf(header, sizeof header, "Bearer hf_%s", text); /* as clients of the Hub want it */
    assert_int_equal(credentials_read(header, got), CREDENTIALS_BEARER);
    assert_string_equal(got, text);
    const char *const users[] = {"", "any", "a long name with blanks"};
    for (unsigned i = 0; i < 3; i++) {
        snprintf(plain, sizeof plain, "%s:%s", users[i], text);
        basic(plain, header);
        assert_int_equal(credentials_read(header, got), CREDENTIALS_BASIC);
        assert_string_equal(got, text);
    }
    const char *const wrong[] = {"",           "Bearer",     "Bearer hf_",  "Bearer x",    "Basic ",     "Basic =",
                                 "Basic ====", "Basic YTpi", "Digest abcd", "Basic YTpi:", "Bearerreel_"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(credentials_read(wrong[i], got), CREDENTIALS_WRONG);
    }
    snprintf(header, sizeof header, "Bearer %sx", text);
    assert_int_equal(credentials_read(header, got), CREDENTIALS_WRONG);
    snprintf(plain, sizeof plain, "a:b:%s", text); /* the password begins after the first colon */
    basic(plain, header);
    assert_int_equal(credentials_read(header, got), CREDENTIALS_WRONG);
    snprintf(plain, sizeof plain, "%0400d:%s", 1, text);
    basic(plain, header);
    assert_int_equal(credentials_read(header, got), CREDENTIALS_WRONG);
    snprintf(plain, sizeof plain, "ab:%s", text);
    basic(plain, header);
    assert_int_equal(credentials_read(header, got), CREDENTIALS_BASIC);
    memmove(header + 10, header + 6, strlen(header + 6) + 1); /* blanks are no base64 */
    memset(header + 6, '\t', 4);
    assert_int_equal(credentials_read(header, got), CREDENTIALS_WRONG);
    token_done(&t);
}

/* ---- links */

static char *signed_by(struct links *links, const char *target, int64_t until) {
    char *out = NULL;
    assert_true(links_sign(links, target, 7, until, &out, &err));
    return out;
}

static void assert_verdict(struct links *links, const char *target, enum link_verdict wanted) {
    struct link_claim claim = {0};
    assert_int_equal(links_verify(links, target, 1000, &claim), wanted);
    assert_true(wanted != LINK_GOOD || claim.token == 7);
}

static void a_link_is_of_its_path_and_parameters(void **state) {
    (void)state;
    AUTO(links_close) struct links *links = links_open(DATA, &err);
    assert_non_null(links);
    AUTO_MEM char *url = signed_by(links, "/recordings/1/as/a%20b.mcap?topic=/scan&start=%2B2s&topic=/tf", 1001);
    const char *claim = strstr(url, "&exp=");
    char other[512];
    assert_verdict(links, url, LINK_GOOD);
    const char *const same[] = {"/recordings/1/as/a%20b.mcap?start=%2b2s&topic=%2Fscan&topic=/tf",
                                "/recordings/1/as/a%20b.mcap?topic=/scan&topic=/t%66&&start=%2B2s"};
    const char *const wrong[] = {
        "/recordings/1/as/a%20b.mcap?topic=/scan&start=%2B2s",             /* one taken away */
        "/recordings/1/as/a%20b.mcap?topic=/scan&start=%2B2s&topic=/tf&a", /* one added */
        "/recordings/1/as/a%20b.mcap?topic=/tf&start=%2B2s&topic=/scan",   /* another order of one name */
        "/recordings/1/as/a%20b.mcap?topic=/scan&start=%2B3s&topic=/tf",   /* changed */
        "/recordings/2/as/a%20b.mcap?topic=/scan&start=%2B2s&topic=/tf",
        "/recordings/1%2Fas/a%20b.mcap?topic=/scan&start=%2B2s&topic=/tf", /* not the same segments */
        "/recordings/1/as/a%20b.mcap/?topic=/scan&start=%2B2s&topic=/tf",
    };
    for (unsigned i = 0; i < sizeof same / sizeof *same; i++) {
        snprintf(other, sizeof other, "%s%s", same[i], claim);
        assert_verdict(links, other, LINK_GOOD);
    }
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(other, sizeof other, "%s%s", wrong[i], claim);
        assert_verdict(links, other, LINK_WRONG);
    }
    snprintf(other, sizeof other, "%s%s", url, claim); /* given twice */
    assert_verdict(links, other, LINK_WRONG);
}

static void a_link_cannot_be_changed(void **state) {
    (void)state;
    AUTO(links_close) struct links *links = links_open(DATA, &err);
    AUTO_MEM char *url = signed_by(links, "/a", 1001), *old = signed_by(links, "/a", 1000);
    assert_verdict(links, url, LINK_GOOD);
    assert_verdict(links, old, LINK_EXPIRED);
    assert_verdict(links, "/a", LINK_WRONG);
    assert_verdict(links, "/a?exp=1001", LINK_WRONG);
    for (char *at = strchr(url, '?') + 1; *at; at++) { /* whatever sign is another: the time, the version, the token,
                                                          the code */
        char was = *at;
        if (strchr("=&.", was) || at < strchr(url, '=')) {
            continue;
        }
        *at = was == '1' ? '2' : '1';
        assert_verdict(links, url, LINK_WRONG);
        *at = was;
    }
    assert_verdict(links, url, LINK_GOOD);
    char *out;
    const char *const no_targets[] = {"",       "a",    "http://a/b", "/a?sig=1", "/a?exp=1",
                                      "/a?%zz", "/%00", "/a#b",       "/a b",     "/a\nb"};
    for (unsigned i = 0; i < sizeof no_targets / sizeof *no_targets; i++) {
        assert_false(links_sign(links, no_targets[i], 7, 1001, &out, &err));
        assert_int_equal(err.code, REEL_ARGUMENT);
    }
}

static void a_key_is_of_its_recording(void **state) {
    (void)state;
    static const char id[] = "0123456789abcdef0123456789abcdef";
    char key[LINK_KEY_TEXT], other[LINK_KEY_TEXT + 2], recording[LINK_RECORDING];
    struct link_claim claim;
    AUTO(links_close) struct links *links = links_open(DATA, &err);
    assert_true(links_sign_recording(links, id, 7, 1001, key, &err));
    assert_int_equal(links_verify_recording(links, key, 1000, recording, &claim), LINK_GOOD);
    assert_string_equal(recording, id);
    assert_int_equal(claim.token, 7);
    assert_int_equal(claim.expires_s, 1001);
    assert_int_equal(links_verify_recording(links, key, 1001, recording, &claim), LINK_EXPIRED);
    for (size_t i = 0; i <= strlen(key); i++) { /* nothing of it can be left out, replaced or added */
        for (unsigned how = 0; how < 3; how++) {
            const char *put = how == 0 ? "" : key[i] == '1' ? "2" : "1";
            snprintf(other, sizeof other, "%.*s%s%s", (int)i, key, put, key + i + (how < 2 && key[i]));
            enum link_verdict wanted = strcmp(other, key) == 0 ? LINK_GOOD : LINK_WRONG; /* the same: nothing left out
                                                                                            at the end */
            assert_int_equal(links_verify_recording(links, other, 1000, recording, &claim), wanted);
        }
    }
    AUTO_MEM char *path = signed_by(links, "/0123456789abcdef0123456789abcdef", 1001); /* the signature of a path is for
                                                                                          no recording */
    snprintf(other, sizeof other, "%s.1001.%s", id, strstr(path, "sig=") + 4);
    assert_int_equal(links_verify_recording(links, other, 1000, recording, &claim), LINK_WRONG);
}

static void keys_change_under_a_running_server(void **state) {
    (void)state;
    struct stat st;
    AUTO(links_close) struct links *links = links_open(DATA, &err);
    assert_int_equal(stat(KEYS, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    AUTO_MEM char *first = signed_by(links, "/a", 1001);
    assert_true(links_rotate(DATA, false, &err));
    AUTO_MEM char *second = signed_by(links, "/a", 1001);
    assert_string_not_equal(first, second);
    assert_verdict(links, first, LINK_GOOD);
    assert_verdict(links, second, LINK_GOOD);
    assert_true(links_rotate(DATA, false, &err)); /* the last two */
    assert_verdict(links, first, LINK_WRONG);
    assert_verdict(links, second, LINK_GOOD);
    assert_true(links_rotate(DATA, true, &err));
    assert_verdict(links, second, LINK_WRONG);
    AUTO(links_close) struct links *again = links_open(DATA, &err);
    AUTO_MEM char *third = signed_by(links, "/a", 1001);
    assert_verdict(again, third, LINK_GOOD);
    assert_int_equal(chmod(KEYS, 0640), 0); /* others could sign: links are refused */
    assert_verdict(links, third, LINK_NO_KEYS);
    assert_null(links_open(DATA, &err));
    assert_int_equal(chmod(KEYS, 0600), 0);
    assert_verdict(links, third, LINK_GOOD);
    assert_int_equal(truncate(KEYS, 10), 0);
    assert_verdict(links, third, LINK_NO_KEYS);
    remove(KEYS);
}

/* ---- addresses */

static void networks_hold_addresses(void **state) {
    (void)state;
    static const struct {
        const char *network, *address;
        bool inside;
    } cases[] = {
        {"10.0.0.0/8", "10.255.0.1", true},
        {"10.0.0.0/8", "11.0.0.1", false},
        {"10.0.0.7", "10.0.0.7", true},
        {"10.0.0.7", "10.0.0.6", false},
        {"10.0.0.7", "::ffff:10.0.0.7", true},
        {"0.0.0.0/0", "9.9.9.9", true},
        {"0.0.0.0/0", "2001:db8::1", false},
        {"fd00::/8", "fdff::1", true},
        {"fd00::/8", "fc00::1", false},
        {"::1", "::1", true},
        {"192.168.1.128/25", "192.168.1.127", false},
        {"::/0", "10.0.0.1", true},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct network n;
        struct address a;
        assert_true(network_parse(cases[i].network, &n, &err) && address_parse(cases[i].address, &a));
        assert_int_equal(network_holds(&n, 1, &a), cases[i].inside);
    }
    const char *const wrong[] = {"",       "/",         "10.0.0",       "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1",
                                 "::/129", "localhost", "10.0.0.0/8/8", "::1/1x"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct network n;
        assert_false(network_parse(wrong[i], &n, &err));
    }
}

static void a_proxy_is_believed_as_far_as_it_is_trusted(void **state) {
    (void)state;
    struct network trusted[2];
    char out[ADDRESS_TEXT];
    network_parse("10.0.0.0/8", &trusted[0], &err);
    network_parse("::1", &trusted[1], &err);
    static const char *const cases[][2] = {
        {"1.2.3.4", "1.2.3.4"},
        {"6.6.6.6, 1.2.3.4", "1.2.3.4"},
        {"1.2.3.4, 10.0.0.2 ,10.0.0.1", "1.2.3.4"},
        {"1.2.3.4:5678", "1.2.3.4"},
        {"[2001:db8::7]:80, ::1", "2001:db8::7"},
        {"2001:db8::7", "2001:db8::7"},
        {"10.0.0.1", NULL},
        {"", NULL},
        {"unknown", NULL},
        {"1.2.3.4, evil", NULL},
        {"[", NULL},
        {",", NULL},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool annotations = forwarded_for(cases[i][0], trusted, 2, out);
        assert_int_equal(annotations, cases[i][1] != NULL);
        assert_string_equal(out, cases[i][1] ? cases[i][1] : "");
    }
}

static struct address at(const char *text) {
    struct address a;
    assert_true(address_parse(text, &a));
    return a;
}

static void the_limiter_lets_so_many_pass(void **state) {
    (void)state;
    AUTO(limiter_free) struct limiter *l = limiter_new(3, 1000, &err);
    struct address a = at("1.2.3.4"), b = at("1.2.3.5"), c1 = at("2001:db8:0:1::1"), c2 = at("2001:db8:0:1:ffff::9"),
                   d = at("2001:db8:0:2::1");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(limiter_take(l, &a, 50000), 0);
        assert_int_equal(limiter_take(l, i % 2 ? &c1 : &c2, 50000), 0);
    }
    assert_int_equal(limiter_take(l, &a, 50000), 1);
    assert_int_equal(limiter_take(l, &a, 50999), 1);
    assert_int_equal(limiter_take(l, &b, 50000), 0);
    assert_int_equal(limiter_take(l, &c1, 50000), 1); /* of one household */
    assert_int_equal(limiter_take(l, &d, 50000), 0);
    assert_int_equal(limiter_take(l, &a, 51000), 0); /* one more after its while */
    assert_int_equal(limiter_take(l, &a, 51000), 1);
    assert_int_equal(limiter_take(l, &a, 99000), 0);
    for (unsigned i = 0; i < 100000; i++) { /* however many come, the table is what it is */
        char text[32];
        snprintf(text, sizeof text, "9.%u.%u.%u", i >> 16, i >> 8 & 255, i & 255);
        struct address e = at(text);
        assert_int_equal(limiter_take(l, &e, 99000), 0);
    }
}

static void *hammer(void *context) {
    struct limiter *l = context;
    struct address a = at("1.2.3.4");
    intptr_t passed = 0;
    for (int i = 0; i < 1000; i++) {
        passed += limiter_take(l, &a, 1000) == 0;
    }
    return (void *)passed;
}

static void threads_share_the_limiter(void **state) {
    (void)state;
    AUTO(limiter_free) struct limiter *l = limiter_new(100, 1000, &err);
    pthread_t threads[4];
    intptr_t total = 0;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, l), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *passed;
        pthread_join(threads[i], &passed);
        total += (intptr_t)passed;
    }
    assert_int_equal(total, 100);
}

static void every_forwarded_client_is_within(void **state) {
    (void)state;
    struct network here[2];
    static const struct {
        const char *text;
        bool within;
    } lists[] = {
        {"127.0.0.1", true},     {"127.0.0.1, 127.3.2.1:99 ,[::1]:8", true}, {"::1", true}, {"::ffff:127.0.0.1", true},
        {"198.51.100.7", false}, {"198.51.100.7, 127.0.0.1", false},         {"", false},   {"127.0.0.1,", false},
        {"unknown", false},      {"127.0.0.1 198.51.100.7", false}};
    static const struct {
        const char *text;
        bool within;
    } pairs[] = {{"for=127.0.0.1", true},
                 {"proto=https;For=\"[::1]:4711\";by=10.0.0.1, for=127.0.0.2", true},
                 {"for=198.51.100.7", false},
                 {"for=127.0.0.1, for=198.51.100.7", false},
                 {"for=127.0.0.1;for=198.51.100.7", false},
                 {"for=198.51.100.7;for=127.0.0.1", false},
                 {"for=\"127.0.0.1", false},
                 {"for=_hidden", false},
                 {"for=\"\"", false},
                 {"for=", false},
                 {"proto=http", false},
                 {"", false}};
    assert_true(network_parse("127.0.0.0/8", &here[0], &err) && network_parse("::1", &here[1], &err));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        assert_int_equal(forwarded_for_is_within(lists[i].text, here, 2), lists[i].within);
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_int_equal(forwarded_is_within(pairs[i].text, here, 2), pairs[i].within);
    }
}

/* ---- the audit */

static void *write_rows(void *context) {
    for (unsigned i = 0; i < 100; i++) {
        audit_add(context, &(struct audit_row){.caller = "a",
                                               .how = "bearer",
                                               .peer = "1.2.3.4",
                                               .method = "PUT",
                                               .path = "/x",
                                               .status = 200 + i,
                                               .request = "r"});
        audit_token_used(context, 1 + i % 2, 0);
    }
    return NULL;
}

static const struct audit_filter every_row = {
    .caller = "", .method = "", .path = "", .status_max = UINT32_MAX, .start_ns = INT64_MIN, .end_ns = INT64_MAX};

static void the_audit_keeps_what_threads_tell(void **state) {
    (void)state;
    char text[TOKEN_TEXT];
    struct token t = made("a", "read", text), u = made("b", "read", text);
    struct audit *a = audit_open(c, &err);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, write_rows, a), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    audit_close(a); /* which writes all of it */
    struct audit_row rows[500];
    uint32_t n;
    assert_true(catalog_audit(c, &every_row, INT64_MAX, rows, 500, &n, &err));
    assert_int_equal(n, 400);
    for (uint32_t i = 1; i < n; i++) {
        assert_true(rows[i].row < rows[i - 1].row);
    }
    assert_string_equal(rows[0].path, "/x");
    int64_t before = rows[9].row;
    audit_rows_done(rows, n);
    assert_true(catalog_audit(c, &every_row, before, rows, 10, &n, &err));
    assert_int_equal(n, 10);
    assert_int_equal(rows[0].row, before - 1);
    audit_rows_done(rows, n);
    token_done(&t);
    assert_true(catalog_token_by_key(c, "a", &t, &err));
    assert_true(t.used_ns >= t.created_ns);
    token_done(&t);
    token_done(&u);
}

static void the_audit_is_bounded(void **state) {
    (void)state;
    struct audit_row row =
                         {.time_ns = 1, .caller = "a", .how = "", .peer = "", .method = "", .path = "", .request = ""},
                     kept;
    uint32_t n;
    assert_true(catalog_audit_add(c, &row, 1, &err));
    sqlite3 *raw = open_raw();
    assert_int_equal(
        sqlite3_exec(raw, "UPDATE sqlite_sequence SET seq = 100000 WHERE name = 'audit'", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(raw);
    row.time_ns = 2;
    assert_true(catalog_audit_add(c, &row, 1, &err)); /* row 100001: row 1 goes */
    assert_true(catalog_audit(c, &every_row, 2, &kept, 1, &n, &err));
    assert_int_equal(n, 0);
    assert_true(catalog_audit(c, &every_row, INT64_MAX, &kept, 1, &n, &err));
    assert_int_equal(kept.time_ns, 2);
    audit_rows_done(&kept, n);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fresh, tear_down)

static void a_seal_is_no_link_and_survives_a_rotation(void **state) {
    (void)state;
    char mac[LINK_MAC_TEXT];
    AUTO(links_close) struct links *links = links_open(DATA, &err);
    assert_true(links_mac(links, "a request", 9, mac, &err));
    assert_int_equal(strlen(mac), LINK_MAC_TEXT - 1);
    assert_true(links_mac_matches(links, "a request", 9, mac));
    assert_false(links_mac_matches(links, "a requesT", 9, mac));
    assert_false(links_mac_matches(links, "a request", 8, mac));
    assert_false(links_mac_matches(links, "a request", 9, ""));
    assert_true(links_rotate(DATA, false, &err));
    assert_true(links_mac_matches(links, "a request", 9, mac));
    assert_true(links_rotate(DATA, true, &err));
    assert_false(links_mac_matches(links, "a request", 9, mac));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_token_is_known_by_its_hash_alone),
        T(wishes_that_make_no_sense_are_refused),
        T(names_are_free_again_after_revoking),
        T(a_token_ends_at_its_time),
        T(a_caller_sees_its_collections),
        T(the_first_token_is_an_admins),
        T(a_lost_catalog_does_not_open_the_archive),
        T(lists_show_only_what_is_allowed),
        T(the_header_is_read),
        T(a_link_is_of_its_path_and_parameters),
        T(a_link_cannot_be_changed),
        T(a_seal_is_no_link_and_survives_a_rotation),
        T(a_key_is_of_its_recording),
        T(keys_change_under_a_running_server),
        T(networks_hold_addresses),
        T(every_forwarded_client_is_within),
        T(a_proxy_is_believed_as_far_as_it_is_trusted),
        T(the_limiter_lets_so_many_pass),
        T(threads_share_the_limiter),
        T(the_audit_keeps_what_threads_tell),
        T(the_audit_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
