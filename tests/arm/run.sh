#!/usr/bin/env bash
# The tests that differ on a 64-bit ARM machine, on any other: all is built with
# Debian's cross compiler and runs under qemu. The unit tests hold vector code
# (NEON here) equal to its portable twins, the corpora of the fuzz targets and
# the golden cases run the whole. `./dev arm` installs what this needs:
# gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static, and what the
# tests need anyway.
#
# The libraries are packages of arm64 that are unpacked into build/arm/root, so
# that nothing foreign is installed on the machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

work=$PWD/build/arm
root=$work/root
libraries="zlib1g zlib1g-dev libzstd1 libzstd-dev libxxhash-dev
    libutf8proc2 libutf8proc-dev libonig5 libonig-dev libcmocka0 libcmocka-dev
    libcurl4-openssl-dev"

# With lists of its own: the machine's need not know the architecture.
fetch_libraries() {
    local apt=$work/apt release package
    release=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
    rm -rf "$root"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/packages"
    printf 'deb [arch=arm64 signed-by=%s] %s %s main\n' \
        /usr/share/keyrings/debian-archive-keyring.gpg \
        http://deb.debian.org/debian "$release" >"$apt/sources.list"
    local options=(-qq -o "Dir::Etc::sourcelist=$apt/sources.list"
        -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$apt/lists"
        -o Dir::State::status=/dev/null -o "Dir::Cache=$apt/cache"
        -o APT::Architecture=arm64 -o APT::Architectures::=arm64
        -o APT::Sandbox::User=)
    apt-get "${options[@]}" update
    # shellcheck disable=SC2086
    (cd "$apt/packages" && apt-get "${options[@]}" download $libraries)
    for package in "$apt"/packages/*.deb; do
        dpkg-deb -x "$package" "$root.part"
    done
    mv "$root.part" "$root"
}

build() {
    cmake -S . -B "$work/build" -G Ninja \
        -DCMAKE_TOOLCHAIN_FILE="$PWD/tests/arm/toolchain.cmake" \
        -DCMAKE_BUILD_TYPE=Release -DTB_WERROR=ON -DTB_TESTS=ON >"$work/log"
    cmake --build "$work/build" >>"$work/log" || { cat "$work/log"; return 1; }
}

# What runs the program, for tests that are no programs of the build.
write_runner() {
    printf '#!/bin/sh\nexec qemu-aarch64-static -L %s %s "$@"\n' \
        /usr/aarch64-linux-gnu "$work/build/tracebake" >"$work/tracebake"
    chmod +x "$work/tracebake"
}

main() {
    mkdir -p "$work"
    [ -d "$root" ] || fetch_libraries
    build
    write_runner
    ctest --test-dir "$work/build" --output-on-failure -j "$(nproc)" \
        -R '^(unit|fuzz)\.' --timeout 1200
    local program=(--tracebake "$work/tracebake"
        --tokenizers build/tokenizers)
    .venv/bin/python tests/golden/run_golden.py "${program[@]}"
    .venv/bin/python tests/oracle/golden_check.py "${program[@]}"
}

main
