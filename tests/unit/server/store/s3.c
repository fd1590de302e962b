/* store/s3: signatures against the examples that the service's documentation publishes, escapes, XML, credentials;
 * base/digest.h. What asks a real service is in tests/cluster. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/hex.h"
#include "store/s3/credentials.h"
#include "store/s3/s3.h"
#include "store/s3/sign.h"
#include "store/s3/xml.h"

#define NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" /* SHA-256 of no bytes */

static const struct s3_credentials example = {
    .access = "AKIAIOSFODNN7EXAMPLE", .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", .region = "us-east-1"};
enum { EXAMPLE_S = 1369353600 }; /* 20130524T000000Z */

static void expect_signature(const char *method, const char *path, const char *query, const struct s3_header *headers,
                             size_t n, const char *payload, const char *signature) {
    char out[S3_AUTHORIZATION_MAX];
    const struct s3_signing what = {.credentials = &example,
                                    .now_s = EXAMPLE_S,
                                    .method = method,
                                    .path = path,
                                    .query = query,
                                    .headers = headers,
                                    .n_headers = n,
                                    .payload = payload};
    assert_true(s3_sign(&what, out));
    assert_string_equal(strstr(out, "Signature=") + strlen("Signature="), signature);
    assert_non_null(strstr(out, "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"));
}

static void signatures_equal_the_published_ones(void **state) {
    (void)state;
    const struct s3_header get[] = {{"host", "examplebucket.s3.amazonaws.com"},
                                    {"range", "bytes=0-9"},
                                    {"x-amz-content-sha256", NOTHING},
                                    {"x-amz-date", "20130524T000000Z"}};
    expect_signature("GET", "/test.txt", "", get, 4, NOTHING,
                     "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    static const char body[] = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
    const struct s3_header put[] = {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
                                    {"host", "examplebucket.s3.amazonaws.com"},
                                    {"x-amz-content-sha256", body},
                                    {"x-amz-date", "20130524T000000Z"},
                                    {"x-amz-storage-class", "REDUCED_REDUNDANCY"}};
    char path[64];
    assert_true(s3_escape("/test$file.text", true, path, sizeof path));
    expect_signature("PUT", path, "", put, 5, body, "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    const struct s3_header plain[] = {{"host", "examplebucket.s3.amazonaws.com"},
                                      {"x-amz-content-sha256", NOTHING},
                                      {"x-amz-date", "20130524T000000Z"}};
    expect_signature("GET", "/", "lifecycle=", plain, 3, NOTHING,
                     "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    expect_signature("GET", "/", "max-keys=2&prefix=J", plain, 3, NOTHING,
                     "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

static void an_address_carries_its_signature(void **state) {
    (void)state;
    const struct s3_header host = {"host", "examplebucket.s3.amazonaws.com"};
    const struct s3_signing what = {.credentials = &example,
                                    .now_s = EXAMPLE_S,
                                    .method = "GET",
                                    .path = "/test.txt",
                                    .query = "",
                                    .headers = &host,
                                    .n_headers = 1};
    char out[1024];
    assert_true(s3_sign_query(&what, 86400, "", out, sizeof out));
    assert_string_equal(
        out, "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2F"
             "aws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature="
             "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
    for (size_t room = 0; room < strlen(out) + 1; room++) {
        char little[1024];
        assert_false(s3_sign_query(&what, 86400, "", little, room));
    }
}

static void escapes_what_must_be(void **state) {
    (void)state;
    char out[32];
    assert_true(s3_escape("a/b+c (ü)~", true, out, sizeof out));
    assert_string_equal(out, "a/b%2Bc%20%28%C3%BC%29~");
    assert_true(s3_escape("a/b", false, out, sizeof out));
    assert_string_equal(out, "a%2Fb");
    assert_false(s3_escape("aaaa", false, out, 4));
    assert_true(s3_escape("aaa", false, out, 4));
    assert_false(s3_escape("a+", false, out, 4));
}

static void addresses(void **state) {
    (void)state;
    static const char *const bad[] = {"s3:/bucket", "http://x/y",   "s3://ab",
                                      "s3://",      "s3://a b c/x", "s3://bucket?x/y"};
    char bucket[S3_BUCKET_MAX], key[S3_KEY_MAX + 1];
    struct reel_error err;
    assert_true(s3_address("s3://lab-1/old bags/2019", bucket, key, &err));
    assert_string_equal(bucket, "lab-1");
    assert_string_equal(key, "old bags/2019");
    assert_true(s3_address("s3://lab", bucket, key, &err) && !key[0]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(s3_address(bad[i], bucket, key, &err));
        assert_int_equal(err.code, REEL_ARGUMENT);
    }
}

static void on_text(void *context, const char *path, const char *text) {
    char *out = context;
    size_t used = strlen(out);
    snprintf(out + used, 256 - used, "%s=%s;", path, text);
}

static void xml_is_flattened_and_hostile_xml_refused(void **state) {
    (void)state;
    static const char good[] = "<?xml version=\"1.0\"?><R "
                               "xmlns=\"http://x/\"><Contents><Key>a&amp;b</Key><Size>7</Size></Contents><More/></R>";
    static const char entity[] = "<!DOCTYPE r [<!ENTITY a \"b\">]><r><x>&a;</x></r>";
    char out[256] = "";
    assert_true(s3_xml(good, strlen(good), on_text, out));
    assert_string_equal(out, "Contents/Key=a&b;Contents/Size=7;Contents=;More=;");
    for (size_t n = 0; n < strlen(good); n++) {
        assert_false(s3_xml(good, n, on_text, (char[256]){0}));
    }
    assert_false(s3_xml(entity, strlen(entity), on_text, (char[256]){0}));
    char deep[1024] = "";
    for (unsigned i = 0; i < 20; i++) {
        strcat(deep, "<a>");
    }
    for (unsigned i = 0; i < 20; i++) {
        strcat(deep, "</a>");
    }
    assert_false(s3_xml(deep, strlen(deep), on_text, (char[256]){0}));
    char *large = malloc(2 * S3_XML_TEXT);
    int n = snprintf(large, 2 * S3_XML_TEXT, "<a><b>%*s</b></a>", S3_XML_TEXT + 1, "x");
    assert_false(s3_xml(large, (size_t)n, on_text, (char[256]){0}));
    free(large);
}

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void credentials_come_from_the_environment_or_files(void **state) {
    (void)state;
    static const char *const names[] = {
        "AWS_ACCESS_KEY_ID",  "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",   "AWS_REGION",
        "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL",      "AWS_ENDPOINT_URL_S3", "AWS_PROFILE"};
    char folder[] = "/tmp/reel-s3-XXXXXX", path[64], config[64], endpoint[S3_ENDPOINT_MAX];
    struct s3_credentials c;
    struct reel_error err;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unsetenv(names[i]);
    }
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/credentials", folder);
    snprintf(config, sizeof config, "%s/config", folder);
    setenv("AWS_SHARED_CREDENTIALS_FILE", path, 1);
    setenv("AWS_CONFIG_FILE", config, 1);
    assert_false(s3_credentials_load(&c, endpoint, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    write_file(
        path,
        "# of the lab\n[other]\naws_access_key_id = A2\naws_secret_access_key=S2\n[default]\naws_access_key_id=A1\n"
        "aws_secret_access_key = S1=\naws_session_token=T1\n");
    write_file(config,
               "[default]\nregion = eu-central-1\n[profile other]\nregion=lab\nendpoint_url = http://10.0.0.1:9000/\n");
    assert_true(s3_credentials_load(&c, endpoint, &err));
    assert_string_equal(c.access, "A1");
    assert_string_equal(c.secret, "S1=");
    assert_string_equal(c.token, "T1");
    assert_string_equal(endpoint, "https://s3.eu-central-1.amazonaws.com");
    setenv("AWS_PROFILE", "other", 1);
    assert_true(s3_credentials_load(&c, endpoint, &err));
    assert_string_equal(c.access, "A2");
    assert_string_equal(c.token, "");
    assert_string_equal(c.region, "lab");
    assert_string_equal(endpoint, "http://10.0.0.1:9000");
    setenv("AWS_ACCESS_KEY_ID", "A3", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "S3", 1);
    setenv("AWS_ENDPOINT_URL", "https://s3.lab", 1);
    assert_true(s3_credentials_load(&c, endpoint, &err));
    assert_string_equal(c.access, "A3");
    assert_string_equal(endpoint, "https://s3.lab");
    static const char *const bad[] = {"s3.lab", "ftp://x", "https://", "https://a/b", "http://u@h", "https://x?y"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("AWS_ENDPOINT_URL", bad[i], 1);
        assert_false(s3_credentials_load(&c, endpoint, &err));
    }
    char long_key[S3_ACCESS_MAX + 1];
    memset(long_key, 'A', sizeof long_key);
    long_key[S3_ACCESS_MAX] = '\0';
    setenv("AWS_ENDPOINT_URL", "https://s3.lab", 1);
    setenv("AWS_ACCESS_KEY_ID", long_key, 1);
    assert_false(s3_credentials_load(&c, endpoint, &err));
    assert_null(strstr(err.text, "AAAA"));
    unlink(path);
    unlink(config);
    rmdir(folder);
}

static void a_hash_goes_on_from_its_state(void **state) {
    (void)state;
    char data[1000], text[SHA256_HEX], one[SHA256_HEX], other[SHA256_HEX];
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (char)(i * 7);
    }
    struct digest whole, part;
    digest_start(&whole, DIGEST_SHA256);
    digest_end_hex(&whole, one);
    assert_string_equal(one, NOTHING);
    digest_add(&whole, data, sizeof data);
    digest_end_hex(&whole, one);
    for (size_t at = 0; at < sizeof data; at += 64) {
        digest_start(&part, DIGEST_SHA256);
        digest_add(&part, data, at);
        digest_state(&part, text);
        assert_true(digest_restore(&part, text, at));
        digest_add(&part, data + at, 13);
        digest_add(&part, data + at + 13, sizeof data - at - 13);
        digest_end_hex(&part, other);
        assert_string_equal(one, other);
    }
    assert_false(digest_restore(&part, text, 63));
    assert_false(digest_restore(&part, "abc", 64));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signatures_equal_the_published_ones),
        cmocka_unit_test(an_address_carries_its_signature),
        cmocka_unit_test(escapes_what_must_be),
        cmocka_unit_test(addresses),
        cmocka_unit_test(xml_is_flattened_and_hostile_xml_refused),
        cmocka_unit_test(credentials_come_from_the_environment_or_files),
        cmocka_unit_test(a_hash_goes_on_from_its_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
