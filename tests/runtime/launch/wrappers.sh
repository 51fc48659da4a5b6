#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# wrappers.sh UMWELT REPORT CASE: a wrapper around the program REPORT, under mpirun and under umwelt: the same output
# and exit code.
set -u
umwelt=$1 report=$2 case=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/libtool-like" <<EOF
#! /bin/bash
program=\$(basename $report)
directory=\$(echo $report | sed 's,/[^/]*\$,,')
if test -f "\$directory/\$program"; then
  LD_LIBRARY_PATH="\$directory:\$LD_LIBRARY_PATH"
  export LD_LIBRARY_PATH WRAPPED=libtool
  exec "\$directory/\$program" \${1+"\$@"}
fi
exit 1
EOF
cat >"$work/around" <<EOF
#!/bin/sh
echo "before \$OMPI_COMM_WORLD_RANK"
$report "\$@"
echo "after \$OMPI_COMM_WORLD_RANK: \$?"
EOF
# As pyenv's shims are: env(1) is a tool, but what the shell that it becomes does is not.
sed '1s,.*,#!/usr/bin/env bash,' "$work/libtool-like" >"$work/by_env"
printf '#!/usr/bin/env bash\nset -e\nfiles=(`ls /`)\nexec "%s" "$@"\n' "$work/by_env" >"$work/by_env_twice"
chmod +x "$work/libtool-like" "$work/around" "$work/by_env" "$work/by_env_twice"
options=() ranks=2
case $case in
  libtool) command=("$work/libtool-like") ;;
  by_env | by_env_twice) command=("$work/$case") ;;
  timeout_script) command=(timeout 60 "$work/by_env") ;;
  script_of_timeout) command=(bash -c "echo \$(basename /tmp/before); exec timeout 60 $report") ;;
  around) command=("$work/around") ;;
  script_of_scripts) command=(sh -c "exec $work/around") ;;
  env) command=(env -u WRAPPED WRAPPED=env "$report") ;;
  env_without_environment)
    kept="\$(env | grep -E '^(OMPI|PMI|SLURM|HOME|TMPDIR|LD_LIBRARY)[^ ]*$')"
    command=(bash -c "exec env -i WRAPPED=none $kept $report")
    ;;
  nice) command=(nice -n 1 "$report") ;;
  timeout) command=(timeout 60 "$report") ;;
  code) command=(sh -c "$report 3; exit \$((\$? + 4))") ;;
  name) command=(bash -c "exec -a renamed $report") ;;
  directories)
    own="$work/in-\$OMPI_COMM_WORLD_RANK"
    command=(sh -c "mkdir -p $own && cd $own && WRAPPED=\$OMPI_COMM_WORLD_RANK $report")
    ;;
  streams)
    own="$work/out-\$OMPI_COMM_WORLD_RANK"
    command=(sh -c "$report 2>&1 >$own | sed 's/stderr/a pipe/'; cat $own")
    ;;
  stdin) command=(sh -c "echo line | $report") ;;
  closed) command=(sh -c "$report <&- 2>&-") ;;
  programs) options=(-np 2 "$report" :) command=(sh -c "$report") ;;
  workers) command=("$work/libtool-like") workers=(--workers 2) ;;
  *) echo "no case $case" >&2 && exit 2 ;;
esac
run() { # TAG LAUNCHER...
  local tag=$1 stream
  shift
  # A pipe: what two cat(1) copy to one file at a time overwrites each other (copy_file_range(2) does not lock its
  # position).
  echo "from outside" | "$@" 2>"$work/$tag.stderr" | cat >"$work/$tag.stdout"
  local code=${PIPESTATUS[1]}
  # mpirun now and then mixes what two ranks write to one stream, but not in their files
  if [ -e "$work/$tag.files" ]; then
    for stream in stdout stderr; do
      find "$work/$tag.files" -name $stream -exec cat {} + >"$work/$tag.$stream"
    done
  fi
  { cat "$work/$tag.stdout" && echo "exit code $code"; } | sort >"$work/$tag.out"
  grep '^rank . to' "$work/$tag.stderr" | sort >"$work/$tag.lines"
}
run emulated "$umwelt" run -q "${workers[@]}" "${options[@]}" -np 2 "${command[@]}"
if [[ $(mpirun.openmpi --version) == *"(OpenRTE) 4."* ]]; then
  options=(--output-filename "$work/native.files" "${options[@]}")
else # its mpirun does not make them, and 5.0.7 dies of a signal when it is to start two programs; tcp grumbles, too
  options=(--mca btl "self,sm")
  if [ $case = programs ]; then
    ranks=4
    command=(sh -c "[ \$OMPI_COMM_WORLD_RANK -ge 2 ] || exec $report; $report")
  fi
  command=("$(dirname "$0")/../../mpi/rank_files.sh" "$work/native.files" "${command[@]}")
fi
run native mpirun.openmpi --allow-run-as-root --oversubscribe "${options[@]}" -np "$ranks" "${command[@]}"
diff "$work/native.out" "$work/emulated.out" && diff "$work/native.lines" "$work/emulated.lines" &&
  [ "$(wc -l <"$work/emulated.out")" -ge 3 ] && exit 0
echo "--- standard error"
cat "$work/emulated.stderr"
exit 1
