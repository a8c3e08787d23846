// The chat template engine: the language, what it refuses, and its limits.
// tests/oracle/template_oracle.py holds it to jinja2; these cases stand alone.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chat_template.h"
#include "memory.h"

#define OUT_MAX ((size_t)1 << 30)

static const char messages[] =
    "[{\"role\": \"system\", \"content\": \" S \"},"
    " {\"role\": \"user\", \"content\": \"it's \\u00fc\\n\"},"
    " {\"role\": \"assistant\", \"content\": null, \"reasoning\": \"why\"}]";

static const char kwargs[] =
    "{\"n\": 7, \"l\": [3, 1, 2], \"d\": {\"a\": 1, \"items\": \"own\"},"
    " \"s\": \"Hello World\", \"u\": \"\\u00c4\\u00f6 \\u4f60\","
    " \"big\": 12345678901234567890, \"bos_token\": \"<B>\"}";

struct rendering {
    struct tb_arena arena;
    struct tb_buffer out;
    struct tb_error error;
    tb_status status;
};

static void run(struct rendering *one, const char *source,
                const struct tb_chat_input *input)
{
    struct tb_chat_template *chat_template;
    *one = (struct rendering){.out = TB_BUFFER(OUT_MAX)};
    one->status = tb_chat_template_compile(tb_span_of(source), &chat_template,
                                           &one->error);
    if (one->status != TB_OK)
        return;
    one->status = tb_chat_template_render(chat_template, input, &one->arena,
                                          &one->out, &one->error);
    tb_chat_template_free(chat_template);
}

static void release(struct rendering *one)
{
    tb_arena_release(&one->arena);
    tb_buffer_release(&one->out);
}

static struct tb_chat_input plain_input(void)
{
    static const struct tb_special_token special[] = {
        {{(const uint8_t *)"bos_token", 9}, {(const uint8_t *)"<s>", 3}},
        {{(const uint8_t *)"eos_token", 9}, {(const uint8_t *)"</s>", 4}}};
    return (struct tb_chat_input){.messages = tb_span_of(messages),
                                  .special = special,
                                  .special_count = 2,
                                  .kwargs = tb_span_of(kwargs),
                                  .now_s = 1753351200};
}

struct text_case {
    const char *source, *expected;
};

