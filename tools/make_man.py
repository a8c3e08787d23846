#!/usr/bin/env python3
"""Writes docs/man/, the man pages, from what `--help` says.

    tools/make_man.py --tracebake build/release/tracebake
    tools/make_man.py --tracebake ... --check    # fails when it would change

One page for the program and one for each command. No date and no version
stand in a page, so that the same help gives the same bytes.
"""
import argparse
from pathlib import Path

import program_help

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "man"
PURPOSE = "recorded LLM agent traces to mooncake JSONL, for load testers"
MADE = r'''.\" Made by tools/make_man.py from --help: change the options in src/option, src/cli.
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


def escaped(text):
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    return "\\&" + text if text.startswith(".") else text


def head(name, purpose):
    return [rf'.TH {name.upper().replace("-", chr(92) + "-")} 1', ".SH NAME",
            rf"{escaped(name)} \- {escaped(purpose)}", ".SH SYNOPSIS"]


def page_name(command):
    return "tracebake-" + command.name.replace(" ", "-")


def synopsis(command):
    words = " ".join(command.usage.split(" ")[:1 + len(command.name.split())])
    return rf"\fB{escaped(words)}\fR{escaped(command.usage[len(words):])}"


def option_lines(option):
    names = ", ".join(rf"\fB{escaped(name)}\fR" for name in option.names)
    argument = rf" \fI{escaped(option.argument)}\fR" if option.argument else ""
    lines = [".TP", names + argument]
    for text in option.text:
        if text.startswith("Default: "):
            lines.append(".br")
        lines.append(escaped(text))
    return lines


def command_page(command):
    lines = head(page_name(command), command.purpose) + [synopsis(command),
                                                         ".SH DESCRIPTION"]
    for number, paragraph in enumerate(command.description):
        lines += ([".PP"] if number else []) + [escaped(paragraph)]
    lines.append(".SH OPTIONS")
    for name, options in command.groups:
        lines += [f".SS {name}"] if len(command.groups) > 1 else []
        for option in options:
            lines += option_lines(option)
    lines += [".SH EXAMPLES", ".nf", ".RS"]
    lines += [escaped(line) for line in command.examples]
    lines += [".RE", ".fi", ".SH SEE ALSO",
              r"\fBtracebake\fR(1), for exit status and environment"]
    return MADE + "\n".join(lines) + "\n"


def program_page(commands):
    lines = head("tracebake", PURPOSE) + [
        r"\fBtracebake\fR \fICOMMAND\fR [\fIOPTION\fR...] [\fIFILE\fR...]",
        ".SH COMMANDS"]
    for command in commands:
        lines += [".TP", rf"\fB{escaped(page_name(command))}\fR(1)",
                  escaped(command.purpose)]
    return MADE + "\n".join(lines) + "\n" + TAIL


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tracebake", required=True)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    commands = program_help.read_program(options.tracebake)
    pages = {"tracebake.1": program_page(commands)}
    for command in commands:
        pages[page_name(command) + ".1"] = command_page(command)
    program_help.write_or_check(pages, FOLDER, "make_man.py", options.check)


if __name__ == "__main__":
    main()
