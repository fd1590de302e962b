/* access/s3_text: what a signed request claims, and the text that is signed, against the examples that the service's
 * documentation publishes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "access/s3_text.h"

#define NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define SCOPE "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request"
#define DATE "20130524T000000Z"
#define SIGNATURE "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
enum { EXAMPLE_S = 1369353600 };

static const struct s3_credentials example = {
    .access = "AKIAIOSFODNN7EXAMPLE", .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", .region = "us-east-1"};

static void expect_signature(const struct s3_claim *claim, const char *path, const char *query,
                             const struct s3_header *headers, size_t n, const char *payload) {
    char signature[SHA256_HEX];
    char *canonical_path = s3_canonical_path(path, strlen(path)), *canonical_query = s3_canonical_query(query);
    assert_non_null(canonical_path);
    assert_non_null(canonical_query);
    const struct s3_signing what = {.credentials = &example,
                                    .now_s = claim->signed_s,
                                    .method = "GET",
                                    .path = canonical_path,
                                    .query = canonical_query,
                                    .headers = headers,
                                    .n_headers = n,
                                    .payload = payload};
    assert_string_equal(claim->access, example.access);
    assert_string_equal(claim->region, example.region);
    assert_int_equal(claim->signed_s, EXAMPLE_S);
    assert_true(s3_signature(&what, signature));
    assert_string_equal(signature, claim->signature);
    free(canonical_path);
    free(canonical_query);
}

static void requests_are_those_that_were_signed(void **state) {
    (void)state;
    struct s3_claim claim;
    const struct s3_header get[] = {{"host", "examplebucket.s3.amazonaws.com"},
                                    {"range", "bytes=0-9"},
                                    {"x-amz-content-sha256", NOTHING},
                                    {"x-amz-date", DATE}};
    assert_true(s3_claim_header("AWS4-HMAC-SHA256 Credential=" SCOPE
                                ",SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=" SIGNATURE,
                                DATE, &claim));
    assert_string_equal(claim.headers, "host;range;x-amz-content-sha256;x-amz-date");
    expect_signature(&claim, "/test.txt", "", get, 4, NOTHING);
    expect_signature(&claim, "/%74est%2Etxt", "", get, 4, NOTHING); /* the same path */

    const struct s3_header list[] = {get[0], get[2], get[3]};
    assert_true(s3_claim_header("AWS4-HMAC-SHA256   Credential=" SCOPE
                                " ,  SignedHeaders=host;x-amz-content-sha256;x-amz-date,  Signature="
                                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
                                DATE, &claim));
    expect_signature(&claim, "/", "prefix=J&max-keys=2", list, 3, NOTHING);
    assert_true(s3_claim_header("AWS4-HMAC-SHA256 Credential=" SCOPE
                                ",SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature="
                                "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
                                DATE, &claim));
    expect_signature(&claim, "/", "lifecycle", list, 3, NOTHING);
}

#define QUERY                                                                                                          \
    "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_"       \
    "request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature="                \
    "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"

static void addresses_are_those_that_were_signed(void **state) {
    (void)state;
    struct s3_claim claim;
    assert_true(s3_claim_query(QUERY, &claim));
    assert_int_equal(claim.lifetime_s, 86400);
    expect_signature(&claim, "/test.txt", QUERY, &(const struct s3_header){"host", "examplebucket.s3.amazonaws.com"}, 1,
                     S3_UNSIGNED);
}

