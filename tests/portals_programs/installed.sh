#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# installed.sh BUILD SOURCE: what `cmake --install` puts somewhere finds itself there, and after it has been moved:
# programs are linked with libportals by pkg-config and by find_package(portals4), and run.
set -eu
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cmake --install "$build" --prefix "$work/first" >/dev/null
mv first moved
library=$(dirname "$(find moved -name portals4.pc)")
export PKG_CONFIG_PATH=$work/$library
# shellcheck disable=SC2046
cc -std=gnu17 -I "$source/../.." -o by_pkg_config "$source/put_ack.c" $(pkg-config --cflags --libs portals4)
mkdir cmake
cat >cmake/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(portals4 4.3 REQUIRED)
add_executable(by_cmake $source/put_ack.c)
target_include_directories(by_cmake PRIVATE $source/../..)
target_link_libraries(by_cmake PRIVATE portals4::portals)
END
cmake -S cmake -B cmake/build "-DCMAKE_PREFIX_PATH=$work/moved" >cmake.log 2>&1 &&
  cmake --build cmake/build >>cmake.log 2>&1 || { cat cmake.log; exit 1; }
for program in ./by_pkg_config cmake/build/by_cmake; do
  moved/bin/umwelt run -q --cpu none -np 2 "$program"
done
if grep -rIl "$work/first\|$build" moved; then
  echo "FAILED: the files above name where they were built or installed"
  exit 1
fi
