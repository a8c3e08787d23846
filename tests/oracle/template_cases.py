"""What template_oracle.py renders: conversations, snippets of the language,
and random expressions."""

# ------------------------------------------------------- conversations

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather in a city.\nOf \"today\" <only> & now.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "The city, e.g. Köln"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
                "days": {"type": "integer", "default": 3, "minimum": 1},
                "exact": {"type": ["boolean", "null"]},
            },
            "required": ["city"],
        },
    },
}
SEARCH = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Search the documents.",
        "parameters": {
            "type": "object",
            "properties": {
                "queries": {"type": "array", "items": {"type": "string"}},
                "filter": {
                    "type": "object",
                    "properties": {
                        "year": {"type": "number"},
                        "tags": {"type": "array",
                                 "items": {"type": "object", "properties": {
                                     "name": {"type": "string"}}}},
                    },
                    "additionalProperties": False,
                },
                "any": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            },
            "required": ["queries", "filter"],
        },
        "return": {"type": "string", "description": "Hits"},
    },
}
EMPTY_TOOL = {"type": "function",
              "function": {"name": "now", "description": "",
                           "parameters": {"type": "object", "properties": {}}}}
BARE_TOOL = {"name": "bare", "description": "No wrapper",
             "parameters": {"type": "object", "properties": {
                 "x": {"type": "integer"}}}}


def user(content):
    return {"role": "user", "content": content}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


def system(content):
    return {"role": "system", "content": content}


def call(name, arguments, number=1):
    return {"id": f"call_{number:09d}", "type": "function",
            "function": {"name": name, "arguments": arguments}}


def result(content, number=1, **more):
    return {"role": "tool", "tool_call_id": f"call_{number:09d}",
            "content": content, **more}


def parts(*texts):
    return [{"type": "text", "text": text} for text in texts]


TALK = [user("Hi"), assistant("Hello!"), user("How are you?")]
TOOL_TALK = [
    user("Weather in Köln?"),
    assistant("", tool_calls=[call("get_weather", {"city": "Köln", "days": 2})]),
    result('{"temp": 21.5, "sky": "clear"}', name="get_weather"),
    assistant("It is 21.5 °C."),
    user("And in Rome?"),
]
PARALLEL = [
    system("Use tools."),
    user("Compare Rome and Oslo"),
    assistant(None, tool_calls=[
        call("get_weather", {"city": "Rome", "exact": None, "unit": "celsius"}, 1),
        call("search", {"queries": ["a", "b"], "filter": {"year": 2024.5}}, 2)]),
    result("warm", 1, name="get_weather"),
    result("cold", 2, name="search"),
]

CONVERSATIONS = {
    "one user": {"messages": [user("Hello, world!")]},
    "system": {"messages": [system("You are helpful.")] + TALK},
    "talk": {"messages": TALK},
    "no messages": {"messages": []},
    "only system": {"messages": [system("S")]},
    "ends with assistant": {"messages": TALK[:2]},
    "starts with assistant": {"messages": [assistant("Me first"), user("ok")]},
    "two users": {"messages": [user("a"), user("b")]},
    "two assistants": {"messages": [user("a"), assistant("b"), assistant("c")]},
    "two systems": {"messages": [system("a"), system("b"), user("c")]},
    "system later": {"messages": [user("a"), system("b"), user("c")]},
    "developer": {"messages": [{"role": "developer", "content": "D"}, user("x")]},
    "unknown role": {"messages": [{"role": "critic", "content": "D"}, user("x")]},
    "no role": {"messages": [{"content": "D"}]},
    "no content": {"messages": [{"role": "user"}]},
    "empty contents": {"messages": [system(""), user(""), assistant(""), user("")]},
    "null contents": {"messages": [system(None), user(None), assistant(None),
                                   user("x")]},
    "spaces": {"messages": [system("  s \n"), user("\n\n u \t"),
                            assistant("  a\n\n"), user(" \u3000v\u00a0\n")]},
    "unicode": {"messages": [system("Ünïcödé 你好"), user("𝒳 👩‍👩‍👧 \u2028 \x85 ẞß"),
                             assistant("שלום\u200f"), user("e\u0301 \x00\x1f\x7f")]},
    "quotes": {"messages": [user("it's \"x\" \\n {{ y }} {% z %} <|im_end|> &<>"),
                            assistant("'"), user("\\")]},
    "long": {"messages": [user("word " * 3000), assistant("x" * 5000), user("y")]},
    "many": {"messages": TALK[:2] * 20 + [user("last")]},
    "parts": {"messages": [system(None) | {"content": parts("sys")},
                           user(parts("one", "two")), assistant(parts("a")),
                           user(parts("b"))]},
    "parts of all kinds": {"messages": [user([
        {"type": "image"}, {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "http://x/y.png"}},
        {"type": "video", "video": "v.mp4"}, {"type": "audio", "audio": "a"}])]},
    "part strings": {"messages": [user(["plain", "strings"])]},
    "empty parts": {"messages": [user([]), assistant([]), user("x")]},
    "content object": {"messages": [user({"a": [1, 2.5, None, True, "x'y"]})]},
    "content number": {"messages": [user(17), assistant(1.5), user(True)]},
    "thinking": {"messages": [
        user("a"), assistant("<think>\nhmm\n</think>\n\nb"), user("c"),
        assistant("<think>x</think>y"), user("d")]},
    "reasoning_content": {"messages": [
        user("a"), assistant("b", reasoning_content="because"), user("c"),
        assistant("d", reasoning_content="\nwhy\n",
                  tool_calls=[call("get_weather", {"city": "x"})]),
        result("ok")], "tools": [WEATHER]},
    "reasoning": {"messages": [user("a"), assistant("b", reasoning="r"),
                               user("c"), assistant("d", thinking="t"), user("e")]},
    "tools unused": {"messages": TALK, "tools": [WEATHER]},
    "tools and system": {"messages": [system("Be brief.")] + TALK,
                         "tools": [WEATHER, SEARCH, EMPTY_TOOL]},
    "no tools": {"messages": TALK, "tools": []},
    "bare tool": {"messages": TALK, "tools": [BARE_TOOL]},
    "tool call": {"messages": TOOL_TALK, "tools": [WEATHER]},
    "tool call without tools": {"messages": TOOL_TALK},
    "parallel calls": {"messages": PARALLEL, "tools": [WEATHER, SEARCH]},
    "parallel, answered": {"messages": PARALLEL + [assistant("Rome."), user("Ok")],
                           "tools": [WEATHER, SEARCH]},
    "arguments as text": {"messages": [
        user("x"), assistant("", tool_calls=[
            call("get_weather", '{"city": "Köln", "days": 2}')]),
        result("21")], "tools": [WEATHER]},
    "arguments empty": {"messages": [
        user("x"), assistant("", tool_calls=[call("now", {})]), result("12:00")],
        "tools": [EMPTY_TOOL]},
    "call with text": {"messages": [
        user("x"), assistant("Let me see.", tool_calls=[
            call("get_weather", {"city": "A"})]),
        result(parts("21", "22"))], "tools": [WEATHER]},
    "call without content": {"messages": [
        user("x"), {"role": "assistant", "tool_calls": [
            call("search", {"queries": [], "filter": {"tags": [{"name": "t"}]}})]},
        result("none")], "tools": [SEARCH]},
    "empty calls": {"messages": [user("x"), assistant("y", tool_calls=[]), user("z")]},
    "null calls": {"messages": [user("x"), assistant("y", tool_calls=None), user("z")]},
    "result as object": {"messages": [
        user("x"), assistant("", tool_calls=[call("now", {})]),
        result({"time": 12, "zone": "CET"})], "tools": [EMPTY_TOOL]},
    "short call ids": {"messages": [
        user("x"), assistant("", tool_calls=[
            {"id": "a1", "type": "function",
             "function": {"name": "now", "arguments": {}}}]),
        {"role": "tool", "tool_call_id": "a1", "content": "r"}],
        "tools": [EMPTY_TOOL]},
    "no call ids": {"messages": [
        user("x"), assistant("", tool_calls=[
            {"function": {"name": "now", "arguments": {}}}]),
        {"role": "tool", "content": "r"}], "tools": [EMPTY_TOOL]},
    "numbers in calls": {"messages": [
        user("x"), assistant("", tool_calls=[call("search", {
            "a": 1e20, "b": -0.0, "c": 1.0, "d": 123456789012345678901234567890,
            "e": [True, False, None], "f": {"g": {"h": []}}, "i": {}})]),
        result("1")], "tools": [SEARCH]},
    "ipython": {"messages": [user("x"), assistant("y"),
                             {"role": "ipython", "content": {"output": "1"}}]},
    "tool first": {"messages": [result("r"), user("x")]},
    "no thinking": {"messages": [system("s"), user("x")],
                    "kwargs": {"enable_thinking": False, "thinking": False}},
    "with thinking": {"messages": [system("s"), user("x")],
                      "kwargs": {"enable_thinking": True, "thinking": True,
                                 "reasoning_effort": "high"}},
    "kwargs": {"messages": TALK, "tools": [WEATHER],
               "kwargs": {"date_string": "01 Jan 2025", "builtin_tools": ["a", "b"],
                          "tools_in_user_message": False, "bos_token": "<B>",
                          "model_identity": "I am", "custom": 1,
                          "reasoning_effort": "low", "preserve_thinking": True}},
    "no special tokens": {"messages": TALK, "special": {}},
}

