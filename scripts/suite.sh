#!/bin/sh
# Runs tests, and what failed once more by itself: suite.sh PYTEST ARGUMENTS...
# Many tests drive kernels, browsers and deadlines beside one another. What fails only beside others is named and
# passes; what fails by itself, too, fails the suite, and so do many failures at once.
set -u
pytest=$1
shift
: "${FEW:=12}"

seen=$(mktemp)
trap 'rm -f "$seen"' EXIT

"$pytest" "$@"
status=$?
# 1 is pytest's code for tests that failed; nothing else is worth a second look.
[ "$status" -eq 1 ] || exit "$status"

"$pytest" "$@" -n 0 --no-cov --last-failed --last-failed-no-failures none --collect-only --quiet >"$seen" 2>&1
count=$(grep -c '::' "$seen")
if [ "$count" -eq 0 ] || [ "$count" -gt "$FEW" ]; then
    exit "$status"
fi
printf '\nsuite: %s failed beside others; by itself:\n' "$count"
grep '::' "$seen"
"$pytest" "$@" -n 0 --cov-append --last-failed --last-failed-no-failures none || exit
printf '\nsuite: passed by themselves, and failed beside others (see above):\n'
grep '::' "$seen"
