#!/usr/bin/env python3
"""Tokenizers from a hub: fetched, found again, and found by huggingface_hub.

The hub is hub_server.py on this machine; no network is needed. Every case has
a home of its own, so that they run beside each other. What is checked: ids,
the cache's layout (by huggingface_hub and transformers, both ways), who gets
the token, that a file that was cut goes on where it stopped, that two processes
fetch a file once, that nothing leads out of the cache, and what each fault is
called.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import harness
from hub_server import CERTIFICATE, Hub, Model

TOKEN = "hf_secretSECRETsecret"
TEXT = "Hello, world! It's 12345 words."
TINY = {
    "version": "1.0", "truncation": None, "padding": None,
    "added_tokens": [], "normalizer": None,
    "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None,
    "decoder": None,
    "model": {"type": "WordLevel", "unk_token": "?",
              "vocab": {"?": 0, "Hello": 1, "world": 2}},
}
TINY_FILES = {"tokenizer.json": json.dumps(TINY).encode(),
              "tokenizer_config.json": b'{"chat_template": "{{ 1 }}"}'}
TINY_IDS = [1, 0, 2, 0, 0, 0, 0, 0, 0, 0]  # Hello , world ! It ' s ...


class Case:
    """A home, and tracebake in it."""

    def __init__(self, options, hub, folder):
        self.tracebake, self.hub = options.tracebake, hub
        self.home = Path(tempfile.mkdtemp(dir=folder))
        self.cache = self.home / "hf" / "hub"

    def environment(self, **more):
        kept = ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")
        env = {name: os.environ[name] for name in kept if name in os.environ}
        env |= {"HOME": str(self.home), "HF_HOME": str(self.home / "hf"),
                "HF_ENDPOINT": self.hub.address(), "TRACEBAKE_NO_CACHE": "1",
                "no_proxy": "*", "TOKENIZERS_PARALLELISM": "false"}
        env |= more
        return {name: value for name, value in env.items() if value}

    def start(self, name, limit=None, arguments=("tokenize", "--tokenizer"),
              **env):
        def before():
            if limit:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return subprocess.Popen(
            [self.tracebake, *arguments, name], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=self.environment(**env),
            preexec_fn=before, cwd=self.home)

    def finish(self, process, text=TEXT):
        out, err = process.communicate(json.dumps(text) + "\n", timeout=200)
        assert TOKEN not in out + err, "the token is told"
        return process.returncode, out, err

    def ids(self, name, **env):
        code, out, err = self.finish(self.start(name, **env))
        assert code == 0 and not err, f"exit {code}: {err}"
        return json.loads(out)

    def fails(self, name, *words, **env):
        """Fails, with these words in the message, and nothing to be found."""
        code, out, err = self.finish(self.start(name, **env))
        assert code == 1 and not out, f"exit {code}, {out!r}, {err!r}"
        for word in words:
            assert word in err, f"no {word!r} in {err!r}"
        assert err.count("\n") == 1 and len(err) < 800, err
        offline = self.start(name, HF_HUB_OFFLINE="1")
        assert self.finish(offline)[0] == 1, "found after a failure"
        return err

    def files(self):
        """All files of the cache but locks, below its folder."""
        return sorted(str(path.relative_to(self.cache))
                      for path in self.cache.rglob("*")
                      if not path.is_dir() and ".locks" not in path.parts)

    def python(self, code, **env):
        process = subprocess.run([sys.executable, "-c", code], text=True,
                                 capture_output=True, timeout=200,
                                 env=self.environment(**env))
        assert process.returncode == 0, process.stderr
        return process.stdout.strip()


MODELS = {}


def model(name, files=None, **traits):
    MODELS[name] = Model(files=files or TINY_FILES, **traits)
    return name


# ------------------------------------------------------------ as it should

BIG = model("org/big", files={})  # filled from a real tokenizer


def real_tokenizer(case):
    """A real one; Python finds it without a network, and its ids are ours."""
    ids = case.ids(BIG)
    assert ids == case.ids(BIG, HF_HUB_OFFLINE="1")
    found = case.python(f"""
from huggingface_hub import hf_hub_download
from transformers import AutoTokenizer
for name in ("tokenizer.json", "tokenizer_config.json"):
    print(hf_hub_download("{BIG}", name))
