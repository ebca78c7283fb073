#!/bin/sh
# Everything that the project needs on this machine: Debian packages (as root), the virtual environment from the lock.
# Idempotent; says what it does before it does it; a failure is one sentence with the way out.
# With --tests also what only tests need: a browser, and the servers of the server profile.
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*" >&2; }
stop() { say "error: $*"; exit 1; }

need=""
command -v git >/dev/null 2>&1 || need="$need git"
command -v bwrap >/dev/null 2>&1 || need="$need bubblewrap"
ldconfig -p 2>/dev/null | grep -q 'libseccomp\.so\.2' || need="$need libseccomp2"
command -v setpriv >/dev/null 2>&1 || need="$need util-linux"
if [ "${1:-}" = --tests ]; then
    command -v chromedriver >/dev/null 2>&1 || need="$need chromium chromium-driver"
    # Neo4j is started from its jars, Weaviate is built (infra/neo4j/README.md, infra/weaviate/README.md)
    command -v java >/dev/null 2>&1 && command -v javac >/dev/null 2>&1 || need="$need default-jdk-headless"
    # The docker driver's own daemon, and what makes the image of its boxes
    command -v dockerd >/dev/null 2>&1 || need="$need docker.io"
    command -v debootstrap >/dev/null 2>&1 || need="$need debootstrap"
    # Machines of the microvm driver; their guest is made by the driver (infra/microvm/README.md)
    command -v qemu-system-x86_64 >/dev/null 2>&1 || [ "$(uname -m)" != x86_64 ] || need="$need qemu-system-x86"
    command -v mvn >/dev/null 2>&1 || need="$need maven"
    command -v go >/dev/null 2>&1 || need="$need golang-go"
fi
python=$(command -v python3 || true)
[ -n "$python" ] || need="$need python3 python3-venv"
# The ebpf tracer is root's alone, and an extra: where there is no such package, `smp doctor` says what is missing.
if [ "$(id -u)" = 0 ] && [ "$(uname -m)" = x86_64 ] && command -v apt-get >/dev/null 2>&1; then
    [ -d /usr/lib/python3/dist-packages/bcc ] || need="$need python3-bpfcc"
    ls -d /usr/src/linux-headers-*-common >/dev/null 2>&1 || [ -d "/lib/modules/$(uname -r)/build" ] || need="$need linux-headers-amd64"
fi
if [ -n "$python" ]; then
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        stop "$python is older than 3.11; put a newer python3 first on PATH"
    "$python" -c 'import ensurepip, venv' 2>/dev/null || need="$need python3-venv"
fi
if [ -n "$need" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        say "installing with apt:$need"
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -qq >&2 || stop "apt-get update failed; check the package sources and run this again"
        # shellcheck disable=SC2086 # a list of words
        apt-get install -y -qq --no-install-recommends $need >&2 || stop "apt-get install$need failed; run it by hand and look"
    else
        stop "missing:$need; install with: sudo apt-get install$need"
    fi
fi
python=$(command -v python3)

stamp=".venv/installed-$(cat requirements.lock pyproject.toml | sha256sum | cut -c1-16)"
if [ ! -e "$stamp" ]; then
    say "installing the locked Python packages into .venv (once, about 500 MB)"
    [ -x .venv/bin/python ] && .venv/bin/python -c '' 2>/dev/null || { rm -rf .venv; "$python" -m venv .venv; }
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock >&2 ||
        stop "pip could not install requirements.lock; check the network and run this again"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . >&2 ||
        stop "pip could not install the project itself"
    rm -f .venv/installed-*
    touch "$stamp"
fi

# The boxes run CPython 3.13 or 3.12 where pyenv or PATH has one, else from a Debian root made once, else the platform's own.
.venv/bin/python infra/python/ensure.py >/dev/null || stop "no interpreter for the sandbox; see infra/python/README.md"

# Servers that contract tests need come from package registries, once; beside the first stages, which need none of them.
if [ "${1:-}" = --tests ]; then
    log="${TMPDIR:-/tmp}/smp-servers-$(id -u).log"
    nohup nice -n 10 .venv/bin/python infra/servers.py provide >"$log" 2>&1 &
fi
