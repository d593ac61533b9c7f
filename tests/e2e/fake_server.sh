#!/usr/bin/env bash
#
# fake_server: servers, reloads and control clients that behave as no real one can be brought to (fake_cases.c).

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# shellcheck disable=SC2034 # configuration reads it
DAEMON_KEYS=("workers = 1")

# service NAME LISTEN SERVER: the words for `configuration`
service() {
    WORDS+=("$1" "listen=127.0.0.1:$2" "nfs-port=$3" "mount-port=$3" source-ports=any)
}

# run_case CASE [OPTION...]: with one service and another, and a reload prepared that leaves the first, with the server NEXT
run_case() {
    local case=$1
    shift
    local port port2 server next=${NEXT:-}
    pick_ports port port2 server
    WORDS=()
    service one "$port" "${next:-$server}"
    configuration "$WORK/nfsaccel.conf.next" "${WORDS[@]}"
    WORDS=()
    service one "$port" "$server"
    service two "$port2" "$server"
    configuration "$WORK/nfsaccel.conf" "${WORDS[@]}"
    nfsaccel_start "$WORK/nfsaccel.conf" "$port2"
    "$TOOLS/e2e-fake_cases" "$case" "$@" --port "$port" --port2 "$port2" --server "$server" --pid "$NFSACCEL_PID" \
        --conf "$WORK/nfsaccel.conf" --control "$WORK/control" || FAILURES=$((FAILURES + 1))
}

# few_descriptors: the daemon may have 128
few_descriptors() {
    printf '#!/bin/sh\nulimit -n 128\nexec %q "$@"\n' "$NFSACCEL" >"$WORK/nfsaccel"
    chmod +x "$WORK/nfsaccel"
    NFSACCEL=$WORK/nfsaccel
}

# In a network of its own with 128 ports for clients, of which others use 90 already: a port that a connection shares with
# one of those could not be kept over a loss.
few_ports() {
    local others
    ip link set lo up
    echo '40000 40127' >/proc/sys/net/ipv4/ip_local_port_range
    make_work
    pick_ports others
    run_case resends --others "$others"
    check "few ports: the daemon ends in order" ended_well "$NFSACCEL_PID"
    finish
}

run_few_ports() {
    if ((EUID != 0)) || ! unshare -n true 2>/dev/null; then
        say "skip - few ports: no permission to make a network"
        return
    fi
    run_group unshare -n "$0" few-ports || FAILURES=$((FAILURES + 1))
}

main() {
    local case unused
    make_work
    if [[ ! -x $NFSACCEL ]]; then run_group build_in "$BUILD" all || die "the build failed"; fi
    for case in hangs-up babbles resends half-close removed control; do
        run_case "$case"
        check "$case: the daemon ends in order" ended_well "$NFSACCEL_PID"
    done
    run_few_ports
    pick_ports unused
    NEXT=$unused run_case retired
    check "a server that a reload took away does not keep the daemon from ending" ended_well "$NFSACCEL_PID"
    few_descriptors
    run_case crowd
    check "crowd: the daemon ends in order" ended_well "$NFSACCEL_PID"
    finish
}

if [[ ${1:-} == few-ports ]]; then few_ports; else main; fi