# ------------------------------------------------------------ snippets

VARIABLES = {
    "n": 7, "m": -3, "f": 2.5, "big": 10**25, "t": True, "no": False, "nil": None,
    "s": "Hello World", "u": "Äöß 你好 𝒳!", "e": "", "w": "  pad\t\n",
    "l": [3, 1, 2], "words": ["b", "A", "c", "B"], "empty": [], "mixed": [1, "a", None],
    "d": {"a": 1, "b": [1, 2], "c": {"x": "y"}, "items": "own"}, "ed": {},
    "people": [{"name": "Ann", "age": 30, "tags": ["x"]},
               {"name": "bob", "age": 25}, {"name": "Cid", "age": 30, "tags": []}],
    "nested": [[1, [2, 3]], [4]], "text": "a\nb\r\nc\n\nd", "html": "<a href='x'>&\"",
}

EXPRESSIONS = r"""
1 + 2 * 3 - 4
7 // 2, -7 // 2, 7 % 3, -7 % 3, 7 % -3
7 / 2, 4 / 2, 1 / 3
2 ** 10, 2 ** -1, 2.0 ** 3, -2 ** 2
2 ** 3 ** 2
1.5 // 0.4, 1.5 % 0.4, -1.5 % 0.4
10 // 3.0, 1e300 * 10
0.1 + 0.2, 1e16, 1e-5, 123456789.0, 1.0, 100000000000000000.0
1_000, 0x1F, 0b101, 0o17, 1e3, 1_0.5_0
1/0
1 % 0
1.0 // 0
"a" + "b" ~ 1 ~ none ~ true ~ 1.0
"a" ~ missing ~ "b"
1 ~ 2 + 3 ~ 4
"ab" * 3, 3 * "ab", "ab" * -1, [1] * 2, (1, 2) * 2
"a" + 1
1 + "a"
[1] + [2], (1,) + (2,)
[1] + (2,)
none + 1
missing + 1
1 + missing
missing - 1
-n, +n, - -n, -f, -t
-s
not n, not missing, not e, not empty
n == 7, n != 7, n < 8, n <= 7, n > 7, n >= 7
1 == 1.0, 1 == true, "1" == 1, none == false, [] == [], {} == {}, (1,) == [1]
1 < 2 < 3, 1 < 3 < 2, 3 > 2 > 1, 1 == 1 != 2
"a" < "b", "Z" < "a", [1, 2] < [1, 3], (1,) < (1, 2)
1 < "a"
none < 1
missing < 1
[1] < (1,)
missing == missing, missing == none, missing != 1
1 in l, 9 in l, 9 not in l, "a" in d, "zz" in d, 1 in d
"lo" in s, "" in s, "x" not in s
1 in "a"
1 in 5
1 in none
missing in s
missing in l, missing in d
"a" in missing
[1] in d
"x" if t else "y"
"x" if no else "y"
"x" if no
("x" if no) is defined
"x" if no else "y" if no else "z"
t and s, no and s, t or s, no or s, e or none or 0
t and not no or no
(1), (1,), (), (1, 2)
[], [1,], [1, 'a', none, true, 1.5], {}, {'a': 1,}, {1: 2, none: 3, (1, 2): 4}
{"a": 1, "a": 2}
{[1]: 2}
{"it's": 'a"b', 'n': "x\ny\t\\z"}
"\x41\u00e9\101\n|\q|\'|\"|\0|"
'a' 'b' "c"
s[0], s[-1], s[1:4], s[::-1], s[:5], s[6:], s[::2], s[-3:-1], s[5:2], s[100:], s[-100:3]
u[0], u[-1], u[1:4], u[::-1], u[4], u[7:], u|length
l[0], l[-1], l[1:], l[::-1], l[::2], l[5:], l[:-1], l[-2:]
l[5], l[-9], d["zz"], d.zz, s.zz, n.zz, none.zz, l.zz, l["zz"], s["zz"]
l[none:2], l[0:none:1], (1,2,3)[1:]
l[1:2:0]
l["a":]
s[1.0]
s[100], l[100] is defined
none[0] is defined, n[0] is defined
nil[0:1]
d[0:1]
n[0:1]
missing[0]
missing[0:1]
missing.a
missing.a.b
d.a, d["a"], d.c.x, d["c"]["x"], d.b.0, d.b[0], d.b.1
d.items, d["items"]
d.items()
d.items()|list, d.keys()|list, d.values()|list
d.items(), d.keys(), d.values()
d.get("a"), d.get("q"), d.get("q", 5), d.get("c").get("x")
d.get()
d["keys"] is defined, d["keys"] is callable, d.keys is callable
d.update({"z": 1})
d.pop("a")
d.pop is defined, d.update is defined, d.pop
l.append(4)
l.append is defined, l.index is defined
l.index(1), l.count(3), l.index(2, 1)
l.index(99)
l.copy(), d.copy()
(1,2,1).count(1), (1,2).index(2)
s.upper(), s.lower(), s.title(), s.capitalize(), s.swapcase(), s.casefold()
u.upper(), u.lower(), u.title(), u.capitalize(), u.swapcase(), u.casefold()
"ǆ ŉ ﬁ İ ΑΣ ΣΑ Σ".upper(), "ǆ ŉ ﬁ İ ΑΣ ΣΑ Σ".lower(), "ǆ ŉ ﬁ İ ΑΣ ΣΑ".title()
w.strip(), w.lstrip(), w.rstrip(), s.strip("Hd"), s.lstrip("He"), s.rstrip("dl"), s.strip("")
"\u3000x\u2003\x1f".strip() + "|"
s.strip(1)
s.split(), s.split("o"), s.split("o", 1), s.split(None, 1), w.split(), e.split(), e.split(",")
"a,b,,c".split(","), "a,b,,c".split(",", 2), "a,b,,c".rsplit(",", 1), " a  b ".rsplit(None, 1)
"a,b".split(sep=","), "a b c".split(maxsplit=1), "a  b".split(" ")
s.split("")
s.split(1)
text.splitlines(), text.splitlines(true), "a\u2028b\x0bc".splitlines(), "".splitlines(), "\n".splitlines()
s.partition("o"), s.rpartition("o"), s.partition("zz"), s.rpartition("zz")
s.startswith("He"), s.startswith(("a", "H")), s.endswith("ld"), s.endswith(()), s.startswith("l", 2), s.endswith("o", 0, 5)
s.startswith(missing)
s.startswith(1)
s.find("o"), s.rfind("o"), s.find("zz"), s.find("o", 5), s.find(""), s.rfind(""), u.find("好"), s.find("o", -3)
s.index("o"), s.rindex("o")
s.index("zz")
s.count("o"), s.count(""), s.count("l", 3), e.count("")
s.replace("o", "0"), s.replace("o", "0", 1), s.replace("", "-"), s.replace("", "-", 2), s.replace("l", "")
s.replace(1, 2)
s.removeprefix("Hello "), s.removesuffix("World"), s.removeprefix("x")
", ".join(words), "".join([]), "-".join("abc"), "-".join(d)
",".join(l)
",".join(missing)
s.center(20), s.center(21, "*"), s.ljust(15, "."), s.rjust(15), "42".zfill(5), "-42".zfill(5), "".zfill(2)
"a\tb".expandtabs(), "a\tb".expandtabs(4), "ab\n\tc".expandtabs(2)
s.isalpha(), "abc".isalpha(), "1".isdigit(), "²".isdigit(), "½".isnumeric(), "½".isdigit(), "".isalpha(), "a1".isalnum()
"abc".islower(), "ABC".isupper(), "Abc Def".istitle(), " \n".isspace(), "a_1".isidentifier(), "1a".isidentifier(), "é".isascii(), "".isascii(), "a\n".isprintable(), "123".isdecimal(), "1".islower()
"{} {}".format(1, "a"), "{0} {1} {0}".format(1, 2), "{a} {b}".format(a=1, b=none), "{{}}".format()
"{:>5}|{:<5}|{:^5}|{:*^7}|{:05d}|{:+d}|{:,}|{:x}|{:b}|{:.2f}|{:e}|{:%}".format("a", "b", "c", "d", 42, 5, 1234567, 255, 5, 3.14159, 12345.678, 0.5)
"{0.zz}|{0[a]}|{1[0]}".format(d, l)
"{!r} {!s}".format("a", "b")
"{}".format()
"{".format(1)
"{a}".format(1)
"{:d}".format("x")
"%s and %s" % ("a", 1), "%d" % 3.7, "%5d|%-5d|%05d|%+d" % (1, 2, 3, 4), "%.2f" % 3.14159, "%x %X %o" % (255, 255, 8), "%%", "%s" % none, "%r" % "a", "abc" % missing, "%5s|%-5s|%.2s" % ("a", "b", "cde")
"%(a)s" % {"a": 5}, "%s" % [1], "%s" % {"a": 1}, "%e %g %G" % (1.5, 1.5, 1e20)
"%s %s" % "a"
"%s" % ("a", "b")
"%d" % "x"
"%z" % 1
"a" % 1
f.is_integer(), (2.0).is_integer(), n.bit_length(), n.real, n.numerator, n.denominator, f.real
n.zz()
s()
missing()
d.nope()
none()
range(5)|list, range(1, 5)|list, range(5, 1, -2)|list, range(0)|list, range(3), range(1, 10, 3), range(3)[1], range(10)[2:5], range(5)|length, 3 in range(5)
range(100001)
range(100000)|length
range(1, 2, 0)
range("a")
range()
range(1.5)
dict(a=1, b=2), dict([("a", 1)]), dict({"a": 1}, b=2), dict()
dict(1)
namespace(a=1).a, namespace(a=1).b is defined, namespace({"x": 2}).x, namespace(a=1)["a"]
namespace(_a=1)
cycler(1, 2).next(), joiner() is callable
raise_exception("boom ü")
raise_exception(5)
raise_exception()
strftime_now("%Y-%m-%d %H:%M:%S %d %b %B %A %j %y %p %f|%z|%Z|%%|%e")
strftime_now(1)
n|abs, m|abs, f|abs, -2.5|abs, (-2.5)|abs
s|abs
l|first, l|last, s|first, s|last, empty|first, empty|last, d|first
n|first
missing|first, missing|length, missing|list, missing|join, missing|upper, missing|trim
missing|last
missing|int
missing|abs
missing|tojson
missing|items|list, d|items|list
n|items|list
n|items is defined
l|length, s|length, d|length, d.items()|length, (1, 2)|count
n|length
none|length
(l|map("string"))|length
l|sort, l|sort(reverse=true), words|sort, words|sort(case_sensitive=true), words|sort(true), people|sort(attribute="name")|map(attribute="name")|list, people|sort(attribute="age,name")|map(attribute="name")|list, d|sort, s|sort
mixed|sort
d|dictsort, {"b": 1, "A": 2}|dictsort, {"b": 1, "A": 2}|dictsort(true), {"b": 1, "A": 2}|dictsort(by="value"), {"b": 1, "a": 2}|dictsort(reverse=true)
d|dictsort(by="zz")
l|min, l|max, words|min, words|max, empty|max, people|max(attribute="age")
mixed|max
l|sum, empty|sum, people|sum(attribute="age"), l|sum(start=10), nested|sum(start=[])
words|sum
words|unique|list, words|unique(true)|list, [1, 1.0, true, 2]|unique|list, people|unique(attribute="age")|map(attribute="name")|list
l|reverse|list, s|reverse, l|reverse|first, u|reverse
l|reverse|length
l|join, l|join(", "), words|join("-"), people|join("|", attribute="name"), s|join("."), mixed|join(","), d|join(",")
n|join
l|list, s|list, d|list, (1, 2)|list
n|list
l|map("string")|list, words|map("upper")|list, people|map(attribute="name")|join(","), people|map(attribute="tags.0")|list, people|map(attribute="zz", default="Q")|list, words|map("replace", "b", "X")|list
l|map("nope")|list
l|map|list
l|select|list, [0, 1, none, "a"]|select|list, l|select("odd")|list, l|select(">", 1)|list, l|reject("odd")|list, l|select("in", [1, 2])|list, [0, 1]|reject|list
l|select("nope")|list
people|selectattr("tags")|map(attribute="name")|list, people|selectattr("age", "equalto", 30)|map(attribute="name")|list, people|rejectattr("tags")|map(attribute="name")|list, people|selectattr("age", "lt", 30)|list|length, people|rejectattr("tags", "defined")|list|length
people|selectattr("zz.a")|list
people|selectattr("zz", "undefined")|list|length
l|select("string") is defined
"x" if l|select("string") else "y"
"x" if l|select("string")|list else "y"
[1,2,3,4,5]|batch(2)|list, [1,2,3,4,5]|batch(2, "-")|list, [1,2,3,4,5]|slice(2)|list, [1,2,3,4,5]|slice(3, "-")|list
people|groupby("age")|map("first")|list, people|groupby("age")|map("last")|map("length")|list
s|upper, s|lower, s|title, "a-b c(d [e {f <g".title(), "a-b c(d [e {f <g hELLO"|title, s|capitalize, u|title, u|capitalize, n|upper, none|lower, "İx ß"|title
w|trim, s|trim("Hd"), n|trim, "..a."|trim(".")
s|replace("o", "0"), s|replace("l", "L", 1), n|replace(7, 8), s|replace("", "-")
s|center(21), s|center(3)
text|indent, text|indent(2), text|indent(2, true), text|indent(2, true, true), text|indent("> "), text|indent(width=1, blank=true), ""|indent, "a\n"|indent, "\n"|indent(2, blank=true)
n|indent
s|wordcount, "a-b c_d, e"|wordcount, ""|wordcount
"foo bar baz qux"|truncate(9), "foo bar baz qux"|truncate(9, true), "foo bar baz qux"|truncate(11), "foo bar baz qux"|truncate(9, false, "..", 0), s|truncate
html|escape, html|e, html|forceescape, html|escape|escape, html|safe, "a"|safe|escape, n|escape
"<" + "<"|safe, "<"|safe + "<", ("<"|safe).upper() + "<", ("<"|safe) ~ "<", "<"|safe is escaped, "<" is escaped, ["<"|safe]
"a b/ü&c"|urlencode, n|urlencode
n|string + "x", 1.0|string, none|string, l|string, true|string, d.c|string
"42"|int, " 42 "|int, "4x"|int, "4.7"|int, 4.7|int, "0x1F"|int(0, 16), "1f"|int(base=16), "z"|int(-1), none|int, none|int(5), true|int, "1_000"|int, ""|int, "-7"|int, "+7"|int, l|int, "1e3"|int, "0b11"|int(base=2)
"1.5"|float, "x"|float, "x"|float(2.5), 3|float, none|float, "1e5"|float, "nan"|float, "inf"|float, " 1.5 "|float, "1_0.5"|float, "0x10"|float
42.55|round, 42.55|round(1), 42.55|round(1, "floor"), 42.55|round(1, "ceil"), 42|round, 2.5|round, 3.5|round, 2.675|round(2), 1234.5|round(-2), 7|round(1, "floor"), true|round
s|round
42|round(1, "x")
1000|filesizeformat, 1|filesizeformat, 1500000|filesizeformat, 1024|filesizeformat(true), 123|filesizeformat, 999999|filesizeformat
"%s - %s"|format("a", "b"), "%(x)s"|format(x=1), "%d%%"|format(5)
missing|default("x"), missing|d, none|default("x"), none|default("x", true), ""|d("x", true), 0|default("x", boolean=true), n|default("x"), d.zz|default("q")
d|tojson, l|tojson, s|tojson, u|tojson, html|tojson, text|tojson, none|tojson, true|tojson, f|tojson, n|tojson, big|tojson, "\x00\x1f\x7f\"\\/"|tojson, (1, 2)|tojson, {1: 2, none: 3, true: 4, 1.5: 5}|tojson
d|tojson(indent=2), d|tojson(indent=0), d|tojson(indent="\t"), [[], {}]|tojson(indent=1), d|tojson(separators=(",", ":")), d|tojson(indent=2, separators=(", ", "=")), u|tojson(ensure_ascii=true), u|tojson(true), {"b": 1, "a": {"d": 1, "c": 2}}|tojson(sort_keys=true), d|tojson(indent=none)
1e400|float|tojson, "nan"|float|tojson, 1e20|tojson, 0.1|tojson, 1e-7|tojson
range(3)|tojson
d.items()|tojson
{(1, 2): 3}|tojson
namespace()|tojson
{"b": 1, 2: 3}|tojson(sort_keys=true)
n is number, f is number, t is number, s is number, n is integer, t is integer, f is float, n is float, s is string, none is string
d is mapping, l is mapping, l is sequence, s is sequence, d is sequence, n is sequence, missing is sequence, missing is iterable, s is iterable, n is iterable, none is iterable, d.items() is sequence, d.items() is iterable, range(2) is sequence, (l|map("string")) is iterable, (l|map("string")) is sequence
t is true, t is false, no is false, n is true, 1 is true, t is boolean, n is boolean, none is none, n is none, missing is none
missing is defined, n is defined, missing is undefined, none is defined, d.zz is defined, d.a is defined, not missing is defined, missing is not defined
n is odd, n is even, 6 is divisibleby 3, 6 is divisibleby(4), n is not even, f is odd
s is odd
s is lower, "abc" is lower, "ABC" is upper, "" is upper, 5 is lower
n is eq 7, n is eq(7), n is ne 7, n is lt 8, n is le 7, n is gt 7, n is ge 7, n is equalto 7, n is greaterthan 1, n is lessthan 1, n is in l, 3 is in [3]
none is sameas none, n is sameas 7, l is sameas l, l is sameas [3, 1, 2], 1 is sameas true
"upper" is filter, "nope" is filter, "odd" is test, "nope" is test
range is callable, n is callable, missing is callable, s.upper is callable
n is defined and n is number, n is string or n is number
n is defined if t else 5
d is nope
s|nope
s|nope if no else "ok"
s|nope if t else "ok"
n|string|length, s|lower|replace("l", "L")|upper
-1|abs, (-1)|abs, 2 + 3|abs, s ~ n|string
"a" "b"|upper
n.real.imag, "abc".upper().lower()[0]
[1, 2, 3][1], {"a": 1}.a, (1, 2)[0], "abc"[1]
{"a": {"b": [1, {"c": 2}]}}.a.b[1].c
big, big|string, [big], big == big, big is number, big is integer
true, True, false, False, none, None
[missing], {"a": missing}, (missing,)
namespace(a=1, b="x"), loop is defined
[1.0, 1e100, -0.0, 1e22, 123456.789e3, 5e-324]
s|length > 5 and s[0] == "H"
"é" < "z", "𝒳" > "你"
s[n:], s[m:], s[:n]
l|map("float")|list, l|map("tojson")|list
people|map("length")|list, people|map(attribute="age")|sum, people|selectattr("age", "gt", 26)|map(attribute="name")|join(" & ")
dict(people|map(attribute="name")|list|map("list")|map("first")|map("lower")|list|batch(2)|list|first|list|batch(2)|list)
s.__class__ is defined, d.__class__, s["__class__"] is defined
s.format_map is defined, s.encode is defined
cycler is defined, lipsum is defined, nope is defined
*l
l|first(1)
s.upper(1)
s.upper(a=1)
dict(a=1, **{"b": 2}), dict(**{"a": 1}), range(*[1, 4])|list
dict(a=1, **{"a": 2})
dict(**5)
range(*5)
1 if 2
(1 if 0)|default("q")
[1 if 0]
n in [1, 7], n not in [1, 7], not n in [7]
1 + 1 in [2]
1 .real
1.real
1..real
a.0.1 is defined
nested.0.1.0, nested[0][1][1]
1 is 1
n == 7 == true
"a" in "abc" in ["abc"]
""".strip("\n").split("\n")