static void other_claims_are_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "AWS4-HMAC-SHA256",
        "AWS4-HMAC-SHA256Credential=" SCOPE ",SignedHeaders=host,Signature=" SIGNATURE,
        "AWS4-HMAC-SHA512 Credential=" SCOPE ",SignedHeaders=host,Signature=" SIGNATURE,
        "AWS4-HMAC-SHA256 SignedHeaders=host,Signature=" SIGNATURE,
        "AWS4-HMAC-SHA256 Credential=" SCOPE ",Credential=" SCOPE ",SignedHeaders=host,Signature=" SIGNATURE,
        "AWS4-HMAC-SHA256 Credential=A/20130525/r/s3/aws4_request,SignedHeaders=host,Signature=" SIGNATURE,
        "AWS4-HMAC-SHA256 Credential=A/20130524/r/ec2/aws4_request,SignedHeaders=host,Signature=" SIGNATURE,
        "AWS4-HMAC-SHA256 Credential=/20130524/r/s3/aws4_request,SignedHeaders=host,Signature=" SIGNATURE,
        "AWS4-HMAC-SHA256 Credential=A/20130524//s3/aws4_request,SignedHeaders=host,Signature=" SIGNATURE,
        "AWS4-HMAC-SHA256 Credential=/s3/aws4_request,SignedHeaders=host,Signature=" SIGNATURE,
        "AWS4-HMAC-SHA256 Credential=" SCOPE ",SignedHeaders=range,Signature=" SIGNATURE, /* not the host */
        "AWS4-HMAC-SHA256 Credential=" SCOPE ",SignedHeaders=range;host,Signature=" SIGNATURE,
        "AWS4-HMAC-SHA256 Credential=" SCOPE ",SignedHeaders=host;host,Signature=" SIGNATURE,
        "AWS4-HMAC-SHA256 Credential=" SCOPE ",SignedHeaders=host;,Signature=" SIGNATURE,
        "AWS4-HMAC-SHA256 Credential=" SCOPE ",SignedHeaders=Host,Signature=" SIGNATURE,
        "AWS4-HMAC-SHA256 Credential=" SCOPE ",SignedHeaders=host,Signature=f0e8",
        "AWS4-HMAC-SHA256 Credential=" SCOPE ",SignedHeaders=host,Signature=z" SIGNATURE,
    };
    static const char *const dates[] = {"",
                                        "20130524",
                                        "20130524T000000",
                                        "20130532T000000Z",
                                        "20130524T000000Zx",
                                        "2013-524T000000Z",
                                        "20130524T+1+1+1Z",
                                        "20130524T240000Z"};
    struct s3_claim claim;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(s3_claim_header(wrong[i], DATE, &claim));
    }
    static const char good[] = "AWS4-HMAC-SHA256 Credential=" SCOPE ",SignedHeaders=host,Signature=" SIGNATURE;
    assert_true(s3_claim_header(good, DATE, &claim));
    assert_false(s3_claim_header(good, NULL, &claim));
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        assert_false(s3_claim_header(good, dates[i], &claim));
    }
    assert_false(s3_claim_query(QUERY "&X-Amz-Date=20130524T000000Z", &claim)); /* which of them counts? */
    assert_false(s3_claim_query(QUERY "&a=%zz", &claim));
    assert_false(s3_claim_query("X-Amz-Signature=" SIGNATURE, &claim));
}

static void queries_are_sorted_by_name_then_value(void **state) {
    (void)state;
    static const char *const texts[][2] = {{"", ""},
                                           {"b=2&a=1", "a=1&b=2"},
                                           {"a=2&a=1&a", "a=&a=1&a=2"},
                                           {"a=1&a-b=2", "a=1&a-b=2"}, /* '-' is before '=' */
                                           {"a+b=%2B&&c=/~", "a%20b=%2B&c=%2F~"},
                                           {"x=%e4%b8%ad&X-Amz-Signature=1", "x=%E4%B8%AD"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *text = s3_canonical_query(texts[i][0]);
        assert_string_equal(text, texts[i][1]);
        free(text);
    }
    assert_null(s3_canonical_query("a=%"));
    assert_null(s3_canonical_path("/%ff", 4));
    char value[] = " \t a  b\t\tc ";
    s3_canonical_value(value);
    assert_string_equal(value, "a b c");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_those_that_were_signed),
        cmocka_unit_test(addresses_are_those_that_were_signed),
        cmocka_unit_test(other_claims_are_refused),
        cmocka_unit_test(queries_are_sorted_by_name_then_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
