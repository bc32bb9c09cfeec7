#!/bin/sh
# Sets up what one target of the Makefile needs: setup.sh venv | install GROUP | browser | sandbox | aimock | lock
# Reads PYTHON (which Python the environment is made from) and VENV (where it is).
set -eu
: "${PYTHON:=python3}" "${VENV:=.venv}"

say() { printf 'set-up: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# Whether this machine lets us bring what is missing.
debian_root() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }

apt_install() {
    say "apt-get install $*"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

make_venv() {
    command -v "$PYTHON" >/dev/null 2>&1 || fail "there is no $PYTHON; choose one by \`make PYTHON=/path/to/python3.11\`"
    "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "$("$PYTHON" --version) is too old: Python 3.11 or newer is needed; choose one by \`make PYTHON=python3.12\`"
    if ! "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; then
        # Debian keeps these two out of its python3, in a package that carries the version in its name.
        package=$("$PYTHON" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
        debian_root || fail "$PYTHON has no venv module; on Debian and Ubuntu, \`apt-get install $package\` brings it"
        apt_install "$package"
    fi
    "$PYTHON" -m venv "$VENV"
    # The first pip that reads dependency groups is 25.1.
    "$VENV/bin/python" -m pip install --quiet --upgrade 'pip>=25.1'
}

install_group() {
    say "installing the project and its group \"$1\" into $VENV"
    "$VENV/bin/python" -m pip install --quiet --constraint requirements-dev.lock --group "$1" --editable .
}

# Without a browser the tests that need one are skipped by name, and give the reason: that is no failure here.
get_browser() {
    for name in "${CHROMIUM:-chromium}" chromium chromium-browser google-chrome google-chrome-stable; do
        if command -v "$name" >/dev/null 2>&1; then return 0; fi
    done
    if debian_root; then
        apt_install chromium fonts-dejavu-core fonts-liberation
    else
        say "there is no Chromium, so the browser tests will be skipped;" \
            "on Debian, \`apt-get install chromium fonts-dejavu-core fonts-liberation\` brings it"
    fi
}

# Without it, too, the tests that need it are skipped by name.
get_sandbox() {
    if [ "$(uname)" != Linux ] || command -v bwrap >/dev/null 2>&1; then return 0; fi
    if debian_root; then
        apt_install bubblewrap
    else
        say "there is no bwrap, so the tests of its sandbox will be skipped;" \
            "on Debian, \`apt-get install bubblewrap\` brings it"
    fi
}

# A model server that others wrote; without npm, the tests beside it are skipped by name.
get_aimock() {
    if [ -d build/aimock/node_modules ]; then return 0; fi
    if command -v npm >/dev/null 2>&1; then
        npm install --silent --no-audit --no-fund --prefix build/aimock @copilotkit/aimock@1.43.0 >/dev/null
    else
        say "there is no npm, so the tests beside a server of others will be skipped"
    fi
}

# What the newest of everything is, found in an environment that holds nothing else.
write_lock() {
    VENV=$(mktemp -d)
    trap 'rm -rf "$VENV"' EXIT
    make_venv
    "$VENV/bin/python" -m pip install --quiet --group dev --editable .
    {
        echo "# What was tested together; \`make lock\` writes this file, and every target installs by it."
        "$VENV/bin/python" -m pip freeze --exclude-editable
    } >requirements-dev.lock
}

case "${1:-}" in
    venv) make_venv ;;
    install) install_group "$2" ;;
    browser) get_browser ;;
    sandbox) get_sandbox ;;
    aimock) get_aimock ;;
    lock) write_lock ;;
    *) fail "usage: setup.sh venv | install GROUP | browser | sandbox | aimock | lock" ;;
esac
