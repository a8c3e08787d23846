#!/usr/bin/env python3
"""Writes docs/tracebake.1, the man page, from what `--help` says.

    tools/make_man.py --tracebake build/release/tracebake
    tools/make_man.py --tracebake ... --check    # fails when it would change

Options are written down once, in the tables of src/option and src/cli; this only changes
their form. No date and no version stand in the page, so that the same help
gives the same bytes.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tracebake.1"

HEAD = r'''.\" Made by tools/make_man.py from --help: change the options in src/option, src/cli.
.TH TRACEBAKE 1
.SH NAME
tracebake \- recorded LLM agent traces to mooncake JSONL, for load testers
.SH SYNOPSIS
'''

TAIL = r'''.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
failed; no output was written unless the message says so
.TP
.B 2
wrong usage
.TP
.BI 128+ n
stopped by signal
.I n
.SH ENVIRONMENT
.TP
.BR HF_HUB_CACHE ", " HF_HOME
where the Hugging Face cache is; else ~/.cache/huggingface/hub
.TP
.BR HF_ENDPOINT
another hub than https://huggingface.co
.TP
.BR HF_TOKEN ", " HUGGING_FACE_HUB_TOKEN ", " HF_TOKEN_PATH
the token for gated and private models, or a file with it; else the file token
in HF_HOME
.TP
.BR HF_HUB_DISABLE_IMPLICIT_TOKEN
when set to 1, no token is sent
.TP
.BR HF_HUB_OFFLINE ", " TRANSFORMERS_OFFLINE
when set to 1, nothing is fetched
.TP
.BR HF_HUB_ETAG_TIMEOUT ", " HF_HUB_DOWNLOAD_TIMEOUT
how many seconds a connection may take, and may bring no byte; else 10 and 20
.TP
.BR SSL_CERT_FILE ", " REQUESTS_CA_BUNDLE ", " CURL_CA_BUNDLE
a file with the certificates to trust
.TP
.BR https_proxy ", " no_proxy
as curl reads them
.TP
.B XDG_CACHE_HOME
tokenizers in a form that loads at once are kept in its folder tracebake; else
in ~/.cache/tracebake
.TP
.B TRACEBAKE_NO_CACHE
when set, they are not kept
.TP
.B TMPDIR
where a pipe or compressed telemetry is kept while it is sorted; else /tmp
.TP
.B TB_CPU
.I portable
means: no vector instructions
.SH SEE ALSO
The formats of traces and rows: docs/FORMATS.md in the source.
'''


def help_of(tracebake, *command):
    process = subprocess.run([tracebake, *command, "--help"], check=True,
                             capture_output=True, text=True)
    return process.stdout


def commands_of(tracebake):
    listed = help_of(tracebake).split("Commands:\n")[1].split("\n\n")[0]
    return [line[2:].split("  ")[0].split() for line in listed.split("\n")]


def escaped(text):
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    return "\\&" + text if text.startswith(".") else text


def split_help(text):
    """The help's parts: usage, description, [(group, [option lines])]."""
    head, *groups = re.split(r"\n\n(?=[A-Z][a-z ]*:\n)", text.rstrip("\n"))
    usage, _, rest = groups[0].partition("\n\n")
    purpose = head.split(" - ", 1)[1]
    return (purpose, usage.split("\n", 1)[1].strip(), rest,
            [group.split("\n", 1) for group in groups[1:]])


def option_lines(body):
    """An option stands two columns in, its text eight."""
    lines = []
    for line in body.split("\n"):
        if line.startswith("        "):
            text = line.strip()
            lines.append(".br" if text.startswith("Default: ") else None)
            lines.append(escaped(text))
        else:
            name, _, argument = line.strip().rpartition(" ")
            if not name or name.endswith(","):
                name, argument = line.strip(), ""
            lines += [".TP", rf"\fB{escaped(name)}\fR" +
                      (rf" \fI{escaped(argument)}\fR" if argument else "")]
    return [line for line in lines if line is not None]


def command_section(text):
    purpose, _, description, groups = split_help(text)
    lines = [escaped(purpose[0].upper() + purpose[1:]) + "."]
    for paragraph in description.split("\n\n"):
        lines += [".PP", escaped(" ".join(paragraph.split()))]
    for name, body in groups:
        if name == "Examples:":
            lines += [".PP", "Examples:", ".PP", ".nf", ".RS"]
            lines += [escaped(line[2:]) for line in body.split("\n")]
            lines += [".RE", ".fi"]
        else:
            lines += [f".SS {name.rstrip(':')}", *option_lines(body)]
    return lines


def man_page(tracebake):
    commands = commands_of(tracebake)
    helps = [help_of(tracebake, *command) for command in commands]
    lines = []
    for command, text in zip(commands, helps):
        _, usage, _, _ = split_help(text)
        words = " ".join(usage.split(" ")[:1 + len(command)])
        lines += [rf"\fB{words}\fR{escaped(usage[len(words):])}", ".br"]
    for command, text in zip(commands, helps):
        lines.append(f".SH TRACEBAKE {' '.join(command).upper()}")
        lines += command_section(text)
    return HEAD + "\n".join(lines) + "\n" + TAIL


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tracebake", required=True)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    page = man_page(options.tracebake)
    if not options.check:
        PAGE.write_text(page)
    elif not PAGE.exists() or PAGE.read_text() != page:
        sys.exit(f"{PAGE.name} is not what --help says: run tools/make_man.py")


if __name__ == "__main__":
    main()
