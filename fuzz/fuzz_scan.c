/* Proves: the vector scan for the end of a JSON value is the portable one, from
 * every state and across every split. */
#include "fuzz.h"

#include "json_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t start = fuzz_take(&data, &size, 1);
    uint32_t split = fuzz_take(&data, &size, 2);
    struct tb_json_scan wanted = {.depth = (start >> 2) + 1,
                                  .in_string = start & 1,
                                  .is_escaped = (start & 2) != 0};
    struct tb_json_scan got = wanted;
    struct tb_span bytes = {data, size};
    struct tb_span first = {data, size ? split % (size + 1) : 0};
    size_t wanted_len = tb_json_scan_portable(&wanted, bytes);
    size_t got_len = tb_json_scan_container(&got, first);
    if (got.depth > 0)
        got_len += tb_json_scan_container(&got, tb_span_from(bytes, first.len));
    FUZZ_CHECK(got_len == wanted_len);
    FUZZ_CHECK(got.depth == wanted.depth);
    FUZZ_CHECK(got.in_string == wanted.in_string);
    FUZZ_CHECK(got.is_escaped == wanted.is_escaped);
    return 0;
}