print(AutoTokenizer.from_pretrained("{BIG}").encode(
    {TEXT!r}, add_special_tokens=False))""", HF_HUB_OFFLINE="1").split("\n")
    commit = MODELS[BIG].commit
    at = case.cache / "models--org--big" / "snapshots" / commit
    assert found[0] == str(at / "tokenizer.json"), found
    assert found[1] == str(at / "tokenizer_config.json"), found
    assert json.loads(found[2]) == ids, found
    link = os.readlink(at / "tokenizer.json")
    assert link.startswith("../../blobs/"), link
    # With a network it finds nothing left to fetch: the ETags are the same.
    before = len(case.hub.requests(BIG))
    case.python(f"""
from huggingface_hub import hf_hub_download
hf_hub_download("{BIG}", "tokenizer.json")""")
    asked = case.hub.requests(BIG)[before:]
    assert asked and all(one[1] == "HEAD" for one in asked), asked


PYTHON = model("org/python")


def fetched_by_python(case):
    """What Python fetched is found without a network."""
    case.python(f"""
from huggingface_hub import hf_hub_download
hf_hub_download("{PYTHON}", "tokenizer.json", revision="main")""")
    assert case.ids(PYTHON, HF_HUB_OFFLINE="1") == TINY_IDS


LAYOUT = model("org/layout", refs=("main", "refs/pr/1"))


def layout(case):
    commit = MODELS[LAYOUT].commit
    assert case.ids(LAYOUT) == TINY_IDS
    found = case.files()
    assert len(found) == 5, found
    model_folder = case.cache / "models--org--layout"
    assert (model_folder / "refs/main").read_text() == commit
    for name, data in TINY_FILES.items():
        at = model_folder / "snapshots" / commit / name
        assert at.is_symlink() and at.read_bytes() == data
    before = len(case.hub.requests(LAYOUT))
    names = (LAYOUT, f"{LAYOUT}@main", f"{LAYOUT}@{commit}",
             f"{LAYOUT}@{commit[:7]}", "layout", f"layout@{commit[:12]}")
    for name in names:
        assert case.ids(name) == TINY_IDS, name
    assert len(case.hub.requests(LAYOUT)) == before, "asked without need"
    assert case.ids(f"{LAYOUT}@refs/pr/1") == TINY_IDS
    assert (model_folder / "refs/refs/pr/1").read_text() == commit
    asked = case.hub.requests(LAYOUT)[before:]
    assert len(asked) == 1 and asked[0][2].endswith("refs%2Fpr%2F1"), asked


TOKENS = model("org/tokens", private=True)
TOKENS_PORT = model("org/tokens-port", private=True,
                    storage_host="127.0.0.1")


def token(case):
    """To the hub alone, from each place that can have it."""
    case.fails(TOKENS, "private", "set HF_TOKEN")
    case.fails(TOKENS, "HF_HUB_DISABLE_IMPLICIT_TOKEN", HF_TOKEN=TOKEN,
               HF_HUB_DISABLE_IMPLICIT_TOKEN="1")
    err = case.fails(TOKENS, "HF_TOKEN", HF_TOKEN=TOKEN + "\nX-Evil: 1")
    assert "Evil" not in err
    for name in (TOKENS, TOKENS_PORT):
        before = len(case.hub.requests(name))
        assert case.ids(name, HF_TOKEN=TOKEN) == TINY_IDS
        asked = case.hub.requests(name)[before:]
        assert {one[0] for one in asked} == {"hub", "storage"}
        for where, _, path, sent, _ in asked:
            wanted = f"Bearer {TOKEN}" if where == "hub" else None
            assert sent == wanted, (where, path, sent)
    for place in (case.home / "hf" / "token", case.home / "elsewhere"):
        shutil.rmtree(case.cache, ignore_errors=True)
        place.write_text(f"  {TOKEN}\n")
        path = str(place) if place.name == "elsewhere" else ""
        assert case.ids(TOKENS, HF_TOKEN_PATH=path) == TINY_IDS
        place.unlink()


CUT = model("org/cut", cut_after=[None, 40, 50])
CUT_ALWAYS = model("org/cut-always", cut_after=[None] + [0] * 20)
CUT_KEPT = model("org/cut-kept", cut_after=[None, 100, 0, 0, 0, 0])
CUT_NO_RANGE = model("org/cut-no-range", cut_after=[None, 60, 30],
                     ranges=False)


def cut(case):
    assert case.ids(CUT) == TINY_IDS
    ranges = [one[4] for one in case.hub.requests(CUT) if one[0] == "storage"]
    assert ranges == [None, "bytes=40-", "bytes=90-"], ranges
    assert not [name for name in case.files() if "incomplete" in name]
    assert case.ids(CUT_NO_RANGE) == TINY_IDS


def cut_always(case):
    case.fails(CUT_ALWAYS, "was cut", "try again")


def cut_and_later(case):
    """The next run goes on where the last one was cut."""
    case.fails(CUT_KEPT, "was cut", "goes on where it stopped")
    assert [name for name in case.files() if name.endswith(".incomplete")]
    MODELS[CUT_KEPT].cut_after.clear()
    assert case.ids(CUT_KEPT) == TINY_IDS
    last = case.hub.requests(CUT_KEPT)[-1]
    assert last[0] == "storage" and last[4] == "bytes=100-", last


RUINED = model("org/ruined")
KILLED = model("org/killed", pause=0.2)
FORGED = model("org/forged", etag="0" * 64)
MIRROR = model("org/mirror", etag="0" * 40)
MD5 = model("org/md5", etag="0" * 32)


def ruined(case):
    """What a crash left is not taken for the beginning of the file."""
    data = TINY_FILES["tokenizer.json"]
    name = hashlib.sha256(data).hexdigest()
    blobs = case.cache / "models--org--ruined" / "blobs"
    for left in (b"\0" * 100, b"\0" * len(data), b"\0" * (len(data) + 1)):
        blobs.mkdir(parents=True)
        (blobs / f"{name}.incomplete").write_bytes(left)
        assert case.ids(RUINED) == TINY_IDS
        assert (blobs / name).read_bytes() == data
        shutil.rmtree(case.cache)


def killed(case):
    """A run that was killed leaves a beginning that the next goes on from."""
    process = case.start(KILLED)
    while not [one for one in case.hub.requests(KILLED) if one[0] == "storage"]:
        time.sleep(0.02)
    time.sleep(0.5)
    process.kill()
    case.finish(process)
    assert [name for name in case.files() if name.endswith(".incomplete")]
    assert case.ids(KILLED) == TINY_IDS
    last = case.hub.requests(KILLED)[-1]
    assert last[4] and last[4] != "bytes=0-", last


def named(case):
    """A SHA-256 must be the content's; other names say nothing of it."""
    case.fails(FORGED, "not what its ETag says")
    assert case.ids(MIRROR) == TINY_IDS
    assert case.ids(MD5) == TINY_IDS


