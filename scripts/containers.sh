#!/bin/sh
# Runs a command with a container engine to talk to, and an image in it: containers.sh COMMAND...
# An engine that answers already is used as it is; else, as root on Debian, podman serves Docker's API meanwhile.
# Without one the command runs all the same: the tests that need an engine are skipped by name.
set -eu

: "${AGENT_IMAGE:=agent-with-kernel:latest}"
export AGENT_IMAGE

say() { printf 'containers: %s\n' "$*" >&2; }

answers() { [ -n "${DOCKER_HOST:-}" ] || [ -S /var/run/docker.sock ]; }

if answers || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    answers || say "there is no container engine, and none can be brought here"
    exec "$@"
fi

if ! command -v podman >/dev/null || ! command -v runc >/dev/null || ! command -v debootstrap >/dev/null; then
    say "apt-get install podman runc debootstrap"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends podman runc debootstrap >/dev/null
fi

state=$(mktemp -d /tmp/containers-XXXXXX)
service=
# The tree of an image holds device files and mounts of its own: nothing but its own file system is removed.
trap '[ -z "$service" ] || kill "$service" 2>/dev/null || :; rm -rf --one-file-system "$state"' EXIT
trap 'exit 130' INT TERM

cat >"$state/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
events_logger = "none"
CONF
export CONTAINERS_CONF="$state/containers.conf"

if ! podman image exists "$AGENT_IMAGE"; then
    say "building $AGENT_IMAGE"
    # debootstrap knows no virtual packages: the last two are what the kernel's own packages ask for by such names.
    packages=python3,python3-ipykernel,python3-cffi-backend,libboost-regex1.74.0
    debootstrap --variant=minbase --include="$packages" bookworm "$state/root" >"$state/log" 2>&1 ||
        chroot "$state/root" python3 -c 'import ipykernel' ||
        { tail -20 "$state/log" >&2; exit 1; }
    tar -C "$state/root" -c . | podman import - "$AGENT_IMAGE" >/dev/null
    rm -rf --one-file-system "$state/root"
fi

export DOCKER_HOST="unix://$state/engine.sock"
podman system service --time=0 "$DOCKER_HOST" >"$state/service.log" 2>&1 &
service=$!
tries=0
until [ -S "$state/engine.sock" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { cat "$state/service.log" >&2; exit 1; }
    sleep 0.1
done
"$@"
