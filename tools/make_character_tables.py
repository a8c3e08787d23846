#!/usr/bin/env python3
"""Writes character_tables.c: what Hugging Face `tokenizers` thinks of each
character, measured on the wheel that is installed (0.23.3).

Its parts were built with Unicode tables of different ages (lower case 17.0,
punctuation 8.0, patterns 16.0, ...), so nothing but asking gives them all.

    make_character_tables.py > character_tables.c
"""
import base64
import struct

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

LAST = 0x10FFFF
CODES = [c for c in range(LAST + 1) if not 0xD800 <= c < 0xE000]
TEXT = "".join(map(chr, CODES))

# The names of Unicode's scripts that patterns know, with the short ones.
SCRIPTS = """
Adlam Adlm, Ahom Ahom, Anatolian_Hieroglyphs Hluw, Arabic Arab, Armenian Armn,
Avestan Avst, Balinese Bali, Bamum Bamu, Bassa_Vah Bass, Batak Batk,
Bengali Beng, Bhaiksuki Bhks, Bopomofo Bopo, Brahmi Brah, Braille Brai,
Buginese Bugi, Buhid Buhd, Canadian_Aboriginal Cans, Carian Cari,
Caucasian_Albanian Aghb, Chakma Cakm, Cham Cham, Cherokee Cher,
Chorasmian Chrs, Common Zyyy, Coptic Copt, Cuneiform Xsux, Cypriot Cprt,
Cypro_Minoan Cpmn, Cyrillic Cyrl, Deseret Dsrt, Devanagari Deva,
Dives_Akuru Diak, Dogra Dogr, Duployan Dupl, Egyptian_Hieroglyphs Egyp,
Elbasan Elba, Elymaic Elym, Ethiopic Ethi, Garay Gara, Georgian Geor,
Glagolitic Glag, Gothic Goth, Grantha Gran, Greek Grek, Gujarati Gujr,
Gunjala_Gondi Gong, Gurmukhi Guru, Gurung_Khema Gukh, Han Hani, Hangul Hang,
Hanifi_Rohingya Rohg, Hanunoo Hano, Hatran Hatr, Hebrew Hebr, Hiragana Hira,
Imperial_Aramaic Armi, Inherited Zinh, Inscriptional_Pahlavi Phli,
Inscriptional_Parthian Prti, Javanese Java, Kaithi Kthi, Kannada Knda,
Katakana Kana, Kawi Kawi, Kayah_Li Kali, Kharoshthi Khar,
Khitan_Small_Script Kits, Khmer Khmr, Khojki Khoj, Khudawadi Sind,
Kirat_Rai Krai, Lao Laoo, Latin Latn, Lepcha Lepc, Limbu Limb, Linear_A Lina,
Linear_B Linb, Lisu Lisu, Lycian Lyci, Lydian Lydi, Mahajani Mahj,
Makasar Maka, Malayalam Mlym, Mandaic Mand, Manichaean Mani, Marchen Marc,
Masaram_Gondi Gonm, Medefaidrin Medf, Meetei_Mayek Mtei, Mende_Kikakui Mend,
Meroitic_Cursive Merc, Meroitic_Hieroglyphs Mero, Miao Plrd, Modi Modi,
Mongolian Mong, Mro Mroo, Multani Mult, Myanmar Mymr, Nabataean Nbat,
Nag_Mundari Nagm, Nandinagari Nand, New_Tai_Lue Talu, Newa Newa, Nko Nkoo,
Nushu Nshu, Nyiakeng_Puachue_Hmong Hmnp, Ogham Ogam, Ol_Chiki Olck,
Ol_Onal Onao, Old_Hungarian Hung, Old_Italic Ital, Old_North_Arabian Narb,
Old_Permic Perm, Old_Persian Xpeo, Old_Sogdian Sogo, Old_South_Arabian Sarb,
Old_Turkic Orkh, Old_Uyghur Ougr, Oriya Orya, Osage Osge, Osmanya Osma,
Pahawh_Hmong Hmng, Palmyrene Palm, Pau_Cin_Hau Pauc, Phags_Pa Phag,
Phoenician Phnx, Psalter_Pahlavi Phlp, Rejang Rjng, Runic Runr,
Samaritan Samr, Saurashtra Saur, Sharada Shrd, Shavian Shaw, Siddham Sidd,
SignWriting Sgnw, Sinhala Sinh, Sogdian Sogd, Sora_Sompeng Sora,
Soyombo Soyo, Sundanese Sund, Sunuwar Sunu, Syloti_Nagri Sylo, Syriac Syrc,
Tagalog Tglg, Tagbanwa Tagb, Tai_Le Tale, Tai_Tham Lana, Tai_Viet Tavt,
Takri Takr, Tamil Taml, Tangsa Tnsa, Tangut Tang, Telugu Telu, Thaana Thaa,
Thai Thai, Tibetan Tibt, Tifinagh Tfng, Tirhuta Tirh, Todhri Todr, Toto Toto,
Tulu_Tigalari Tutg, Ugaritic Ugar, Vai Vaii, Vithkuqi Vith, Wancho Wcho,
Warang_Citi Wara, Yezidi Yezi, Yi Yiii, Zanabazar_Square Zanb
"""


