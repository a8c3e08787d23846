"""Cases of components_oracle.py that hang on tokens and not on text: added
tokens with all flags and ways to overlap, and parts of a file that say what is
done with ids, not which they are.
"""
import itertools

FLAGS = ("single_word", "lstrip", "rstrip", "normalized")

# Two tokens each, by how they meet in a text; all of them are in one file.
OVERLAPS = {
    "one begins like the other": ("<a", "<a>"),
    "one inside the other": ("bcd", "c"),
    "the end of one is how the other begins": ("{x", "x}"),
    "so they overlap once they are lower case": ("QrS", "S\u00c9"),
    "white space of one is all of the other": ("y \n", " "),
    "both end with what strips and stands alone": ("_", "n_"),
    "one is what the model calls a byte": ("<0x41>", "0x"),
}
PIECES = [" ", "  ", "\n", "\u3000", "a", "\u00e9", "e\u0301", "_", "1", "-",
          "A", "\u4e00", ">", "<", "}", "b", "rs", "rs\u00e9"]
SAMPLE = 24  # pairs of flags that a brief comparison tries


def with_flags(number, content, flags):
    return {"id": 256 + number, "content": content, "special": number % 3 == 0,
            **dict(zip(FLAGS, flags))}


def pairs(rng, effort):
    """By flags of the first and second of each two: the added tokens."""
    kinds = list(itertools.product((False, True), repeat=len(FLAGS)))
    chosen = list(itertools.product(kinds, kinds))
    if effort.quick or effort.brief:
        chosen = rng.sample(chosen, SAMPLE)
    for flags in chosen:
        tokens = [with_flags(number, content, flags[number % 2])
                  for number, content in enumerate(
                      itertools.chain(*OVERLAPS.values()))]
        yield " and ".join(map(named, flags)), tokens


def named(flags):
    return "+".join(itertools.compress(FLAGS, flags)) or "plain"


def texts(rng, effort):
    """Strings of tokens, what is left of them, and what they look at."""
    contents = list(itertools.chain(*OVERLAPS.values()))
    contents += [token["content"] for token in SPECIAL]
    pool = contents * 2 + PIECES + [one.upper() for one in contents]
    pool += [one[:-1] for one in contents] + [one[1:] for one in contents]
    pool = [one for one in pool if one]
    for _ in range(200 if effort.quick or effort.brief else 1000):
        few = rng.sample(pool, rng.choice((2, 4, 12, 40)))
        yield "".join(rng.choices(few, k=rng.choice((1, 2, 3, 5, 9, 20))))


SPECIAL = [{"id": 256 + number, "content": content, "single_word": False,
            "lstrip": False, "rstrip": False, "normalized": False,
            "special": True}
           for number, content in enumerate(("<s>", "</s>", "<pad>"))]


def template(*parts):
    return {"type": "TemplateProcessing", "single": list(parts), "pair": [],
            "special_tokens": {
                token["content"]: {"id": token["content"], "ids": [token["id"]],
                                   "tokens": [token["content"]]}
                for token in SPECIAL}}


def special(name):
    return {"SpecialToken": {"id": name, "type_id": 0}}


ENDS = {"sep": ["</s>", 257], "cls": ["<s>", 256]}
LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True,
         "use_regex": True}
TEMPLATE = template(special("<s>"), {"Sequence": {"id": "A", "type_id": 0}},
                    special("</s>"))
PADDING = {"direction": "Left", "pad_to_multiple_of": 8, "pad_id": 258,
           "pad_type_id": 0, "pad_token": "<pad>"}
IGNORED = {
    "truncation": {"truncation": {"direction": "Right", "max_length": 3,
                                  "strategy": "LongestFirst", "stride": 1}},
    "padding to a length": {"padding": {**PADDING, "strategy": {"Fixed": 9}}},
    "padding to the longest": {
        "padding": {**PADDING, "strategy": "BatchLongest"}},
    "ByteLevel behind the model": {"post_processor": LEVEL},
    "BertProcessing": {"post_processor": {"type": "BertProcessing", **ENDS}},
    "RobertaProcessing": {"post_processor": {
        "type": "RobertaProcessing", "trim_offsets": True,
        "add_prefix_space": True, **ENDS}},
    "TemplateProcessing": {"post_processor": TEMPLATE},
    "several behind the model": {"post_processor": {
        "type": "Sequence", "processors": [LEVEL, TEMPLATE]}},
}