STATEMENTS = [
    "", "x", "\n", "a\n", "a\n\n", "\r\na\r\nb\r", "{{ 1 }}\n", "{{ 1 }}\n\n",
    "a {{ 1 }} b", "{{1}}{{2}}", "{{- 1 -}}", " a {{- 1 }} b", "a {{ 1 -}} b ",
    "  {% if true %}\n  x\n  {% endif %}\n y", "  {%- if true -%}\n  x\n  {%- endif -%}\n y",
    "  {%+ if true +%}\n  x\n  {%+ endif +%}\n y", "a\n  {% if true %}b{% endif %}  \nc",
    "a  {% if true %}b{% endif %}\n\nc", "{# c #}", " {# c #}\nx", "a {#- c -#} b", "{# a\nb #}\n\nx",
    "a\n   {# c #}   \nb", "{##}x", "{#-#} x", "{# {{ 1 }} {% if %} #}", "{{ '{#' }}", "{{ '}}' }}",
    "{{ '%}' }}{% if '%}' %}y{% endif %}", "{{ {'a': {'b': 1}}.a.b }}", "{{ {'a': {'b': 1}}}}",
    "{% raw %}{{ x }}{% endraw %}", "{% raw %}\n{% if %}\n{% endraw %}\nx", "a {%- raw -%} b {%- endraw -%} c",
    "  {% raw %}  x  {% endraw %}  ", "{% raw %}{% raw %}{% endraw %}", "\n  {% raw %}\n  y\n  {% endraw %}\n  z",
    "{{ x", "{% if", "{% if x", "{% if x %}", "{{ }}", "{% %}", "{# x", "{% raw %}x", "}}", "%}", "#}", "{{ ) }}",
    "{{ (1 }}", "{{ [1) }}", "{{ 'a }}", "{{ a b }}", "{% foo %}", "{% endif %}", "{% else %}",
    "{% if 1 %}{% endfor %}", "{{ 1 | }}", "{{ a. }}", "{{ a.b.(c) }}", "{{ $ }}", "{{ a ? b }}", "{{ a ! }}",
    "{{ a is }}", "{{ a is b is c }}", "{{ f(a=1, 2) }}", "{{ f(**a, *b) }}", "{{ f(1 2) }}", "{{ {1 2} }}", "{{ [1 2] }}",
    "{% if n == 7 %}a{% elif n == 8 %}b{% else %}c{% endif %}", "{% if n == 1 %}a{% elif n == 7 %}b{% else %}c{% endif %}",
    "{% if no %}a{% elif no %}b{% else %}c{% endif %}", "{% if missing %}a{% else %}b{% endif %}",
    "{% if no %}a{% elif no %}b{% endif %}", "{% if t %}{% if no %}x{% else %}y{% endif %}{% endif %}",
    "{% if a if b else c %}{% endif %}", "{% if not missing is defined %}x{% endif %}", "{% if 1, 2 %}x{% endif %}",
    "{% for x in l %}{{ x }},{% endfor %}", "{% for x in empty %}{{ x }}{% else %}none{% endfor %}",
    "{% for x in missing %}a{% else %}b{% endfor %}", "{% for x in none %}a{% endfor %}", "{% for x in 5 %}a{% endfor %}",
    "{% for k in d %}{{ k }}{% endfor %}", "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for k, v in d|dictsort %}{{ k }}={{ v }};{% endfor %}", "{% for (a, b) in [(1, 2), (3, 4)] %}{{ a }}{{ b }}{% endfor %}",
    "{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}", "{% for a, b in [1] %}{% endfor %}",
    "{% for a, b in [(1, 2, 3)] %}{% endfor %}", "{% for a, b in [(1,)] %}{% endfor %}", "{% for a, b in ['xy'] %}{{ b }}{{ a }}{% endfor %}",
    "{% for c in s %}{{ c }}.{% endfor %}", "{% for c in u %}{{ c }}.{% endfor %}",
    "{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }} {% endfor %}",
    "{% for x in l %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {% endfor %}",
    "{% for x in l %}{{ loop.previtem.a }}{% endfor %}", "{% for x in l %}{{ loop.nope }}{{ loop['index'] }}{% endfor %}",
    "{% for x in l %}{{ loop.cycle('a', 'b') }}{% endfor %}", "{% for x in [1, 1, 2] %}{{ loop.changed(x) }}{% endfor %}",
    "{% for x in l if x > 1 %}{{ loop.index }}/{{ loop.length }}:{{ x }} {% else %}none{% endfor %}",
    "{% for x in l if x > 9 %}{{ x }}{% else %}none{% endfor %}", "{% for x in l if loop.index %}{% endfor %}",
    "{% for x in l %}{% for y in l if y > x %}{{ x }}{{ y }} {{ loop.index }} {% endfor %}{{ loop.index }}{% endfor %}",
    "{% for x in l %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}", "{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in l %}{% break %}{% else %}none{% endfor %}", "{% for x in l %}{% continue %}{% else %}none{% endfor %}",
    "{% for x in l %}{{ x }}{% if x == 1 %}{% break %}{% endif %}{% else %}none{% endfor %}",
    "{% for x in l %}{% for y in l %}{% if y == 1 %}{% break %}{% endif %}{{ y }}{% endfor %}|{% endfor %}",
    "{% break %}", "{% continue %}", "{% for x in l %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}",
    "{% for x in l %}{% set y %}{% break %}{% endset %}{{ y }}{% endfor %}done", "{% for x in l %}{% else %}{% break %}{% endfor %}",
    "{% for x in l %}{% with %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endwith %}{% endfor %}",
    "{% for x in range(3) %}{{ x }}{% endfor %}", "{% for x in l|reverse %}{{ x }}{{ loop.length }}{% endfor %}",
    "{% for x in l|map('string') %}{{ x }}{{ loop.last }}{% endfor %}", "{% for loop in l %}{% endfor %}", "{% for x, loop in l %}{% endfor %}",
    "{% for x in l[::-1] %}{{ x }}{% endfor %}", "{% for x in l, 5 %}{{ x }};{% endfor %}", "{% for x in (l if t else empty) %}{{ x }}{% endfor %}",
    "{% for x in l if t else empty %}{{ x }}{% endfor %}", "{% for x.y in l %}{% endfor %}", "{% for 1 in l %}{% endfor %}", "{% for none in l %}{% endfor %}",
    "{% for x in nested recursive %}{% if x is iterable %}[{{ loop(x) }}]{% else %}{{ x }}@{{ loop.depth }}{% endif %}{% endfor %}",
    "{% for x in l %}{{ loop(l) }}{% endfor %}", "{{ x }}{% for x in l %}{% endfor %}{{ x }}",
    "{% set x = 1 %}{% for x in l %}{{ x }}{% endfor %}{{ x }}", "{% set x = 1 %}{% for y in l %}{{ x }}{% set x = x + 1 %}{{ x }} {% endfor %}{{ x }}",
    "{% set ns = namespace(x=0) %}{% for y in l %}{% set ns.x = ns.x + y %}{% endfor %}{{ ns.x }}", "{% set ns = namespace() %}{% set ns.a = 1 %}{{ ns.a }}{{ ns.b }}{{ ns }}",
    "{% set d.x = 1 %}", "{% set zz.x = 1 %}", "{% set ns = namespace() %}{% set ns._x = 1 %}", "{% set ns = namespace(a=1) %}{% set ns.a, b = 2, 3 %}{{ ns.a }}{{ b }}",
    "{% set x = 1, 2 %}{{ x }}", "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set a, b = l %}", "{% set (a, b) = (1, 2) %}{{ b }}", "{% set x = 'a' if t else 'b' %}{{ x }}",
    "{% set x %}a{{ n }}b{% endset %}{{ x }}{{ x|length }}", "{% set x | upper %}a{{ s }}{% endset %}{{ x }}", "{% set x | upper | replace('A', 'z') %}abc{% endset %}{{ x }}",
    "{% set x %}<b>{% endset %}{{ x + '<' }}{{ x is escaped }}", "{% set none = 1 %}", "{% set 1 = 1 %}", "{% set x.y.z = 1 %}", "{% set x = %}", "{% set x = 1 %}{% set x = x + 1 %}{{ x }}",
    "{% if t %}{% set x = 1 %}{% endif %}{{ x }}", "{% if no %}{% set x = 1 %}{% endif %}{{ x }}", "{% if no %}{% set n = 1 %}{% endif %}{{ n }}", "{% set n = n + 1 %}{{ n }}",
    "{% for y in l %}{% if no %}{% set n = 1 %}{% endif %}{{ n }}{% endfor %}", "{% for y in l %}{% set n = n + y %}{{ n }} {% endfor %}{{ n }}",
    "{% macro m(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(b=1, a=2) }}{{ m(a=1) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m() }}{{ m(1, 2) }}",
    "{% macro m(a) %}[{{ a }}{{ a is defined }}]{% endmacro %}{{ m() }}", "{% macro m(a) %}{{ a.x }}{% endmacro %}{{ m() }}", "{% macro m(a) %}{% endmacro %}{{ m(b=1) }}",
    "{% macro m(a) %}{% endmacro %}{{ m(1, a=1) }}", "{% macro m(a, b=a) %}{{ b }}{% endmacro %}{{ m(4) }}", "{% macro m(a=n) %}{{ a }}{% endmacro %}{{ m() }}", "{% macro m(a=1, b) %}{% endmacro %}",
    "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}", "{% macro m(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}{{ m() }}",
    "{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}x{{ n }}{% endcall %}", "{% macro m() %}{{ caller(1, 2) }}{% endmacro %}{% call(a, b) m() %}{{ a }}-{{ b }}{% endcall %}",
    "{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}", "{% macro m() %}{{ caller is defined }}{% endmacro %}{{ m() }}", "{% macro m() %}x{% endmacro %}{% call m() %}y{% endcall %}", "{% call n() %}{% endcall %}",
    "{% macro m(a) %}{% for x in a %}{{ caller(x) }}{% endfor %}{% endmacro %}{% call(v) m(l) %}<{{ v }}>{% endcall %}", "{% macro m(caller=5) %}{{ caller }}{% endmacro %}{{ m() }}",
    "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}", "{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}",
    "{% macro m() %}{{ y }}{% endmacro %}{% set y = 1 %}{{ m() }}{% set y = 2 %}{{ m() }}", "{% set y = 1 %}{% macro m() %}{% set y = 2 %}{{ y }}{% endmacro %}{{ m() }}{{ y }}",
    "{{ m() }}{% macro m() %}x{% endmacro %}", "{% if t %}{% macro m() %}x{% endmacro %}{% endif %}{{ m() }}", "{% for x in l %}{% macro m() %}{{ x }}{% endmacro %}{{ m() }}{% endfor %}{{ m is defined }}",
    "{% macro m() %}{{ x }}{% endmacro %}{% for x in l %}{{ m() }}{% endfor %}", "{% macro m() %} a {% endmacro %}[{{ m()|trim }}]{{ m()|length }}{{ m().strip() }}", "{% macro m() %}1{% endmacro %}{{ m() + 1 }}",
    "{% macro m() %}1{% endmacro %}{{ m() + '2' }}{{ m.name }}{{ m is callable }}", "{% macro m(x) %}{{ x|upper }}{% endmacro %}{{ ['a', 'b']|map('upper')|join }}{{ m('q') }}",
    "{% macro a() %}A{{ b() }}{% endmacro %}{% macro b() %}B{% endmacro %}{{ a() }}", "{% macro m(x) %}{% if x %}yes{% else %}no{% endif %}{% endmacro %}{{ m(true) }}{{ m(false) }}", "{{ m }}{% macro m() %}{% endmacro %}",
    "{% with a=1, b=2 %}{{ a }}{{ b }}{% endwith %}{{ a }}", "{% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q }}", "{% set a = 5 %}{% with a=1, b=a %}{{ b }}{% endwith %}{{ a }}",
    "{% filter upper %}a{{ s }}{% endfilter %}", "{% filter replace('a', 'b')|upper %}aaa{% endfilter %}", "{% filter nope %}{% endfilter %}", "{% filter upper %}{% set q = 1 %}{% endfilter %}{{ q }}",
    "{% generation %}a{{ n }}{% endgeneration %}", "{%- generation -%} a {%- endgeneration -%} b", "{% generation %}{% set n = 1 %}{{ n }}{% endgeneration %}{{ n }}",
    "{% for x in l %}{% generation %}{{ x }}{{ loop.index }}{% endgeneration %}{% endfor %}", "{% for x in l %}{% generation %}{% break %}{% endgeneration %}{% endfor %}",
    "{% print 1, 2 %}", "{% print s %}", "{% do x %}", "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.reset() }}{{ c.current }}",
    "{% set j = joiner(', ') %}{% for x in l %}{{ j() }}{{ x }}{% endfor %}", "{% set j = joiner() %}{{ j() }}a{{ j() }}b",
    "{% if no %}{{ s|nope }}{% endif %}ok", "{% if t %}{{ s|nope }}{% endif %}ok", "{% if no %}{% for x in l %}{{ x|nope }}{% endfor %}{% endif %}ok", "{% if no %}{{ s is nope }}{% endif %}ok",
    "{% for x in l %}{{ x|nope }}{% endfor %}", "{{ 'ok' if t else s|nope }}", "{% if s|nope %}{% endif %}", "{% macro m() %}{{ x|nope }}{% endmacro %}ok",
    "{% set g = l|map('string') %}{{ g|list }}{{ g|list }}", "{% set g = l|select('odd') %}{% for x in g %}{{ x }}{% endfor %}{% for x in g %}{{ x }}{% endfor %}{{ 'y' if g else 'n' }}",
    "{% set g = l|map('nope') %}ok", "{% set g = [1, 'a']|map('abs') %}{{ g|first }}", "{% set g = [1, 'a']|map('abs') %}{{ g|list }}", "{% set g = l|map('string') %}{{ '1' in g }}{{ g|list }}",
    "{{ messages[0]['content'] }}{{ messages|length }}{{ tools is none }}{{ add_generation_prompt }}{{ bos_token }}{{ documents }}", "{{ messages[0].role }}{{ messages[-1]['role'] }}{{ messages[0].nope }}",
    "{% for m in messages %}{{ '<|' + m.role + '|>' + m['content'] + '\n' }}{% endfor %}", "{{ 'a' + s + 'b' + 1 }}", "{{ 'a' + s + 1|string + u + nil|string }}", "{{ 1 + n + 2 }}", "{{ l + [1] + [2] }}", "{{ 'a' + ('<'|safe) + '<' + 'b' }}",
    "{{ ns.x }}{% set ns = namespace(x=1) %}{{ ns.x }}", "{% set x = namespace(a=[]) %}{% for i in l %}{% set x.a = x.a + [i] %}{% endfor %}{{ x.a }}", "{% set x = {} %}{% set _ = x.update({'a': 1}) %}", "{% set x = [] %}{% set _ = x.append(1) %}",
    "{% set x = 'x' * 100000 %}{{ x|length }}", "{% set ns = namespace(s='ab') %}{% for i in range(10) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s|length }}",
    "{{ missing }}{{ missing.x }}", "{{ none.x }}", "{{ none.x.y }}", "{{ d.a.b }}", "{{ d.a.b.c }}", "{{ l.0 }}{{ l.9 }}", "{{ s.0 }}",
    "{%if t%}a{%endif%}", "{%-if t-%}a{%-endif-%}", "{% if t %}\n\na\n\n{% endif %}\n\nb", "{{ s }}\n{% if t %}\nx\n{% endif %}", "\t{% if t %}\n\t\tx\n\t{% endif %}\ny", "a{{ 1 -}}\n  {% if t %}b{% endif %}", "{% set x = 1 -%}\n  b", "{% set x = 1 -%}  \n  {{ x }}", "x\n  {{ 1 }}\n  {%- if t %} y{% endif %}",
    "{{ '\n' }}x", "{{ \"a\r\nb\" }}", "a\u2028  {% if t %}b{% endif %}", "a\u00a0{%- if t %}b{% endif %}", "\u00a0{% if t %}b{% endif %}", "{{\u00a0n\u3000}}", "{{ über }}{% set über = 1 %}{{ über }}", "{{ 1é }}", "{{ n\n+\n1 }}", "{% if t\n%}x{% endif %}",
    "{% for m in messages %}{% if loop.first and m.role != 'system' %}<S>{% endif %}{{ m.content|trim }}{% if not loop.last %},{% endif %}{% endfor %}",
    "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% else %}{% set loop_messages = messages %}{% endif %}{{ loop_messages|length }}",
    "{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles!') }}{% endif %}{% endfor %}ok", "{{ raise_exception('a' ~ n) }}", "{% if t %}{{ raise_exception('x' * 400) }}{% endif %}",
    "{% macro r(x) %}{% if x is mapping %}{% for k, v in x|items %}{{ k }}:{{ r(v) }};{% endfor %}{% elif x is iterable and x is not string %}{% for v in x %}{{ r(v) }},{% endfor %}{% else %}{{ x }}{% endif %}{% endmacro %}{{ r(d) }}{{ r(nested) }}",
    "{% set ns = namespace(a=true) %}{% for x in l if ns.a %}{{ x }}{% set ns.a = false %}{% endfor %}", "{% for x in l %}{% set l = [9] %}{{ x }}{% endfor %}{{ l }}",
    "{{ 'x' if missing is defined and missing.y else 'z' }}", "{{ (missing or {}).get('a', 'b') }}", "{{ missing|default({})|length }}", "{{ (people|first).name }}{{ people[0].tags[0] }}{{ people[1].tags is defined }}",
]