# ------------------------------------------------------------- measuring


def runs(codes):
    """[first, last] of each run of neighbouring code points."""
    found = []
    for code in sorted(codes):
        if found and found[-1][1] + 1 == code:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def where(changes):
    return [code for code in CODES if changes(chr(code))]


def of_pattern(pattern):
    """The code points that one character of a pattern matches."""
    split = pre_tokenizers.Split(Regex(f"(?:{pattern})+"), "removed")
    found, at = [], 0
    for _, (start, end) in split.pre_tokenize_str(TEXT):
        found += CODES[at:start]
        at = end
    return found + CODES[at:]


def lower_case():
    lower = normalizers.Lowercase()
    pairs = []
    for code in CODES:
        text = lower.normalize_str(chr(code))
        if text != chr(code) and code != 0x130:
            pairs.append((code, ord(text)))
    assert lower.normalize_str("\u0130") == "i\u0307"
    return pairs


def bert(**on):
    flags = dict(clean_text=False, handle_chinese_chars=False,
                 strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**flags, **on})


def removed(normalizer):
    return where(lambda c: normalizer.normalize_str(f"x{c}y") == "xy")


def isolated(pre_tokenizer):
    return where(lambda c: len(
        pre_tokenizer.pre_tokenize_str(f"a{c}b")) == 3)


def single(pre_tokenizer):
    return where(lambda c: len(
        pre_tokenizer.pre_tokenize_str(f"a{c}b")) == 1)


SETS = [
    ("STRIPPED_ACCENT", lambda: removed(normalizers.StripAccents())),
    ("BERT_CONTROL", lambda: removed(bert(clean_text=True))),
    ("BERT_ACCENT", lambda: removed(bert(strip_accents=True))),
    ("PUNCTUATION", lambda: isolated(pre_tokenizers.Punctuation())),
    ("NUMERIC", lambda: isolated(pre_tokenizers.Digits(True))),
    ("WORD", lambda: single(pre_tokenizers.Whitespace())),
    ("PATTERN_WORD", lambda: of_pattern(r"\w")),
    ("PATTERN_ALPHA", lambda: of_pattern("[[:alpha:]]")),
    ("PATTERN_ALNUM", lambda: of_pattern("[[:alnum:]]")),
    ("PATTERN_LOWER", lambda: of_pattern("[[:lower:]]")),
    ("PATTERN_UPPER", lambda: of_pattern("[[:upper:]]")),
    ("PATTERN_PUNCT", lambda: of_pattern("[[:punct:]]")),
    ("PATTERN_GRAPH", lambda: of_pattern("[[:graph:]]")),
    ("PATTERN_PRINT", lambda: of_pattern("[[:print:]]")),
    ("PATTERN_CNTRL", lambda: of_pattern("[[:cntrl:]]")),
    ("PATTERN_BLANK", lambda: of_pattern("[[:blank:]]")),
    ("PATTERN_DIGIT", lambda: of_pattern(r"\d")),
    ("PATTERN_SPACE", lambda: of_pattern(r"\s")),
    ("PATTERN_EMOJI", lambda: of_pattern(r"\p{Emoji}")),
    ("PATTERN_PICTOGRAPH",
     lambda: of_pattern(r"\p{Extended_Pictographic}")),
    ("PATTERN_IDEOGRAPH", lambda: of_pattern(r"\p{Ideographic}")),
]