AT_ONCE = model("org/at-once", pause=0.05)


def at_once(case):
    """Two processes, one download; the other waits for it."""
    both = [case.start(AT_ONCE) for _ in range(2)]
    for process in both:
        code, out, err = case.finish(process)
        assert code == 0 and json.loads(out) == TINY_IDS, err
    asked = [one for one in case.hub.requests(AT_ONCE) if one[1] == "GET"
             and one[2].partition("?")[0].endswith(".json")]
    assert len(asked) == 2, asked  # each file once


STOPPED = model("org/stopped", pause=0.3)


def stopped(case):
    process = case.start(STOPPED, arguments=("nat", "-", "--quiet",
                                             "--tokenizer"))
    while not case.hub.requests(STOPPED):
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    code, _, err = case.finish(process)
    assert code == 128 + signal.SIGTERM and "stopped" in err, (code, err)


BUSY = model("org/busy", fail_first=[429, 503, 500])
MOVED = model("org/moved")
COMMANDS = model("org/commands")


def busy(case):
    assert case.ids(BUSY) == TINY_IDS


def run(case, *words, **env):
    process = case.start(words[-1], arguments=words[:-1], **env)
    code, out, err = case.finish(process)
    assert code == 0 and not err, f"exit {code}: {err}"
    return out


def commands(case):
    """tokenizer pull, list, show and clear agree with each other."""
    def listed():
        return json.loads(run(case, "tokenizer", "list", "--json", **cached))

    cached = {"TRACEBAKE_NO_CACHE": ""}
    commit = MODELS[COMMANDS].commit
    out = run(case, "tokenizer", "pull", COMMANDS, **cached)
    assert f"{commit}: 2 fetched" in out and "0 there" in out, out
    out = run(case, "tokenizer", "pull", f"{COMMANDS}@main", **cached)
    assert "0 fetched, 0.0 MB; 2 there" in out, out
    assert run(case, "tokenizer", "pull", "--quiet", COMMANDS) == ""
    found, = listed()["tokenizers"]
    assert found["model"] == COMMANDS and found["revisions"] == "main", found
    assert found["bytes"] == len(TINY_FILES["tokenizer.json"]), found
    assert f"  {COMMANDS} " in run(case, "tokenizer", "list", **cached)
    shown = json.loads(run(case, "tokenizer", "show", "--json", "commands",
                           HF_HUB_OFFLINE="1", **cached))
    assert shown["commit"] == commit and shown["origin"] == found["file"]
    assert shown["model"] == "WordLevel" and shown["has_chat_template"]
    trace = Path(__file__).parents[2] / "examples" / "toolcall_trace.json"
    run(case, "nat", "--output-file", "x", "--quiet", "--prompt", "join",
        "--tokenizer", COMMANDS, str(trace), **cached)
    meta = json.loads((case.home / "x.meta.json").read_text())
    assert shown["fingerprint"] in json.dumps(meta), meta
    run(case, "tokenizer", "show", "builtin", **cached)
    before = listed()
    assert before["compiled_count"] >= 1 and before["compiled_bytes"] > 1e6
    out = run(case, "tokenizer", "clear", "builtin", **cached)
    assert out.startswith("1 compiled form removed"), out
    run(case, "tokenizer", "clear", **cached)
    after = listed()
    assert after["compiled_bytes"] == 0 and after["tokenizers"], after


