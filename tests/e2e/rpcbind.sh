#!/usr/bin/env bash
#
# rpcbind: a server whose ports its rpcbind knows, and an rpcbind that does not answer (fake_cases.c). In a network of the
# test's own, since an rpcbind is always at port 111.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

PATIENCE=10 # seconds: what may be under way is bounded by 3 for a connection and 5 for an answer

if [[ ${1:-} != inside ]]; then
    if ((EUID != 0)) || ! unshare -n true 2>/dev/null; then
        say "skip - an rpcbind of the test's own: no permission to make a network"
        exit 77
    fi
    if [[ ! -x $NFSACCEL ]]; then run_group build_in "$BUILD" all || die "the build failed"; fi
    run_group unshare -n "$0" inside
    exit
fi

main() {
    local port nfs status=0
    ip link set lo up
    make_work
    pick_ports port nfs
    # shellcheck disable=SC2034 # configuration reads it
    DAEMON_KEYS=("workers = 1")
    configuration "$WORK/nfsaccel.conf" one "listen=127.0.0.1:$port" nfs-port=0 mount-port=0
    nfsaccel_start "$WORK/nfsaccel.conf" "$port"
    "$TOOLS/e2e-fake_cases" rpcbind --port "$port" --port2 "$nfs" --server 111 --pid "$NFSACCEL_PID" || FAILURES=1
    check "an rpcbind that does not answer holds up the daemon's end for a while only" \
        wait_until "$PATIENCE" "the end of the daemon" stopped "$NFSACCEL_PID"
    wait "$NFSACCEL_PID" || status=$?
    check "the daemon ends in order" test "$status" = 0
    finish
}

main
