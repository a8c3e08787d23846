# 64-bit ARM from another machine: Debian's cross compiler and its C library,
# the other libraries from the folder that run.sh has filled, programs of the
# build and tests under qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR
  qemu-aarch64-static -L /usr/aarch64-linux-gnu)

get_filename_component(top "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(root "${top}/build/arm/root")
set(CMAKE_FIND_ROOT_PATH "${root}")
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${root}")
set(ENV{PKG_CONFIG_LIBDIR}
  "${root}/usr/lib/aarch64-linux-gnu/pkgconfig:${root}/usr/share/pkgconfig")

# pkg-config does not name what it takes for the compiler's own folders.
set(CMAKE_C_FLAGS_INIT
  "-isystem ${root}/usr/include -isystem ${root}/usr/include/aarch64-linux-gnu")