static const struct text_case texts[] = {
    // Data and white space.
    {"", ""},
    {"a\n", "a"},
    {"a\r\nb\r", "a\nb"},
    {" a {{- 1 -}} b ", " a1b "},
    {"  {% if true %}\n  x\n  {% endif %}\n y", "  x\n y"},
    {"  {%+ if true +%}\n  x\n  {%+ endif +%}\ny", "  \n  x\n  \ny"},
    {"a\n   {# c #}   \nb", "a\n   \nb"},
    {"{% raw %}{{ x }}{% endraw %}", "{{ x }}"},
    {"{{ '}}' }}{{ {'a': {'b': 1}}.a.b }}", "}}1"},
    // Values and operators.
    {"{{ 1 + 2 * 3 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 2 ** 10 }}", "7 -4 2 1024"},
    {"{{ 7 / 2 }} {{ 1e16 }} {{ 0.1 + 0.2 }} {{ 1e-5 }}",
     "3.5 1e+16 0.30000000000000004 1e-05"},
    {"{{ 1 ~ none ~ true ~ 1.0 ~ missing }}", "1NoneTrue1.0"},
    {"{{ [1, 'a', none, \"it's\"] }} {{ {'a': (1,)} }}",
     "[1, 'a', None, \"it's\"] {'a': (1,)}"},
    {"{{ 1 < 2 < 3 }} {{ 1 == 1.0 }} {{ 'a' in 'cat' }} {{ 9 not in l }}",
     "True True True True"},
    {"{{ big }} {{ big is integer }}", "12345678901234567890 True"},
    {"{{ 'x' if n > 5 else 'y' }}{{ 'x' if false }}", "x"},
    {"{{ s[0] }}{{ s[-1] }}{{ s[1:4] }}{{ s[::-1] }}", "HdelldlroW olleH"},
    {"{{ u[0] }}{{ u|length }}{{ u[::-1] }}{{ u.lower() }}",
     "\xc3\x84"
     "4\xe4\xbd\xa0 \xc3\xb6\xc3\x84\xc3\xa4\xc3\xb6 \xe4\xbd\xa0"},
    {"{{ l[-1] }}{{ l[1:] }}{{ l[9] }}{{ d.a }}{{ d['a'] }}{{ d.zz }}",
     "2[1, 2]11"},
    {"{{ d['items'] }} {{ d.items()|list }}",
     "own [('a', 1), ('items', 'own')]"},
    // Statements.
    {"{% for x in l %}{{ loop.index }}{{ x }}{{ ',' if not loop.last }}"
     "{% endfor %}",
     "13,21,32"},
    {"{% for x in l if x > 1 %}{{ x }}/{{ loop.length }} {% endfor %}",
     "3/2 2/2 "},
    {"{% for x in [] %}{% else %}none{% endfor %}", "none"},
    {"{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}"
     "{% endfor %}",
     "32"},
    {"{% for x in l %}{{ x }}{% break %}{% endfor %}", "3"},
    {"{% for k, v in d|dictsort %}{{ k }}={{ v }};{% endfor %}",
     "a=1;items=own;"},
    {"{% for x in [1, [2, [3]]] recursive %}{% if x is iterable %}"
     "({{ loop(x) }}){% else %}{{ x }}{% endif %}{% endfor %}",
     "1(2(3))"},
    {"{% set x = 1 %}{% for y in l %}{% set x = 2 %}{% endfor %}{{ x }}", "1"},
    {"{% set ns = namespace(x=0) %}{% for y in l %}{% set ns.x = ns.x + y %}"
     "{% endfor %}{{ ns.x }}",
     "6"},
    {"{% set x %}a{{ n }}{% endset %}{{ x|upper }}", "A7"},
    {"{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, b=2) "
     "}}",
     "1112"},
    {"{% macro m() %}<{{ caller(1) }}>{% endmacro %}{% call(x) m() %}{{ x }}"
     "{% endcall %}",
     "<1>"},
    {"{% macro f(n) %}{{ n }}{% if n %}{{ f(n - 1) }}{% endif %}{% endmacro %}"
     "{{ f(3) }}",
     "3210"},
    {"{% with a=1 %}{{ a }}{% endwith %}{{ a }}", "1"},
    {"{% filter upper %}a{% endfilter %}", "A"},
    {"{% generation %}a{% endgeneration %}", "a"},
    // Filters and methods.
    {"{{ d|tojson }} {{ u|tojson }} {{ [1]|tojson(indent=2) }}",
     "{\"a\": 1, \"items\": \"own\"} \"\xc3\x84\xc3\xb6 \xe4\xbd\xa0\" [\n  "
     "1\n]"},
    {"{{ '<' | tojson }}{{ {'b': 1, 'a': 2}|tojson(separators=(',', ':')) }}",
     "\"<\"{\"b\":1,\"a\":2}"},
    {"{{ l|sort|join(',') }} {{ l|map('string')|join }} {{ l|max }}",
     "1,2,3 312 3"},
    {"{{ missing|default('x') }}{{ ''|d('y', true) }}{{ none|d('z') }}",
     "xyNone"},
    {"{{ 'x' if l|select('string') else 'y' }}", "x"},
    {"{{ 'a,b'.split(',')[-1] }}{{ ' x '|trim }}{{ 'abc'.replace('b', '-') }}",
     "bxa-c"},
    {"{{ '%s-%03d' % ('a', 5) }} {{ '{}:{x}'.format(1, x=2) }}", "a-005 1:2"},
    {"{{ 'ß'.upper() }}{{ 'ΑΣ'.lower() }}", "SSας"},
    {"{{ strftime_now('%d %b %Y %H:%M') }}", "24 Jul 2025 10:00"},
    // Messages, tools, special tokens.
    {"{{ bos_token }}{{ eos_token }}{{ tools }}{{ add_generation_prompt }}",
     "<B></s>NoneTrue"},
    {"{{ messages[2] }}", "{'thinking': 'why', 'role': 'assistant', "
                          "'reasoning': 'why', 'reasoning_content': 'why'}"},
    {"{% for m in messages %}{{ '<' + m.role + '>' + (m.content or '') }}"
     "{% endfor %}",
     "<system> S <user>it's \xc3\xbc\n<assistant>"},
};