SNIPPETS = ["{{ " + text + " }}" for text in EXPRESSIONS] + [
    # Each part of a list by itself as well, so that one error hides no other.
    "{{ (" + part + ") }}" for text in EXPRESSIONS if ", " in text
    for part in text.split(", ")] + STATEMENTS

# -------------------------------------------------------------- random

NAMES = ["n", "m", "f", "t", "no", "nil", "s", "u", "e", "w", "l", "words", "empty",
         "mixed", "d", "ed", "people", "nested", "text", "missing"]
LITERALS = ["0", "1", "-1", "2", "3.5", "0.0", "'a'", "''", "'o'", "'b, A'", "none",
            "true", "false", "[]", "[1, 2]", "(1,)", "()", "{}", "{'a': 1}", "'%s'", "1e3"]
FILTERS = ["length", "first", "last", "list", "string", "upper", "lower", "title",
           "capitalize", "trim", "int", "float", "abs", "round", "tojson", "sort",
           "reverse", "join", "join(',')", "sum", "min", "max", "unique", "items",
           "default('q')", "default('q', true)", "select", "reject", "map('string')",
           "map('length')", "select('defined')", "select('string')", "selectattr('name')",
           "map(attribute='name')", "dictsort", "replace('o', 'X')", "indent(2)",
           "batch(2)", "slice(2)", "wordcount", "escape", "safe", "count", "center(9)",
           "tojson(indent=1)", "sort(reverse=true)", "groupby('age')", "attr('upper')"]
