#!/usr/bin/env bash
#
# server_restart: the server is killed and started again while clients work: they wait, and see no error. So does a
# client that comes when the proxy's connections to the server have gone stale while nobody used them.

# shellcheck disable=SC2317 # `check` runs functions

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
    load_start load "$port" 4 replays
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

# source_ports PORT: of the connections to it here. 127.0.0.1 is in hexadecimal; 01: established.
source_ports() {
    local hex
    printf -v hex '0100007F:%04X' "$1"
    awk -v server="$hex" '$3 == server && $4 == "01" { split($2, own, ":"); print own[2] }' /proc/net/tcp |
        while read -r hex; do say $((16#$hex)); done
}

has_source_ports() { (($(source_ports "$1" | wc -l) >= $2)); }

# The relay drops what it has taken; a connection may be there before that.
all_dropped() {
    relay_ask "$2" drop >/dev/null
    (($(source_ports "$1" | wc -l) == 0))
}

# lose_links RELAY CONTROL: the proxy loses its connections while it does not look. It has to be continued.
lose_links() {
    kill -s STOP "$NFSACCEL_PID"
    wait_until 10 "the end of all connections" all_dropped "$1" "$2"
}

# While the proxy does not look, its connections are reset, and somebody else connects from the ports that they had.
stolen_source_ports() {
    local port=$1 relay=$2 control=$3 links=$4 ports thief status=0
    wait_until 10 "connections" has_source_ports "$relay" "$links" || return 1
    lose_links "$relay" "$control" || status=1 # connections after the first have ports that can be bound again
    kill -s CONT "$NFSACCEL_PID"
    wait_until 10 "new connections" has_source_ports "$relay" "$links" || return 1
    mapfile -t ports < <(source_ports "$relay")
    lose_links "$relay" "$control" || status=1
    start thief "$TOOLS/e2e-thief" "$relay" "${ports[@]}"
    thief=$STARTED
    wait_until 10 "the thief" grep -q "^ready ${#ports[@]}" "$WORK/thief.log" || status=1
    kill -s CONT "$NFSACCEL_PID"
    wait_until 10 "connections from other ports" has_source_ports "$relay" $((2 * links)) || status=1
    has_answer "$port" || status=1
    stop "$thief"
    return "$status"
}

# has_answer PORT: to a call that is never answered from cache
has_answer() { [[ $(timeout 15 "$TOOLS/e2e-probe" --path "$EXPORT" --port "$1" fsstat) == NFS3_OK ]]; }

# A server that is there and says nothing, for longer than the proxy takes for a pause.
silence_under_load() {
    local port=$1
    load_start silence "$port" 4 replays
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
    local port relayed_port relay control
    e2e_begin
    pick_ports port relayed_port relay control
    relay_start relay --control "$control" "$relay" "127.0.0.1:$GANESHA_PORT"
    DAEMON_KEYS=(workers=2)
    configuration "$WORK/nfsaccel.conf" one "listen=127.0.0.1:$port" coherence=exclusive doubt=1s settle=1s \
        relayed "listen=127.0.0.1:$relayed_port" connections=1 "nfs-port=$relay" "mount-port=$GANESHA_MOUNT_PORT"
    nfsaccel_start "$WORK/nfsaccel.conf" "$port"
    step "restarts under load"
    restart_under_load "$port"
    step "a restart while nobody asks"
    check "idle connections: a server's restart is not noticed" restart_while_idle "$port"
    check "the daemon is still the same one" running "$NFSACCEL_PID"
    step "source ports that are taken meanwhile"
    check "other source ports are taken when the old ones are not to be had" \
        stolen_source_ports "$relayed_port" "$relay" "$control" 2
    step "a server that says nothing"
    silence_under_load "$port"
    check "the log says once that the server does not respond, and once that it does again" said_once_each
    finish
}

main "$@"