static void test_texts(void **state)
{
    (void)state;
    struct tb_chat_input input = plain_input();
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct rendering one;
        run(&one, texts[i].source, &input);
        if (one.status != TB_OK ||
            !tb_span_equal(tb_buffer_span(&one.out),
                           tb_span_of(texts[i].expected)))
            fail_msg("%s\n  expected %s\n  got %s: %.*s%s", texts[i].source,
                     texts[i].expected, tb_status_name(one.status),
                     (int)one.out.len,
                     one.out.ptr ? (const char *)one.out.ptr : "",
                     one.error.message);
        release(&one);
    }
}

struct error_case {
    const char *source;
    tb_status status;
    const char *message; /* a part of it */
    uint64_t line;
};

static const struct error_case errors[] = {
    {"{{ x", TB_ERR_SYNTAX, "", 1},
    {"\n\n{% if x %}", TB_ERR_SYNTAX, "ends before", 3},
    {"\n{% foo %}", TB_ERR_SYNTAX, "unknown tag 'foo'", 2},
    {"{{ (1 }}", TB_ERR_SYNTAX, "", 1},
    {"{{ x|nope }}", TB_ERR_SYNTAX, "'nope'", 1},
    {"{% break %}", TB_ERR_SYNTAX, "outside", 1},
    {"{# x", TB_ERR_SYNTAX, "comment", 1},
    {"{% include 'x' %}", TB_ERR_UNSUPPORTED, "'include'", 1},
    {"{{ x|urlize }}", TB_ERR_UNSUPPORTED, "'urlize'", 1},
    {"{{ raise_exception('no ' ~ n) }}", TB_ERR_VALUE, "no 7", 0},
    {"{{ missing.x }}", TB_ERR_VALUE, "'missing' is undefined", 0},
    {"{{ d.zz.x }}", TB_ERR_VALUE, "'dict object' has no attribute 'zz'", 0},
    {"{{ 'a' + 1 }}", TB_ERR_VALUE, "concatenate", 0},
    {"{{ 1 / 0 }}", TB_ERR_VALUE, "zero", 0},
    {"{{ l.append(1) }}", TB_ERR_VALUE, "unsafe", 0},
    {"{{ n|length }}", TB_ERR_VALUE, "len()", 0},
    {"{{ 9223372036854775807 + 1 }}", TB_ERR_LIMIT, "64 bits", 0},
    {"{{ range(100001) }}", TB_ERR_VALUE, "Range too big", 0},
};

static void test_errors(void **state)
{
    (void)state;
    struct tb_chat_input input = plain_input();
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        struct rendering one;
        run(&one, errors[i].source, &input);
        if (one.status != errors[i].status || one.error.status != one.status ||
            !strstr(one.error.message, errors[i].message) ||
            one.error.line != errors[i].line || one.out.len != 0)
            fail_msg("%s\n  got %s, line %llu: %s", errors[i].source,
                     tb_status_name(one.status),
                     (unsigned long long)one.error.line, one.error.message);
        release(&one);
    }
}

static void test_inputs(void **state)
{
    (void)state;
    static const struct {
        const char *messages, *tools;
        tb_status status;
    } cases[] = {
        {"[]", "", TB_ERR_VALUE},      {"{}", "", TB_ERR_VALUE},
        {"[1]", "", TB_ERR_VALUE},     {"[{}", "", TB_ERR_CUT},
        {"[{}]", "[1]", TB_ERR_VALUE}, {"[{}]", "null", TB_OK},
        {"[{}]", "[]", TB_OK},         {"[{}]", "[{}]", TB_OK},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rendering one;
        struct tb_chat_input input = {.messages = tb_span_of(cases[i].messages),
                                      .tools = tb_span_of(cases[i].tools)};
        run(&one, "{{ tools }}", &input);
        assert_int_equal(one.status, cases[i].status);
        release(&one);
    }
}

