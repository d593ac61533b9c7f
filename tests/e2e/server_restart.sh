#!/usr/bin/env bash
#
# server_restart: the server is killed and started again while clients work: they wait, and see no error. So does a
# client that comes when the proxy's connections to the server have gone stale while nobody used them.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

RESTARTS=4
DOWN_S=0.7
SILENCE_S=17

restart_server() {
    stop "$GANESHA_PID" KILL
    sleep "$DOWN_S"
    ganesha_run
}

restart_under_load() {
    local port=$1 i
    load_start load "$port" --service replays 4
    for ((i = 0; i < RESTARTS; i++)); do
        sleep 1.5
        running "$LOAD_PID" || break
        restart_server
    done
    sleep 1.5
    load_stop load "$LOAD_PID"
}

# The first call after it finds every connection dead. Clients don't lose theirs.
restart_while_idle() {
    local port=$1
    start idle "$TOOLS/e2e-idle" --path "$EXPORT" --port "$port"
    IDLE_PID=$STARTED
    wait_until 10 "the idle client" grep -q '^ready' "$WORK/idle.log"
    restart_server
    kill -s USR1 "$IDLE_PID"
    wait_until 30 "the idle client's calls" stopped "$IDLE_PID"
    wait "$IDLE_PID"
}

# A server that is there and says nothing, for longer than the proxy takes for a pause.
silence_under_load() {
    local port=$1
    load_start silence "$port" --service replays 4
    sleep 0.5
    kill -s STOP "$GANESHA_PID"
    sleep "$SILENCE_S"
    kill -s CONT "$GANESHA_PID"
    sleep 1
    load_stop silence "$LOAD_PID"
}

said_once_each() {
    local silent back
    silent=$(grep -c '(nfs) not responding, still trying$' "$WORK/nfsaccel.log") || true
    back=$(grep -c '(nfs) OK$' "$WORK/nfsaccel.log") || true
    say "# not responding: said $silent times; OK: $back times"
    ((silent == 1 && back == 1))
}

main() {
    local port
    e2e_begin
    pick_ports port
    configuration "$WORK/nfsaccel.conf" one "listen=127.0.0.1:$port" coherence=exclusive doubt=1s settle=1s
    nfsaccel_start "$WORK/nfsaccel.conf" "$port"
    step "restarts under load"
    restart_under_load "$port"
    step "a restart while nobody asks"
    check "idle connections: a server's restart is not noticed" restart_while_idle "$port"
    check "the daemon is still the same one" running "$NFSACCEL_PID"
    step "a server that says nothing"
    silence_under_load "$port"
    check "the log says once that the server does not respond, and once that it does again" said_once_each
    finish
}

main "$@"
