#!/usr/bin/env python3
"""Writes completions/, what shells complete, from what `--help` says.

    tools/make_completions.py --tracebake build/release/tracebake
    tools/make_completions.py --tracebake ... --check   # fails when it would
                                                        # change

One file each for bash, zsh and fish, named as their folders want them. None
needs anything but its shell, and none starts the program.
"""
import argparse
from pathlib import Path

import program_help

FOLDER = Path(__file__).resolve().parent.parent / "completions"
MADE = "Made by tools/make_completions.py from --help: change the options " \
       "in\n# src/option, src/cli."


def first_words(commands):
    """What may stand first, and what behind it when that is half a name."""
    firsts, seconds = [], {}
    for command in commands:
        first, _, second = command.name.partition(" ")
        if first not in firsts:
            firsts.append(first)
        if second:
            seconds.setdefault(first, []).append(second)
    return firsts, seconds


# ------------------------------------------------------------------ bash

BASH = r'''# bash completion for tracebake
# @made@

_tracebake_files()
{
    local IFS=$'\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -f -- "$1"))
}

_tracebake()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} options operands
    COMPREPLY=()
    # --option=value comes as three words
    if [[ $word == = ]]; then
        word=
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W '@firsts@ --help --version' -- "$word"))
        return
    fi
    case $command in
@seconds@    esac
    case $command in
@commands@    *)
        return
        ;;
    esac
    case $command:$before in
@arguments@    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    elif [[ $operands ]]; then
        _tracebake_files "$word"
    fi
}

complete -F _tracebake tracebake
'''

BASH_SECOND = '''    {first})
        if ((COMP_CWORD == 2)); then
            COMPREPLY=($(compgen -W '{seconds}' -- "$word"))
            return
        fi
        command="{first} ${{COMP_WORDS[2]}}"
        ;;
'''

BASH_COMMAND = '''    '{name}')
        options='{options}'
        operands={operands}
        ;;
'''

BASH_ARGUMENT = '''    {pattern})
        {action}
        return
        ;;
'''


def bash_action(option):
    reply = 'COMPREPLY=($(compgen -W \'{}\' -- "$word"))'
    if option.choices:
        return reply.format(" ".join(option.choices))
    if option.kind == "tokenizer":
        return reply.format("builtin") + '\n        _tracebake_files "$word"'
    return '_tracebake_files "$word"' if option.kind == "file" else ":"


def bash_arguments(commands):
    """Each answer once, with all places that have it."""
    places = {}
    for command in commands:
        for option in command.options:
            if option.argument:
                places.setdefault(bash_action(option), []).extend(
                    f"'{command.name}:{name}'" for name in option.names)
    return "".join(
        BASH_ARGUMENT.format(pattern=" | \\\n        ".join(names),
                             action=action)
        for action, names in places.items())


def bash(commands):
    firsts, seconds = first_words(commands)
    text = BASH.replace("@made@", MADE).replace("@firsts@", " ".join(firsts))
    text = text.replace("@seconds@", "".join(
        BASH_SECOND.format(first=first, seconds=" ".join(words))
        for first, words in seconds.items()))
    text = text.replace("@commands@", "".join(
        BASH_COMMAND.format(
            name=command.name,
            options=" ".join(name for option in command.options
                             for name in option.names if name != "-h"),
            operands="yes" if command.takes_files else "")
        for command in commands))
    return text.replace("@arguments@", bash_arguments(commands))


# ------------------------------------------------------------------- zsh

ZSH = '''#compdef tracebake
# {made}

_tracebake()
{{
    local -a commands
    local name=$words[2]
    if ((CURRENT == 2)); then
        commands=({firsts})
        _describe command commands
        return
    fi
    case $name in
{seconds}    esac
    shift words
    ((CURRENT--))
    case $name in
{commands}    esac
}}

_tracebake "$@"
'''

