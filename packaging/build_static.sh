#!/usr/bin/env bash
# A program that needs nothing of the machine it runs on but the kernel: linked
# with musl and all libraries, position independent, in build/static.
#
# The libraries are built from the sources of Debian's own packages, which apt
# checks by their signatures. What cannot be in it is libcurl, which is loaded
# and not linked: such a program fetches nothing (-DTB_FETCH=OFF) and uses what
# is in the cache. Needs: gcc cmake ninja-build make pkg-config musl-tools
# dpkg-dev; `./dev static` installs them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$PWD/build/static
prefix=$work/prefix
specs=$work/musl.specs
flags="-specs=$specs"

# musl's own specs know no static program that can be anywhere in memory.
write_specs() {
    local own
    own=$(echo /usr/lib/*-linux-musl/musl-gcc.specs)
    sed -e 's/Scrt1\.o/rcrt1.o/' \
        -e 's/^-dynamic-linker .*/-static -pie --no-dynamic-linker -z text/' \
        "$own" >"$specs"
}

# With lists of its own: the machine's need not name sources.
fetch_sources() {
    local apt=$work/apt release
    release=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$work/source"
    printf 'deb-src [signed-by=%s] %s %s main\n' \
        /usr/share/keyrings/debian-archive-keyring.gpg \
        http://deb.debian.org/debian "$release" >"$apt/sources.list"
    local options=(-qq -o "Dir::Etc::sourcelist=$apt/sources.list"
        -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$apt/lists"
        -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=)
    apt-get "${options[@]}" update
    (cd "$work/source" && apt-get "${options[@]}" source --only-source \
        zlib libzstd xxhash utf8proc libonig)
}

# with_cmake <name> <source> [option...]
with_cmake() {
    local name=$1 source=$2
    shift 2
    cmake -S "$source" -B "$work/$name" -G Ninja -DCMAKE_C_COMPILER=gcc \
        -DCMAKE_C_FLAGS="$flags" -DCMAKE_BUILD_TYPE=Release \
        -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
        -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib "$@"
    cmake --build "$work/$name"
    cmake --install "$work/$name"
}

build_libraries() {
    local source=$work/source
    (cd "$source"/zlib-*/ && CC=gcc CFLAGS="$flags -O3 -fPIC" \
        ./configure --static --prefix="$prefix" && make libz.a install)
    make -C "$source"/libzstd-*/lib CC=gcc CFLAGS="$flags -O3 -fPIC" \
        ZSTD_LEGACY_SUPPORT=0 PREFIX="$prefix" \
        install-static install-includes install-pc
    with_cmake utf8proc "$source"/utf8proc-*/
    with_cmake onig "$source"/libonig-*/ -DBUILD_TEST=OFF
    # xxHash is compiled in, not linked.
    install -m 644 "$source"/xxhash-*/xxhash.h "$prefix/include"
    printf '%s\n' 'Name: libxxhash' 'Description: its header' \
        'Version: 0.8' "Cflags: -I$prefix/include" \
        >"$prefix/lib/pkgconfig/libxxhash.pc"
}

build_program() {
    PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig cmake -S . -B "$work/tracebake" \
        -G Ninja -DCMAKE_C_COMPILER=gcc -DCMAKE_C_FLAGS="$flags" \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON \
        -DTB_FETCH=OFF -DTB_TESTS=OFF
    cmake --build "$work/tracebake" --target tracebake
    strip -o "$work/tracebake.part" "$work/tracebake/tracebake"
    mkdir -p "$work/bin"
    mv "$work/tracebake.part" "$work/bin/tracebake"
}

main() {
    mkdir -p "$work"
    write_specs
    if [ ! -e "$prefix/lib/pkgconfig/libxxhash.pc" ]; then
        rm -rf "$work/source"
        fetch_sources
        build_libraries
    fi
    build_program
}

main