# Grapheme clusters, as SentencePiece's character map sees them. A map that
# gives one Z for a cluster of less than six bytes, and one for each character
# of a longer one, tells from the number of Z where clusters end.


def every_byte_to_z():
    units = [0] * 512
    units[0] = 256 << 10
    for byte in range(1, 256):
        units[256 ^ byte] = (256 ^ byte ^ 0x100) << 10 | 1 << 8 | byte
    # The value of each key stands at the place its unit points to, which
    # only needs to hold 0: the first string.
    for byte in range(1, 256):
        units[256 ^ byte] = ((256 ^ byte) ^ 0) << 10 | 1 << 8 | byte
    units += [0] * 512
    for byte in range(1, 256):
        place = 256 ^ byte
        target = 512 + byte
        units[place] = (place ^ target) << 10 | 1 << 8 | byte
        units[target] = 1 << 31
    blob = struct.pack(f"<{len(units)}I", *units)
    return normalizers.Precompiled(
        struct.pack("<I", len(blob)) + blob + b"Z\0")


def grapheme_classes():
    """Code point to class, for all that are not plain."""
    count = every_byte_to_z().normalize_str
    after = {c for c in CODES if c > 0x7F and len(count("a" + chr(c))) == 1}
    known = {}
    for c in CODES:
        x = chr(c)
        hangul = 0xAC00 <= c <= 0xD7A3
        if c in (0x0A, 0x0D) or hangul:
            continue
        if c in after:
            known[c] = class_of_mark(count, x)
        elif len(count(x + "a")) == 1 and c > 0x7F:
            known[c] = "PREPEND"
        elif is_control(count, x, c):
            known[c] = "CONTROL"
        else:
            found = class_of_base(count, x, c)
            if found:
                known[c] = found
    return known


def class_of_mark(count, x):
    if x == "\u200d":
        return "JOINER"
    if len(count("\u0915" + x + "\u0915\u0300")) == 4:
        return "LINKER"
    linked = len(count("\u0915\u094d" + x + "\u0915\u0300")) == 5
    extends = len(count("\u00a9" + x + "\u200d\u2764\u0300")) == 5
    if not extends:
        return "SPACING"
    return "EXTEND" if linked else "EXTEND_UNLINKED"


def is_control(count, x, code):
    found = len(count(x + "\u0300\u0301"))
    return found != (1 if code < 0x80 else 3)


def class_of_base(count, x, code):
    before_vowel = len(count(x + "\u1160\u0300")) != \
        len(count(x)) + 1 and code > 0x7FF
    before_trail = len(count(x + "\u11a8\u0300")) != 2 and code > 0x7FF
    if before_vowel:
        return "VOWEL" if before_trail else "LEAD"
    if before_trail:
        return "TRAIL"
    if code > 0x7F and len(count("\u00a9\u200d" + x + "\u0300")) == 4:
        return "PICTOGRAPH"
    if 0x800 <= code < 0x10000 and \
            len(count("\u0915\u094d" + x + "\u0300")) == 4:
        return "CONSONANT"
    return None


def hugging_face_scripts():
    """Numbers of scripts of the UnicodeScripts pre-tokenizer: 0 goes with
    any, others in the order in which they appear."""
    cut = pre_tokenizers.UnicodeScripts()

    def apart(a, b):
        return len(cut.pre_tokenize_str(a + b)) == 2

    leaders, script = [], {}
    last = None
    for code in CODES:
        c = chr(code)
        # What goes with every script is cut off from none.
        if not apart("a", c) and not apart("\u03b1", c):
            script[code] = 0
            continue
        if last is not None and not apart(leaders[last - 1], c):
            script[code] = last
            continue
        for number, leader in enumerate(leaders, 1):
            if not apart(leader, c):
                break
        else:
            leaders.append(c)
            number = len(leaders)
        script[code] = last = number
    assert len(leaders) < 255
    return script


