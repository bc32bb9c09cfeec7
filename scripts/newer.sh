#!/bin/sh
# Runs a command with the newest Python here that is not `python3` itself: newer.sh COMMAND...
# PYTHON names it, and VENV the environment that it is to have; where there is none, nothing is run, and that is said.
set -u
: "${PYENV_ROOT:=$HOME/.pyenv}"

own=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
for version in 3.14 3.13 3.12; do
    [ "$version" != "$own" ] || continue
    # pyenv keeps each release in a folder of its own, and only some of them on the path.
    for python in "$(command -v "python$version")" "$PYENV_ROOT"/versions/"$version".*/bin/python; do
        if [ -x "$python" ] && "$python" -c "import sys, venv; sys.exit('%d.%d' % sys.version_info[:2] != '$version')"; then
            echo "newer: $python" >&2
            PYTHON=$python VENV=.venv-$version exec "$@"
        fi
    done
done
echo "newer: there is no Python newer than $own here" >&2
