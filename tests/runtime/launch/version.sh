#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# version.sh CMAKE VERSION.CMAKE: the version of a build has the commit where the source is a checkout, and the header
# with it is written only if it changes.
set -u
cmake=$1 script=$2
command -v git >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
header=$work/header.h
look() { "$cmake" -DSOURCE="$work/tree" -DVERSION=1.2 -DOUTPUT="$header" -P "$script"; }
expect() { # expect VERSION
  look && grep -qxE "#define UMWELT_VERSION \"$1\"" "$header" && return
  echo "FAILED: expected $1, got:"
  cat "$header"
  exit 1
}
git init -q "$work"                     # an archive inside somebody else's checkout
mkdir "$work/tree"
expect '1\.2'
git init -q "$work/tree"
touch "$work/tree/file"
git -C "$work/tree" add file
git -C "$work/tree" commit -q -m one
expect '1\.2 \(git [0-9a-f]{12}\)'
touch -d @1 "$header"
look
[ "$(stat -c %Y "$header")" = 1 ] || { echo "FAILED: written again without need"; exit 1; }
echo change >"$work/tree/file"
expect '1\.2 \(git [0-9a-f]{12}, changed since\)'