def pattern_scripts():
    names = [pair.split() for pair in SCRIPTS.replace("\n", " ").split(",")]
    script, good = {}, []
    for long, short in names:
        codes = of_pattern(rf"\p{{{long}}}")
        assert codes and of_pattern(rf"\p{{{short}}}")[:1] == codes[:1]
        good.append((long, short))
        for code in codes:
            assert code not in script
            script[code] = len(good)
    return script, good


# --------------------------------------------------------------- writing


def rows(items, per_line):
    for at in range(0, len(items), per_line):
        print("    " + ", ".join(items[at:at + per_line]) + ",")


def write_set(name, codes):
    flat = [n for first, last in runs(codes) for n in (first, last + 1)]
    print(f"static const uint32_t {name.lower()}[] = {{")
    rows([f"0x{n:X}" for n in flat], 8)
    print("};\n")


def write_lower():
    merged = []
    for code, low in lower_case():
        last = merged[-1] if merged else None
        if last and low - code == last[3]:
            step = code - last[1]
            if last[0] == last[1] and step in (1, 2):
                last[1:3] = [code, step]
                continue
            if step == last[2]:
                last[1] = code
                continue
        merged.append([code, code, 1, low - code])
    print("const struct tb_lower_run tb_lower_runs[] = {")
    rows([f"{{0x{a:X}, 0x{b:X}, {s}, {d}}}" for a, b, s, d in merged], 2)
    print("};\nconst size_t tb_lower_run_count =\n"
          "    sizeof(tb_lower_runs) / sizeof(tb_lower_runs[0]);\n")


def write_partition(name, value_of, note):
    """Runs as (first << 8 | value); the next run ends one."""
    print(f"/* {note} */\nconst uint32_t {name}[] = {{")
    items, last = [], None
    for code in range(LAST + 1):
        value = value_of(code)
        if value != last:
            items.append(f"0x{code << 8 | value:X}")
            last = value
    rows(items, 7)
    print(f"}};\nconst size_t {name}_count =\n"
          f"    sizeof({name}) / sizeof({name}[0]);\n")


GRAPHEME = ("PLAIN CONTROL EXTEND EXTEND_UNLINKED LINKER JOINER SPACING "
            "PREPEND LEAD VOWEL TRAIL PICTOGRAPH CONSONANT").split()


def main():
    print("/* Generated by make_character_tables.py from Hugging Face "
          f"tokenizers {tokenizers.__version__}. */")
    print('#include "character.h"\n')
    for name, measure in SETS:
        write_set(name, measure())
    print("const struct tb_character_set tb_character_sets[] = {")
    for name, _ in SETS:
        low = name.lower()
        print(f"    [TB_CHARACTERS_{name}] =\n"
              f"        {{{low}, sizeof({low}) / sizeof({low}[0])}},")
    print("};\n")
    write_lower()
    classes = grapheme_classes()
    write_partition("tb_grapheme_runs",
                    lambda c: GRAPHEME.index(classes.get(c, "PLAIN")),
                    "enum tb_grapheme_class")
    script = hugging_face_scripts()
    write_partition("tb_split_script_runs", lambda c: script.get(c, 0),
                    "scripts of UnicodeScripts, 0: any")
    script, names = pattern_scripts()
    write_partition("tb_pattern_script_runs", lambda c: script.get(c, 0),
                    "number in tb_pattern_script_names + 1, 0: none")
    print("const char *const tb_pattern_script_names[][2] = {")
    rows([f'{{"{a.lower().replace("_", "")}", "{b.lower()}"}}'
          for a, b in names], 2)
    print("};\nconst size_t tb_pattern_script_count =\n"
          "    sizeof(tb_pattern_script_names) /\n"
          "    sizeof(tb_pattern_script_names[0]);")


if __name__ == "__main__":
    main()