def moved(case):
    """A branch that moved leads to its new commit after a pull alone."""
    assert case.ids(MOVED) == TINY_IDS
    changed = json.loads(json.dumps(TINY))
    changed["model"]["vocab"]["!"] = 3
    MODELS[MOVED] = Model(commit="f" * 40, files={
        "tokenizer.json": json.dumps(changed).encode()})
    assert case.ids(MOVED) == TINY_IDS
    assert case.ids(f"{MOVED}@{'f' * 40}")[3] == 3
    assert case.ids(MOVED) == TINY_IDS
    run(case, "tokenizer", "pull", MOVED)
    assert case.ids(MOVED)[3] == 3


BARE = model("bare-name")
GPT2 = model("gpt2")


def names(case):
    assert case.ids(BARE) == TINY_IDS
    assert (case.cache / "models--bare-name").is_dir()
    assert case.ids(GPT2) == TINY_IDS
    case.fails("cl100k_base", "tiktoken's cl100k_base", "its file")
    for org in ("a", "b"):
        shutil.copytree(case.cache / "models--bare-name",
                        case.cache / f"models--{org}--twin", symlinks=True)
    case.fails("twin", "a/twin, b/twin", "whole name")
    shutil.rmtree(case.cache / "models--b--twin")
    assert case.ids("twin") == TINY_IDS
    for bad in ("../bare-name", "a/../bare-name", "a/b/c", "org/x@../../y",
                "org/.x", "org/x--y", "org/x@", "missing.json", "/nowhere"):
        case.fails(bad, "no such file or folder")
    (case.home / "a").mkdir()
    (case.home / "a" / "twin").mkdir()
    case.fails("a/twin", "folder has no tokenizer.json")


SECURE = model("org/secure", storage_host="127.0.0.1")


def secure(case):
    """No certificate but a good one, and no way from https to http."""
    for secured, ours in ((("hub", "storage"), TINY_IDS), (("hub",), None)):
        case.hub = Hub(MODELS, secured)
        case.fails(SECURE, "certificate", "cannot be trusted", "SSL_CERT_FILE")
        trust = {"SSL_CERT_FILE": str(CERTIFICATE)}
        if ours:
            assert case.ids(SECURE, **trust) == ours
            shutil.rmtree(case.cache)
        else:
            case.fails(SECURE, "to an address that is not https", **trust)
        case.hub.close()


# ------------------------------------------------------------------ faults

GATED = model("org/gated", gated=True)
NO_FILE = model("org/no-file", files={"config.json": b"{}"})
SEVERAL = model("org/several", files={"a.tiktoken": b"", "b.tiktoken": b""})
BROKEN = model("org/broken", fail_always=500)
NO_JSON = model("org/no-json", info=b"<html>a proxy's page</html>")
NO_HUB = model("org/no-hub", info=b'{"hello": "world"}')
BAD_SHA = model("org/bad-sha", info=b'{"sha": "../../../../evil", "siblings":'
                b' [{"rfilename": "tokenizer.json"}]}')
BAD_ETAG = model("org/bad-etag", etag="../../../evil")
BAD_COMMIT = model("org/bad-commit", said_commit="../../evil")
OTHER_COMMIT = model("org/other-commit", said_commit="e" * 40)
BAD_NAMES = model("org/bad-names", listed=(
    "../../evil.json", "/etc/tokenizer.json", "..", "a/../tokenizer.json"))
