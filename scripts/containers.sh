#!/bin/sh
# Runs a command with a container engine to talk to, and an image in it: containers.sh COMMAND...
# An engine that DOCKER_HOST names, or one here for which AGENT_IMAGE names an image, is used as it is; else, as root on
# Debian, podman serves Docker's API meanwhile, with an image made from MIRROR.
# Where there can be none the command runs all the same, and finds the reason in NO_ENGINE: that is no failure here.
set -eu
# What is said goes past the log of the steps.
exec 3>&2

: "${MIRROR:=http://deb.debian.org/debian}"
# Seconds: what each step may take before we do without.
INSTALL=120 BUILD=360 PROBE=60

say() { printf 'containers: %s\n' "$*" >&3; }

if [ -n "${DOCKER_HOST:-}" ] || { [ -n "${AGENT_IMAGE:-}" ] && [ -S /var/run/docker.sock ]; }; then
    export AGENT_IMAGE="${AGENT_IMAGE:-agent-with-kernel:2}"
    exec "$@"
fi

state=$(mktemp -d /tmp/containers-XXXXXX)
# apt downloads as another user.
chmod 711 "$state"
service=
# What is made of an image may hold mounts: nothing but its own file system is removed.
trap '[ -z "$service" ] || kill "$service" 2>/dev/null || :; rm -rf --one-file-system "$state"' EXIT
trap 'exit 130' INT TERM

# Each of these leaves its last words in the log where it fails; `without` tells them.
install() {
    if command -v podman && command -v runc && command -v mmdebstrap; then return 0; fi
    say "apt-get install podman runc mmdebstrap"
    timeout "$INSTALL" apt-get update -qq || :
    DEBIAN_FRONTEND=noninteractive timeout "$INSTALL" \
        apt-get install -y -qq --no-install-recommends podman runc mmdebstrap
}

build() {
    if podman image exists "$image"; then return 0; fi
    say "building $image from $MIRROR"
    TMPDIR="$state" timeout "$BUILD" mmdebstrap --variant=minbase --include=python3-ipykernel,python3-pip --dpkgopt=force-unsafe-io \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
        bookworm "$state/root.tar" "$MIRROR" || return 1
    podman import "$state/root.tar" "$image" || return 1
    rm "$state/root.tar"
}

probe() { timeout "$PROBE" podman run --rm --network none "$image" python3 -c 'import ipykernel'; }

serve() {
    podman system service --time=0 "$1" &
    service=$!
    tries=0
    until [ -S "$state/engine.sock" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || return 1
        sleep 0.1
    done
}

bring() {
    [ "$(id -u)" = 0 ] || { reason="only root can bring one"; return 1; }
    command -v apt-get >/dev/null 2>&1 || { reason="one can be brought on Debian only"; return 1; }
    cat >"$state/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
events_logger = "none"
CONF
    export CONTAINERS_CONF="$state/containers.conf"
    for step in install build probe "serve unix://$state/engine.sock"; do
        reason="\`${step%% *}\` failed"
        $step >>"$state/log" 2>&1 || { reason="$reason: $(tail -n 1 "$state/log")"; return 1; }
    done
}

image=${AGENT_IMAGE:-agent-with-kernel:2}
if bring; then
    export DOCKER_HOST="unix://$state/engine.sock" AGENT_IMAGE="$image"
else
    [ ! -s "$state/log" ] || tail -n 20 "$state/log" >&2
    unset AGENT_IMAGE
    export NO_ENGINE="there is no container engine: $reason"
    say "$NO_ENGINE"
fi
"$@" 3>&-