TESTS = ["defined", "undefined", "none", "string", "number", "mapping", "iterable",
         "sequence", "true", "false", "boolean", "integer", "float", "odd", "even",
         "lower", "upper", "callable", "in [1, 'a']", "eq 1", "gt 1", "divisibleby 2",
         "sameas none", "escaped"]
METHODS = ["upper()", "lower()", "strip()", "split()", "split('o')", "title()",
           "replace('o', 'x')", "startswith('H')", "endswith('d')", "find('o')",
           "count('o')", "join(['a', 'b'])", "items()", "keys()", "values()",
           "get('a')", "get('q', 1)", "index(1)", "index('o')", "splitlines()",
           "rstrip()", "lstrip('H')", "format(1, 2)", "partition('o')", "rsplit('o', 1)",
           "isdigit()", "zfill(4)", "name", "a", "c.x", "0", "copy()", "real", "append(1)"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", "<=", ">", ">=",
             "in", "not in", "and", "or", "+", "~", "=="]


def random_expression(rng, depth):
    """Text of an expression; most fail in Python too, which is a result."""
    def inner():
        return random_expression(rng, depth + 1)

    kind = rng.randrange(12) if depth < 4 else rng.randrange(3)
    if kind <= 1:
        return rng.choice(NAMES)
    if kind == 2:
        return rng.choice(LITERALS)
    if kind == 3:
        return f"({inner()} {rng.choice(OPERATORS)} {inner()})"
    if kind <= 5:
        return f"{inner()}|{rng.choice(FILTERS)}"
    if kind == 6:
        return f"({inner()} is {rng.choice(['', '', 'not '])}{rng.choice(TESTS)})"
    if kind <= 8:
        return f"({inner()}).{rng.choice(METHODS)}"
    if kind == 9:
        index = rng.choice(["0", "-1", "1:", ":2", "::-1", "'a'", "'name'", "5", "::2",
                            "-2:", "1:-1", inner()])
        return f"({inner()})[{index}]"
    if kind == 10:
        return f"({inner()} if {inner()} else {inner()})"
    return rng.choice(["[{}, {}]", "({}, {})", "{{'k': {}, 'a': {}}}", "not {} == {}",
                       "-{} + {}"]).format(inner(), inner())