ZSH_SECOND = '''    {first})
        if ((CURRENT == 3)); then
            commands=({seconds})
            _describe command commands
            return
        fi
        shift words
        ((CURRENT--))
        name="{first} $words[2]"
        ;;
'''


def zsh_quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_described(word, text):
    return zsh_quoted(f"{word}:{text}")


def zsh_option(option):
    text = option.summary
    for mark in "\\[]:":
        text = text.replace(mark, "\\" + mark)
    action = ""
    if option.choices:
        action = f":{option.argument.lower()}:({' '.join(option.choices)})"
    elif option.argument:
        files = "_files" if option.kind else " "
        action = f":{option.argument}:{files}"
    equals = "=" if option.argument else ""
    return [zsh_quoted(f"*{name}{equals}[{text}]{action}")
            for name in option.names if name != "-h"]


def zsh(commands):
    purposes = {command.name: command.purpose for command in commands}
    firsts, seconds = first_words(commands)
    first_lines = " ".join(
        zsh_described(first, purposes.get(first, " and ".join(
            seconds.get(first, [])))) for first in firsts)
    second_lines = "".join(ZSH_SECOND.format(
        first=first, seconds=" ".join(
            zsh_described(word, purposes[f"{first} {word}"])
            for word in words)) for first, words in seconds.items())
    command_lines = ""
    for command in commands:
        items = [item for option in command.options
                 for item in zsh_option(option)]
        items += ["'*:file:_files'"] if command.takes_files else []
        command_lines += f"    '{command.name}')\n        _arguments \\\n"
        command_lines += " \\\n".join(f"            {item}" for item in items)
        command_lines += "\n        ;;\n"
    return ZSH.format(made=MADE, firsts=first_lines, seconds=second_lines,
                      commands=command_lines)


# ------------------------------------------------------------------ fish

FISH = '''# fish completion for tracebake
# {made}

function __tracebake_is
    set -l words (commandline -opc)
    set -l last (math 1 + (count $argv))
    test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"
end

function __tracebake_has
    test (count (commandline -opc)) -eq $argv[1]
end

complete -c tracebake -f
complete -c tracebake -n '__tracebake_has 1' -l version -d 'The version'
complete -c tracebake -n '__tracebake_has 1' -l help -s h -d 'The commands'
'''


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_option(command, option):
    line = f"complete -c tracebake -n '__tracebake_is {command.name}'"
    for name in option.names:
        line += f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}"
    if option.choices:
        line += f" -x -a '{' '.join(option.choices)}'"
    elif option.kind == "tokenizer":
        line += " -r -F -a builtin"
    elif option.argument:
        line += " -r -F" if option.kind else " -x"
    return f"{line} -d {fish_quoted(option.summary)}\n"


def fish(commands):
    text = FISH.format(made=MADE)
    firsts, seconds = first_words(commands)
    purposes = {command.name: command.purpose for command in commands}
    for first in firsts:
        purpose = purposes.get(first, " and ".join(seconds.get(first, [])))
        text += (f"complete -c tracebake -n '__tracebake_has 1' -a {first} "
                 f"-d {fish_quoted(purpose)}\n")
    for first, words in seconds.items():
        for word in words:
            text += (f"complete -c tracebake -n '__tracebake_has 2; and "
                     f"__tracebake_is {first}' -a {word} "
                     f"-d {fish_quoted(purposes[f'{first} {word}'])}\n")
    for command in commands:
        text += "\n"
        if command.takes_files:
            text += (f"complete -c tracebake -n '__tracebake_is "
                     f"{command.name}' -F\n")
        for option in command.options:
            text += fish_option(command, option)
    return text


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tracebake", required=True)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    commands = program_help.read_program(options.tracebake)
    files = {"tracebake": bash(commands), "_tracebake": zsh(commands),
             "tracebake.fish": fish(commands)}
    program_help.write_or_check(files, FOLDER, "make_completions.py",
                                options.check)


if __name__ == "__main__":
    main()