// What was in the buffer stays there, also when rendering fails.
static void test_appends(void **state)
{
    (void)state;
    struct tb_chat_input input = plain_input();
    struct tb_arena arena = {0};
    struct tb_buffer out = TB_BUFFER(OUT_MAX);
    struct tb_chat_template *good, *bad;
    assert_int_equal(tb_chat_template_compile(TB_SPAN("b{{ n }}"), &good, NULL),
                     TB_OK);
    assert_int_equal(
        tb_chat_template_compile(TB_SPAN("c{{ missing.x }}"), &bad, NULL),
        TB_OK);
    assert_int_equal(tb_buffer_append(&out, TB_SPAN("a")), TB_OK);
    assert_int_equal(tb_chat_template_render(bad, &input, &arena, &out, NULL),
                     TB_ERR_VALUE);
    assert_int_equal(tb_chat_template_render(good, &input, &arena, &out, NULL),
                     TB_OK);
    assert_true(tb_span_equal(tb_buffer_span(&out), TB_SPAN("ab7")));
    assert_true(tb_chat_template_mentions(good, TB_SPAN("n")));
    assert_false(tb_chat_template_mentions(good, TB_SPAN("tools")));
    tb_chat_template_free(good);
    tb_chat_template_free(bad);
    tb_chat_template_free(NULL);
    tb_arena_release(&arena);
    tb_buffer_release(&out);
}

/* ---- limits ----------------------------------------------------------- */

// `count` times `text` between `head` and `tail`; free it.
static char *repeat(const char *head, const char *text, size_t count,
                    const char *tail)
{
    size_t len = strlen(text), size = strlen(head) + strlen(tail) + 1;
    char *result = malloc(size + len * count);
    assert_non_null(result);
    char *at = result + snprintf(result, size, "%s", head);
    for (size_t i = 0; i < count; i++, at += len)
        memcpy(at, text, len);
    (void)snprintf(at, strlen(tail) + 1, "%s", tail);
    return result;
}

static const struct {
    const char *head, *text, *tail;
    size_t count;
} deep[] = {
    {"{{ ", "(", "1", 100000},
    {"{{ ", "[", "1", 100000},
    {"{{ ", "{1:", "1", 100000},
    {"{{ ", "-", "1 }}", 100000},
    {"{{ ", "not ", "1 }}", 100000},
    {"{{ ", "f(", "1", 100000},
    {"{{ ", "a[", "1", 100000},
    {"{{ 1", " + 1", " }}", 100000},
    {"{{ ''", "~''", " }}", 90},
    {"{{ d", ".a", " }}", 100000},
    {"{{ s", "|upper", " }}", 100000},
    {"{{ 1", " if 1 else 1", " }}", 100000},
    {"{{ 1", " and 1", " }}", 100000},
    {"{{ 1", " is number", " }}", 100000},
    {"", "{% if 1 %}", "", 100000},
    {"", "{% for x in l %}", "", 100000},
    {"", "{% macro m() %}", "", 100000},
    {"{% set ", "(", "x", 100000},
    {"{% macro f(x) %}{{ f([f(x)]) }}{% endmacro %}{{ f(1) }}", "", "", 0},
    {"{% macro f(x) %}{% for y in [1] %}{% if 1 %}{{ (1 + (f(x) ~ 1)|length) "
     "}}{% endif %}{% endfor %}{% endmacro %}{{ f(1) }}",
     "", "", 0},
    {"{% macro f(x) %}{% call f(1) %}{{ f(1) }}{% endcall %}{{ caller() }}"
     "{% endmacro %}{{ f(1) }}",
     "", "", 0},
    {"{% for x in [[1]] recursive %}{{ loop([x]) }}{% endfor %}", "", "", 0},
    {"{% set ns = namespace(x=[]) %}{% for i in range(1000) %}"
     "{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
     "", "", 0},
    {"{% set ns = namespace(x=[]) %}{% for i in range(1000) %}"
     "{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x|tojson }}",
     "", "", 0},
    {"{% set ns = namespace(x=[], y=[]) %}{% for i in range(1000) %}"
     "{% set ns.x = [ns.x] %}{% set ns.y = [ns.y] %}{% endfor %}"
     "{{ ns.x == ns.y }}",
     "", "", 0},
};

