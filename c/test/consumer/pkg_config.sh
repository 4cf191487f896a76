#!/bin/sh
# Builds main.c as `cc main.c $(pkg-config --cflags --libs uvbatch)` does, and once more against the static library; both in
# C++ as well, if there is a compiler for it.
# usage: pkg_config.sh PREFIX VERSION, with CC, CXX, PKG_CONFIG, LIBDIR, UV_INCLUDE_DIR and UV_LIBRARY in the environment
set -eu
prefix=$1 version=$2
sources=$(dirname "$0")
libdir=$prefix/$LIBDIR
program=$prefix/../with_pkg_config

case $PKG_CONFIG in *-NOTFOUND) echo "needs pkg-config" >&2 && exit 77 ;; esac
export PKG_CONFIG_PATH="$libdir/pkgconfig:${PKG_CONFIG_PATH:-}"

if ! "$PKG_CONFIG" --exists libuv; then
  if [ ! -f "$UV_LIBRARY" ]; then echo "pkg-config does not know libuv" >&2 && exit 77; fi
  # One that was unpacked somewhere: say where.
  mkdir -p "$prefix/pc"
  printf 'Name: libuv\nDescription: libuv\nVersion: 1.44\nCflags: -I%s\nLibs: %s -Wl,-rpath,%s\n' \
    "$UV_INCLUDE_DIR" "$UV_LIBRARY" "$(dirname "$UV_LIBRARY")" > "$prefix/pc/libuv.pc"
  export PKG_CONFIG_PATH="$PKG_CONFIG_PATH:$prefix/pc"
fi

[ "$("$PKG_CONFIG" --modversion uvbatch)" = "$version" ]
flags=$("$PKG_CONFIG" --cflags uvbatch)
shared=$("$PKG_CONFIG" --libs uvbatch)
# Word splitting is meant: these are lists of arguments.
build_and_run() {
  $CC $flags "$sources/main.c" -o "$program" "$@"
  "$program" "$version"
  if [ -n "${CXX:-}" ]; then
    $CXX $flags "$sources/main.cpp" -o "$program" "$@"
    "$program" "$version"
  fi
}
build_and_run $shared "-Wl,-rpath,$libdir"

static=$("$PKG_CONFIG" --static --libs uvbatch | sed "s| -luvbatch| $libdir/libuvbatch.a|")
case $static in *libuvbatch.a*) ;; *) echo "no static library in: $static" >&2 && exit 1 ;; esac
build_and_run $static
