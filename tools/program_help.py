"""What `--help` says, taken apart: for the tools that give it another form.

Options are written down once, in the tables of src/option and src/cli.
"""
import re
import subprocess
from dataclasses import dataclass, field

MARKS = {"FILE": "file", "LIST": "file", "NAME": "tokenizer"}


@dataclass
class Option:
    names: list      # ["-h", "--help"]
    argument: str    # "FILE", "auto|join", or ""
    text: list       # lines, the default last
    group: str = ""

    @property
    def choices(self):
        """Words to choose from; those in capitals stand for others."""
        words = self.argument.split("|")
        return [word for word in words if word.islower()] if words[1:] else []

    @property
    def kind(self):
        """Of the argument: "file", "tokenizer", or "" for anything."""
        return MARKS.get(self.argument, "")

    @property
    def summary(self):
        """The first sentence."""
        text = " ".join(line for line in self.text
                        if not line.startswith("Default: "))
        return re.split(r"(?<=[.:;]) ", text)[0].rstrip(".:;")


@dataclass
class Command:
    name: str        # "tokenizer list"
    purpose: str
    usage: str
    description: list                             # paragraphs
    groups: list = field(default_factory=list)    # [(name, [Option])]
    examples: list = field(default_factory=list)  # lines

    @property
    def options(self):
        return [option for _, options in self.groups for option in options]

    @property
    def takes_files(self):
        operands = self.usage.split("[--")[0]
        return re.search(r"\b(FILE|NAME)\b", operands) is not None


def help_of(tracebake, *command):
    process = subprocess.run([tracebake, *command, "--help"], check=True,
                             capture_output=True, text=True)
    return process.stdout


def read_options(body, group):
    """An option stands two columns in, its text eight."""
    options = []
    for line in body.split("\n"):
        if line.startswith("        "):
            options[-1].text.append(line.strip())
            continue
        words = line.strip().split(" ")
        names = [word.rstrip(",") for word in words if word.startswith("-")]
        argument = words[-1] if not words[-1].startswith("-") else ""
        options.append(Option(names, argument, [], group))
    return options


def read_command(tracebake, name, purpose):
    text = help_of(tracebake, *name.split()).rstrip("\n")
    _, *parts = re.split(r"\n\n(?=[A-Z][a-z ]*:\n)", text)
    usage, _, rest = parts[0].partition("\n\n")
    command = Command(name, purpose, usage.split("\n", 1)[1].strip(),
                      [" ".join(one.split()) for one in rest.split("\n\n")])
    for part in parts[1:]:
        title, body = part.split("\n", 1)
        title = title.rstrip(":")
        if title == "Examples":
            command.examples = [line[2:] for line in body.split("\n")]
        else:
            command.groups.append((title, read_options(body, title)))
    return command


def read_program(tracebake):
    """All commands, in the order of the program's own page."""
    listed = help_of(tracebake).split("Commands:\n")[1].split("\n\n")[0]
    pairs = [re.split(r"  +", line.strip()) for line in listed.split("\n")]
    return [read_command(tracebake, name, purpose) for name, purpose in pairs]


def write_or_check(pages, folder, tool, is_check):
    """Writes the files, or fails when what is there is not that."""
    there = {path.name for path in folder.iterdir()}
    wrong = sorted(there - set(pages)) + sorted(
        name for name, text in pages.items()
        if name not in there or (folder / name).read_text() != text)
    if is_check:
        if wrong:
            raise SystemExit(f"{folder.name}: {', '.join(wrong)} not what "
                             f"--help says: run tools/{tool}")
        return
    for name in there - set(pages):
        (folder / name).unlink()
    for name, text in pages.items():
        (folder / name).write_text(text)