static void *render_deep(void *unused)
{
    struct tb_chat_input input = plain_input();
    for (size_t i = 0; i < sizeof(deep) / sizeof(deep[0]); i++) {
        struct rendering one;
        char *source =
            repeat(deep[i].head, deep[i].text, deep[i].count, deep[i].tail);
        run(&one, source, &input);
        bool is_deep =
            one.status == TB_ERR_LIMIT || one.status == TB_ERR_SYNTAX;
        if (!is_deep && deep[i].count != 90)
            fail_msg("%s%s...: %s %s", deep[i].head, deep[i].text,
                     tb_status_name(one.status), one.error.message);
        release(&one);
        free(source);
    }
    char *nested = repeat("", "[", 100000, "");
    struct rendering one;
    input.messages = tb_span_of(nested);
    run(&one, "", &input);
    assert_int_equal(one.status, TB_ERR_LIMIT);
    release(&one);
    free(nested);
    return unused;
}

// All of it must hold on the small stack of a thread.
static void test_depth(void **state)
{
    (void)state;
    pthread_attr_t attributes;
    pthread_t thread;
    size_t size = 256 << 10;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    size = 4 << 20; // frames are larger there
#endif
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, size), 0);
    assert_int_equal(pthread_create(&thread, &attributes, render_deep, NULL),
                     0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

static void test_sizes(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "{{ 'x' * 1000000000000 }}",
        "{{ ' ' * 100000000 * 100 }}",
        "{{ 'x'.center(1000000000000) }}",
        "{{ 'x'|indent(1000000000000) }}",
        "{{ '%1000000d' % 1 }}",
        "{% set ns = namespace(s='ha') %}{% for i in range(100) %}"
        "{% set ns.s = ns.s + ns.s %}{% endfor %}",
        "{% set a = 'a' * 10000000 %}{{ a.rfind('b' + a[:5000000]) }}",
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        // Seconds, and minutes there.
        "{{ [1] * 1000000000000 }}",
        "{% set ns = namespace(l=[1]) %}{% for i in range(100) %}"
        "{% set ns.l = ns.l + ns.l %}{% endfor %}",
        "{% for i in range(100000) %}{% for j in range(100000) %}"
        "{% for k in range(100000) %}{% endfor %}{% endfor %}{% endfor %}",
        "{% set s = 'x' * 10000000 %}{% for i in range(100000) %}"
        "{{ s|length }}{% endfor %}",
#endif
    };
    struct tb_chat_input input = plain_input();
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        struct rendering one;
        run(&one, sources[i], &input);
        if (one.status != TB_ERR_LIMIT)
            fail_msg("%s: %s %s", sources[i], tb_status_name(one.status),
                     one.error.message);
        release(&one);
    }
}

static void test_a_template_is_utf8(void **state)
{
    (void)state;
    struct tb_chat_template *made;
    struct tb_error error;
    assert_int_equal(
        tb_chat_template_compile(TB_SPAN("ab\xE4\xB8z"), &made, &error),
        TB_ERR_SYNTAX);
    assert_string_equal(error.message, "byte 2 of the template is not UTF-8");
}

/* ---- memory ----------------------------------------------------------- */

// Every request for memory fails once: an error, no leak, no crash.
static void test_memory(void **state)
{
    (void)state;
    struct tb_chat_input input = plain_input();
    static const char source[] =
        "{% macro m(x) %}{{ x|tojson(indent=2) }}{% endmacro %}"
        "{% for m in messages %}{{ m.role + (m.content or '')|upper }}"
        "{% endfor %}{{ m(d) }}{{ [1, 'a', 1.5] }}{{ 'x' * 100000 }}";
    for (long i = 0; i < 200; i++) {
        struct rendering one;
        tb_memory_fail_after(i);
        run(&one, source, &input);
        tb_memory_fail_after(-1);
        bool is_done = one.status == TB_OK;
        assert_true(is_done || one.status == TB_ERR_MEMORY);
        release(&one);
        if (is_done)
            return;
    }
    fail_msg("never succeeded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_appends),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_a_template_is_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
