#!/usr/bin/env bash
# Builds libhardstand and installs it: headers, libraries, files for pkg-config and CMake.
#
#   crates/capi/install.sh PREFIX                    # for instance ~/.local or /usr/local
#   crates/capi/install.sh PREFIX --features tls     # further arguments go to cargo build
#   HARDSTAND_LIBRARIES=DIR crates/capi/install.sh PREFIX     # libraries that are built already
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,6s/^# \?//p' "$0"; exit 2; }
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")"

if [ -z "${HARDSTAND_LIBRARIES:-}" ]; then
  cargo build --locked --release -p hardstand-capi "$@"
  target=$(cargo metadata --locked --no-deps --format-version 1 |
    sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
  HARDSTAND_LIBRARIES=$target/release
fi
version=$(sed -n 's/^version = "\(.*\)"/\1/p' ../../Cargo.toml)

install -d "$prefix"/include "$prefix"/lib/pkgconfig "$prefix"/lib/cmake/hardstand
install -m 644 include/hardstand.h include/hardstand.hpp "$prefix"/include
strip --strip-debug -o "$prefix"/lib/libhardstand.so.1 "$HARDSTAND_LIBRARIES"/libhardstand_c.so
ln -sf libhardstand.so.1 "$prefix"/lib/libhardstand.so
strip --strip-debug -o "$prefix"/lib/libhardstand.a "$HARDSTAND_LIBRARIES"/libhardstand_c.a
sed "s/@VERSION@/$version/" hardstand.pc.in >"$prefix"/lib/pkgconfig/hardstand.pc
install -m 644 hardstandConfig.cmake "$prefix"/lib/cmake/hardstand
sed "s/@VERSION@/$version/; s/@MAJOR_MINOR@/${version%.*}/" hardstandConfigVersion.cmake.in \
  >"$prefix"/lib/cmake/hardstand/hardstandConfigVersion.cmake

echo "libhardstand $version is in $prefix; for pkg-config:"
echo "export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib"
