#!/usr/bin/env python3
"""Holds the chat template engine equal to transformers.

    template_oracle.py DRIVER --tokenizers FOLDER [--count N] [--seed N]
                       [--only templates|snippets|random] [--show N]

Three parts, all rendered by transformers' own functions and by DRIVER:
the chat templates of the wheel xinference (downloaded, not installed) and of
the pinned tokenizers, times a set of conversations; a table of snippets of
the language; and random expressions. Where Python raises, an error must come;
the text of raise_exception must be the same.
"""
import argparse
import datetime
import json
import random
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import jinja2
from transformers.utils import chat_template_utils

import template_cases

WHEEL = "xinference==4.1.0"
NOW = 1753351200.25  # 2025-07-24 10:00:00.25 UTC
MESSAGE_LEN = 300    # bytes of raise_exception's text that are kept
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
           "pad_token": "<pad>"}


class FixedClock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=NOW)


def expect(case):
    """What transformers gives: (text, None) or (None, error)."""
    special, kwargs = case.get("special", {}), case.get("kwargs", {})
    try:
        messages = case["messages"]
        if not messages:
            raise ValueError("empty conversation")
        chat = chat_template_utils._normalize_chat_messages(messages)
        found, _ = chat_template_utils.render_jinja_template(
            conversations=[chat], tools=case.get("tools"), documents=None,
            chat_template=case["template"], add_generation_prompt=True,
            **{**special, **kwargs})
        found[0].encode()
        return found[0], None
    except UnicodeEncodeError:
        return None, None
    except Exception as error:
        return None, error


# ---------------------------------------------------------- templates


def chat_templates(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "chat_template" and isinstance(inner, str):
                yield inner
            else:
                yield from chat_templates(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from chat_templates(inner)


def wheel_templates(cache):
    """name -> template, each different one once."""
    wheels = list(cache.glob("xinference-*.whl"))
    if not wheels:
        cache.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet",
                        "--no-deps", "--dest", str(cache), WHEEL], check=True)
        wheels = list(cache.glob("xinference-*.whl"))
    found = {}
    with zipfile.ZipFile(wheels[0]) as archive:
        for name in sorted(archive.namelist()):
            if name.startswith("xinference/model/llm/models/") and \
                    name.endswith(".json"):
                for text in chat_templates(json.loads(archive.read(name))):
                    if text and text not in found.values():
                        found[name.rsplit("/", 1)[1]] = text
    return found


def tokenizer_templates(folder):
    found = {}
    for path in sorted(folder.glob("*/tokenizer_config.json")):
        template = json.loads(path.read_text()).get("chat_template")
        if isinstance(template, str):
            found["npm " + path.parent.name] = template
    return found


def template_work(arguments):
    templates = wheel_templates(arguments.tokenizers.parent / "xinference")
    templates.update(tokenizer_templates(arguments.tokenizers))
    for name, template in templates.items():
        for title, conversation in template_cases.CONVERSATIONS.items():
            yield f"{name} / {title}", {
                "template": template, "special": SPECIAL, "now": NOW,
                **conversation}


# ------------------------------------------------- snippets and random


def snippet(template):
    return {"template": template, "messages": [{"role": "user", "content": "x"}],
            "kwargs": template_cases.VARIABLES, "special": SPECIAL, "now": NOW}


def snippet_work():
    for number, template in enumerate(template_cases.SNIPPETS):
        yield f"snippet {number}: {template!r}", snippet(template)


def random_work(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        expression = template_cases.random_expression(rng, 0)
        yield f"random {expression}", snippet("{{ " + expression + " }}")


# ------------------------------------------------------------- compare


def compare(case, answer):
    """None when equal, else what differs. Skips what cannot be compared."""
    text, error = expect(case)
    if error is None and text is None:
        return None
    if answer.get("status") in ("unsupported", "limit"):
        # Addresses cannot be compared; what Python refuses too may go by
        # another name.
        known = ("text of a '", "sets", "formats of Markup")
        if answer["error"].startswith(known) or error is not None:
            return None
        return f"{answer['status']}: {answer['error']}"
    if error is None:
        if text == answer.get("text"):
            return None
        # jinja2 folds constants by another path, which gives undefined for a
        # slice of what has none. Nobody slices such a constant.
        if "subscriptable" in answer.get("error", "") or \
                "'slice'" in answer.get("error", ""):
            return None
        return f"expected {text!r}\n  got      {answer}"
    if "error" not in answer:
        return f"expected {type(error).__name__}: {error}\n  got      {answer}"
    if type(error) is jinja2.exceptions.TemplateError:
        wanted = str(error).encode()[:MESSAGE_LEN].decode("utf-8", "ignore")
        if answer["error"] != wanted:
            return f"expected the error {wanted!r}\n  got {answer['error']!r}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("driver")
    parser.add_argument("--tokenizers", required=True, type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20000,
                        help="random expressions (default: 20000)")
    parser.add_argument("--only")
    parser.add_argument("--show", type=int, default=10)
    arguments = parser.parse_args()
    chat_template_utils.datetime = FixedClock
    warnings.simplefilter("ignore")
    parts = {
        "templates": lambda: template_work(arguments),
        "snippets": snippet_work,
        "random": lambda: random_work(
            arguments.count, arguments.seed),
    }
    wrong_parts = 0
    for name, part in parts.items():
        if arguments.only and arguments.only != name:
            continue
        work = list(part())
        data = "".join(json.dumps(case) + "\n" for _, case in work)
        run = subprocess.run([arguments.driver], input=data.encode(),
                             stdout=subprocess.PIPE)
        answers = [json.loads(line) for line in run.stdout.splitlines()]
        if run.returncode or len(answers) != len(work):
            at = work[len(answers)][0] if len(answers) < len(work) else ""
            print(f"{name}: the driver stopped at {at}")
            sys.exit(1)
        wrong, refused = 0, 0
        for (title, case), answer in zip(work, answers):
            difference = compare(case, answer)
            refused += "error" in answer
            if difference:
                wrong += 1
                if wrong <= arguments.show:
                    print(f"{title}\n  {difference}"[:1500])
        print(f"{name}: {len(work)} renderings ({refused} refused by both), "
              f"{wrong} wrong", flush=True)
        wrong_parts += wrong > 0
    sys.exit(1 if wrong_parts else 0)


if __name__ == "__main__":
    main()
