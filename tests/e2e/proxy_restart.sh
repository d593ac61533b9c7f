#!/usr/bin/env bash
#
# proxy_restart: the proxy is killed and started again while clients work. They connect again, send again what has no
# reply, and see no error; handles that they had before stay valid, since they are the server's own.

# shellcheck disable=SC2317 # `check` runs functions

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

RESTARTS=5

restart_proxy() {
    stop "$NFSACCEL_PID" KILL
    sleep 0.3
    nfsaccel_start "$WORK/nfsaccel.conf" "$1"
}

# It is more often when a client reaches the socket of a process that is just ending.
connected_again() {
    local times
    while read -r times; do
        ((times >= RESTARTS)) || return 1
    done < <(grep -oP 'connected again \K[0-9]+' "$WORK/load.log")
}

main() {
    local port i
    e2e_begin
    pick_ports port
    configuration "$WORK/nfsaccel.conf" one "listen=127.0.0.1:$port" coherence=exclusive doubt=1s settle=1s
    nfsaccel_start "$WORK/nfsaccel.conf" "$port"
    load_start load "$port" --seconds 30 6
    for ((i = 0; i < RESTARTS; i++)); do
        sleep 1.2
        running "$LOAD_PID" || break
        restart_proxy "$port"
    done
    sleep 1.2
    load_stop load "$LOAD_PID"
    check "every client had to connect again, at least $RESTARTS times" connected_again
    finish
}

main "$@"