SHORT = model("org/short", said_size=100000)
LONG = model("org/long", said_size=50)
HUGE = model("org/huge", said_size=10**12)
STALLS = model("org/stalls", stall_after=0)
SLOW = model("org/slow", stall_after=200)
TO_FILE = model("org/to-file", storage="file:///etc")
TO_NOBODY = model("org/to-nobody", storage="http://127.0.0.1:1")
FULL = model("org/full", files={
    "tokenizer.json": TINY_FILES["tokenizer.json"] + b" " * 100000})


def refusals(case):
    place = f"{case.hub.address()}/{GATED}"
    case.fails(GATED, "gated", "licence", place, "set HF_TOKEN")
    case.fails(GATED, "gated", "licence", "may not read", HF_TOKEN=TOKEN)
    case.fails("org/nobody", "knows no model 'org/nobody'", "check the name")
    case.fails(f"{LAYOUT}@v9", "has no revision 'v9'")
    case.fails(SEVERAL, "2 files such as", ".tiktoken")
    case.fails(NO_FILE, "has none of tokenizer.json, ")


def hostile(case):
    case.fails(NO_JSON, "is no Hugging Face hub", "HF_ENDPOINT")
    case.fails(NO_HUB, "is no Hugging Face hub", "'sha'")
    case.fails(BAD_SHA, "is no Hugging Face hub", "'sha' is no commit")
    case.fails(BAD_ETAG, "no usable ETag")
    case.fails(BAD_COMMIT, "of another commit")
    case.fails(OTHER_COMMIT, "of another commit")
    case.fails(HUGE, "more than any tokenizer")
    case.fails(TO_FILE, "not https")
    assert case.ids(BAD_NAMES) == TINY_IDS
    found = [str(path) for path in case.home.rglob("*evil*")]
    assert not found, found


def sizes(case):
    case.fails(SHORT, "were announced")
    case.fails(LONG, "50 were announced")
    assert not [name for name in case.files() if name.endswith(".incomplete")]


def out_of_order(case):
    case.fails(BROKEN, "out of order (500)", "later")


def unreachable(case):
    case.fails("org/x", "cannot reach http://127.0.0.1:1",
               HF_ENDPOINT="http://127.0.0.1:1")
    case.fails(TO_NOBODY, "cannot reach")
    case.fails("org/x", "HF_ENDPOINT", HF_ENDPOINT="ftp://x")
    case.fails("org/x", "HF_HUB_OFFLINE is set", HF_HUB_OFFLINE="1")
    case.fails("org/x", "TRANSFORMERS_OFFLINE is set",
               TRANSFORMERS_OFFLINE="yes")


def stalls(case):
    case.fails(STALLS, "does not answer in time", HF_HUB_DOWNLOAD_TIMEOUT="1")


def slow(case):
    """What comes in small pieces with long breaks comes in the end."""
    assert case.ids(SLOW, HF_HUB_DOWNLOAD_TIMEOUT="1") == TINY_IDS


def full_disk(case):
    case.fails(FULL, "cannot write", "make room", "HF_HUB_CACHE", limit=4096)
    assert case.ids(FULL) == TINY_IDS


def read_only(case):
    (case.home / "hf").write_text("no folder")
    case.fails(LAYOUT, "cannot write", "HF_HUB_CACHE")


CASES = (real_tokenizer, secure, fetched_by_python, layout, token, cut, cut_always,
         cut_and_later, ruined, killed, named, at_once, stopped, busy, commands, moved, names, refusals,
         hostile, sizes, out_of_order, unreachable, stalls, slow, full_disk,
         read_only)


def job(options):
    source = options.tokenizers / "qwen3"
    MODELS[BIG].files = {name: (source / name).read_bytes() for name in
                         ("tokenizer.json", "tokenizer_config.json")}
    MODELS[BIG].files["config.json"] = b'{"model_type": "qwen3"}'
    hub = Hub(MODELS)
    failed = 0
    chosen = [case for case in CASES
              if not options.only or case.__name__ in options.only]
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(8) as workers:
        runs = [(case, workers.submit(case, Case(options, hub, folder)))
                for case in chosen]
        for case, run in runs:
            try:
                run.result()
                print(f"{case.__name__}: good")
            except (AssertionError, OSError, ValueError,
                    subprocess.SubprocessError) as problem:
                failed += 1
                print(f"{case.__name__}: FAILED: {problem!r}"[:2000])
    hub.close()
    print(f"{len(chosen) - failed} of {len(chosen)} cases good")
    return failed == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_arguments(parser)
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    options.tracebake = options.tracebake.resolve()
    harness.main(lambda: job(options))


if __name__ == "__main__":
    main()
