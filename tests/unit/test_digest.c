/* base: SHA-1 and SHA-256 against the examples of FIPS 180 and NIST, hashing
 * with a secret against those of RFC 4231. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "keyed_hash.h"

#define LONG_TEXT "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"

static void check(tb_digest_kind kind, const char *text, const char *wanted)
{
    char found[TB_DIGEST_TEXT_SIZE];
    size_t len = strlen(text);
    for (size_t step = 1; step <= len + 1; step++) { // in pieces of any length
        struct tb_digest digest = tb_digest_begin(kind);
        for (size_t at = 0; at < len; at += step)
            tb_digest_add(&digest,
                          (struct tb_span){(const uint8_t *)text + at,
                                           len - at < step ? len - at : step});
        tb_digest_end(&digest, found);
        assert_string_equal(found, wanted);
    }
}

static void test_examples(void **state)
{
    (void)state;
    check(TB_SHA1, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    check(TB_SHA1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d");
    check(TB_SHA1, LONG_TEXT, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    check(TB_SHA256, "",
          "e3b0c44298fc1c149afbf4c8996fb924"
          "27ae41e4649b934ca495991b7852b855");
    check(TB_SHA256, "abc",
          "ba7816bf8f01cfea414140de5dae2223"
          "b00361a396177a9cb410ff61f20015ad");
    check(TB_SHA256, LONG_TEXT,
          "248d6a61d20638b8e5c026930c3e6039"
          "a33ce45964ff2167f6ecedd419db06c1");
}

static void test_a_million(void **state)
{
    (void)state;
    uint8_t piece[1000];
    char found[TB_DIGEST_TEXT_SIZE];
    memset(piece, 'a', sizeof(piece));
    struct tb_digest first = tb_digest_begin(TB_SHA1);
    struct tb_digest second = tb_digest_begin(TB_SHA256);
    for (int i = 0; i < 1000; i++) {
        tb_digest_add(&first, (struct tb_span){piece, sizeof(piece)});
        tb_digest_add(&second, (struct tb_span){piece, sizeof(piece)});
    }
    tb_digest_end(&first, found);
    assert_string_equal(found, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    tb_digest_end(&second, found);
    assert_string_equal(found, "cdc76e5c9914fb9281a1c7e284d73e67"
                               "f1809a48a497200e046d39ccc7112cd0");
}

static uint64_t keyed(const char *secret, const char *text)
{
    struct tb_keyed_hash key = tb_keyed_hash_of(tb_span_of(secret));
    return tb_keyed_hash64(&key, tb_span_of(text));
}

// The hashes there begin b0344c61d8db3853..., 5bdcc146bf60754e..., ...
static void test_examples_with_a_secret(void **state)
{
    (void)state;
    char long_secret[132];
    memset(long_secret, 0xaa, 131);
    long_secret[131] = '\0';
    assert_int_equal(keyed("\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b"
                           "\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b",
                           "Hi There"),
                     UINT64_C(0x5338dbd8614c34b0));
    assert_int_equal(keyed("Jefe", "what do ya want for nothing?"),
                     UINT64_C(0x4e7560bf46c1dc5b));
    assert_int_equal(
        keyed(long_secret,
              "Test Using Larger Than Block-Size Key - Hash Key First"),
        UINT64_C(0x7fb6e01e5931e460));
}

static void test_a_secret_has_a_name(void **state)
{
    (void)state;
    char first[33], second[33];
    struct tb_keyed_hash key = tb_keyed_hash_of(TB_SPAN("sixteen letters."));
    tb_keyed_hash_name(&key, first);
    key = tb_keyed_hash_of(TB_SPAN("sixteen letters!"));
    tb_keyed_hash_name(&key, second);
    assert_int_equal(strlen(first), 32);
    assert_string_not_equal(first, second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_a_million),
        cmocka_unit_test(test_examples_with_a_secret),
        cmocka_unit_test(test_a_secret_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
