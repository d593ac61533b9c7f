#!/usr/bin/env bash
#
# reload: what an operator does to a running daemon, while clients work: a changed configuration comes into force as a
# whole or not at all and no client notices, counters and flush, services that share a cache, and an end in order.

# shellcheck disable=SC2317 # `check` runs functions

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

CONF= # the daemon's

# log_gains PATTERN COMMAND...: the command makes the daemon log a line that matches
log_gains() {
    local pattern=$1 before
    shift
    before=$(grep -cE -- "$pattern" "$WORK/nfsaccel.log") || true
    "$@"
    wait_until 10 "the log: $pattern" log_has_more "$pattern" "$before"
}

log_has_more() {
    local now
    now=$(grep -cE -- "$1" "$WORK/nfsaccel.log") || true
    ((now > $2))
}

hangup() { kill -s HUP "$NFSACCEL_PID"; }

# says STATUS PORT WHAT...: what a call through that port must be answered with
says() {
    local status=$1 port=$2 said
    shift 2
    said=$(through "$port" probe "$@") || said="no reply"
    [[ $said == "$status" ]] && return
    complain "port $port, $*: $said, not $status"
    return 1
}

port_closed() { ! port_open "$1"; }

# configure KEY=VALUE...: keys of service two, beside the ones that always stand
configure() {
    configuration "$CONF" one "listen=127.0.0.1:$PORT_ONE$EXTRA_LISTEN" coherence=exclusive "${KEYS_ONE[@]}" \
        two "listen=127.0.0.1:$PORT_TWO" coherence=exclusive "$@" "${MORE[@]}"
}
EXTRA_LISTEN=
KEYS_ONE=(age-max=10s doubt=0)
MORE=()

# ---- reload

changed_age() {
    KEYS_ONE=(age-max=20s age-min=2s doubt=0)
    configure
    log_gains 'reloaded: 2 services' hangup
}

# The file is named with the line of the mistake, and what it is.
broken_file() {
    local line
    cp "$CONF" "$CONF.good"
    configure read-only=yes coherense=shared
    line=$(grep -n coherense "$CONF" | cut -d : -f 1)
    log_gains "not reloaded.*nfsaccel\\.conf:$line: .*coherense" hangup || return 1
    says NFS3_OK "$PORT_TWO" create "not-read-only" || return 1
    cp "$CONF.good" "$CONF"
}

added_key() {
    configure read-only=yes
    log_gains 'reloaded: ' hangup &&
        says NFS3ERR_ROFS "$PORT_TWO" create "read-only" && says NFS3_OK "$PORT_ONE" create "one-is-not"
}

removed_key() {
    configure
    log_gains 'reloaded: ' hangup && says NFS3_OK "$PORT_TWO" create "again"
}

twice_quickly() {
    local i
    for i in {1..5}; do
        configure read-only=yes
        hangup
        configure
        log_gains 'reloaded: ' hangup || return 1
    done
    sleep 0.5 # there may be one more to come, of the same file
    says NFS3_OK "$PORT_TWO" create "twice-$i"
}

added_service() {
    EXTRA_LISTEN=", 127.0.0.2:$PORT_EXTRA"
    MORE=(three "listen=127.0.0.1:$PORT_THREE")
    configure
    log_gains 'reloaded: 3 services' hangup || return 1
    says NFS3_OK "$PORT_THREE" getattr && says NFS3_OK "$PORT_EXTRA" --host 127.0.0.2 getattr
}

removed_service() {
    EXTRA_LISTEN=
    MORE=()
    configure
    log_gains 'reloaded: 2 services' hangup || return 1
    wait_until 5 "closing a removed service's port" port_closed "$PORT_THREE" || return 1
    ! through "$PORT_EXTRA" probe --host 127.0.0.2 getattr 2>/dev/null || return 1
    says NFS3_OK "$PORT_ONE" getattr
}

# A port that somebody else has: nothing of the new configuration comes into force.
address_in_use_on_reload() {
    MORE=(three "listen=127.0.0.1:$GANESHA_PORT")
    configure read-only=yes
    log_gains "127\\.0\\.0\\.1:$GANESHA_PORT" hangup || return 1
    MORE=()
    says NFS3_OK "$PORT_TWO" create "no-third-one" || return 1
    configure
    log_gains 'reloaded: ' hangup
}

reload_under_load() {
    load_start load "$PORT_ONE" 3
    sleep 0.5
    check "a changed age" changed_age
    check "a broken file changes nothing; the log names file, line and cause" broken_file
    check "an added key" added_key
    check "a removed key means its default" removed_key
    check "twice quickly: the last file counts" twice_quickly
    check "an added service, and an added address" added_service
    check "a removed service, and a removed address" removed_service
    check "an address in use changes nothing" address_in_use_on_reload
    sleep 0.5
    load_stop load "$LOAD_PID"
}

# ---- commands

# exits STATUS PATTERN COMMAND...: with this status, and, unless PATTERN is empty, a line on stderr that matches
exits() {
    local want=$1 pattern=$2 status=0
    shift 2
    timeout 20 "$@" >"$WORK/out" 2>"$WORK/err" || status=$?
    ((status == want)) && { [[ -z $pattern ]] || grep -qE -- "$pattern" "$WORK/err"; } && return
    complain "$*: status $status, not $want; stderr: $(head -c 300 "$WORK/err")"
    return 1
}

check_command() {
    exits 0 '' "$NFSACCEL" serve -c "$CONF" --check || return 1
    sed 's/^nfs-port=.*/nfs-port = many/' "$CONF" >"$WORK/bad.conf"
    exits 2 'bad\.conf:[0-9]+: .*nfs-port' "$NFSACCEL" serve -c "$WORK/bad.conf" --check || return 1
    exits 2 'missing\.conf' "$NFSACCEL" serve -c "$WORK/missing.conf" --check
}

bad_command_lines() {
    exits 2 usage "$NFSACCEL" && exits 2 usage "$NFSACCEL" serve && exits 2 usage "$NFSACCEL" dance &&
        exits 2 usage "$NFSACCEL" stat --jason && exits 2 usage "$NFSACCEL" serve -c "$CONF" --json
}

stat_json() {
    exits 0 '' "$NFSACCEL" stat -c "$CONF" --json || return 1
    jq -e '
        (.services | map(.name)) == ["one", "two"]
        and all(.services[].procedures; length == 22
            and all(.[]; all(.calls, .hits, .forwarded; type == "number")))
        and (.services[0].procedures | .GETATTR.hits > 0 and .GETATTR.calls >= .GETATTR.hits + .GETATTR.forwarded
            and .WRITE.hits == 0 and .WRITE.calls == .WRITE.forwarded)
        and (.cache | all(.objects, .names, .verdicts, .bytes; type == "number") and .objects > 0)' "$WORK/out" >/dev/null
}

stat_table() {
    exits 0 '' "$NFSACCEL" stat -c "$CONF" && grep -q GETATTR "$WORK/out" && grep -q '\btwo\b' "$WORK/out"
}

# objects: how many are cached
objects() { "$NFSACCEL" stat -c "$CONF" --json | jq .cache.objects; }

flush() {
    says NFS3_OK "$PORT_ONE" getattr || return 1
    (($(objects) > 0)) || return 1
    exits 0 '' "$NFSACCEL" flush -c "$CONF" || return 1
    (($(objects) == 0)) || return 1
    says NFS3_OK "$PORT_TWO" getattr || return 1
    (($(objects) > 0)) || return 1
    exits 0 '' "$NFSACCEL" flush -c "$CONF" two || return 1
    (($(objects) == 0)) || return 1
    exits 1 'nobody' "$NFSACCEL" flush -c "$CONF" nobody
}

without_daemon() {
    sed "s|^control = .*|control = $WORK/nobody|" "$CONF" >"$WORK/other.conf"
    exits 1 "$WORK/nobody" "$NFSACCEL" stat -c "$WORK/other.conf" &&
        exits 1 "$WORK/nobody" "$NFSACCEL" flush -c "$WORK/other.conf"
}

address_in_use() {
    sed "s|^control = .*|control = $WORK/control-2|" "$CONF" >"$WORK/second.conf"
    exits 1 "127\\.0\\.0\\.1:$PORT_ONE.*in use" "$NFSACCEL" serve -c "$WORK/second.conf" || return 1
    exits 1 "$WORK/control" "$NFSACCEL" serve -c "$CONF" || return 1
    says NFS3_OK "$PORT_ONE" getattr && exits 0 '' "$NFSACCEL" stat -c "$CONF"
}

# ---- the end

# ends_in_order PID: by SIGTERM, with status 0
ends_in_order() {
    local status=0
    kill -s TERM "$1"
    wait_until 20 "the daemon's end" stopped "$1" || return 1
    wait "$1" || status=$?
    ((status == 0)) || complain "the daemon's exit status is $status"
    ((status == 0))
}

# The server is far away, so that calls are under way when the daemon is told to end.
drain() {
    local far_nfs far_mount control client status=0
    pick_ports far_nfs far_mount control
    relay_start relay --delay-ms 600 --control "$control" \
        "$far_nfs" "127.0.0.1:$GANESHA_PORT" "$far_mount" "127.0.0.1:$GANESHA_MOUNT_PORT"
    configuration "$CONF" one "listen=127.0.0.1:$PORT_ONE" "nfs-port=$far_nfs" "mount-port=$far_mount"
    nfsaccel_start "$CONF" "$PORT_ONE"
    start drain "$TOOLS/e2e-drain" --path "$EXPORT" --port "$PORT_ONE"
    client=$STARTED
    wait_until 20 "the client" grep -q '^ready' "$WORK/drain.log"
    kill -s USR1 "$client"
    wait_until 10 "the client's calls" grep -q '^sent' "$WORK/drain.log"
    sleep 0.2
    ends_in_order "$NFSACCEL_PID" || return 1
    wait_until 20 "the client's replies" stopped "$client" || return 1
    wait "$client" || status=$?
    ((status == 0)) || cat "$WORK/drain.log"
    ((status == 0)) && [[ ! -e $WORK/control ]]
}

main() {
    e2e_begin
    pick_ports PORT_ONE PORT_TWO PORT_THREE PORT_EXTRA
    CONF=$WORK/nfsaccel.conf
    configure
    nfsaccel_start "$CONF" "$PORT_ONE"
    step "two services in front of one server"
    run_group through "$PORT_ONE" twins --stat "$(stat_command)" "$PORT_TWO" || FAILURES=1
    step "reload"
    reload_under_load
    check "the daemon is still the same one" running "$NFSACCEL_PID"
    step "commands"
    check "serve --check" check_command
    check "bad command lines" bad_command_lines
    check "stat --json" stat_json
    check "stat" stat_table
    check "flush" flush
    check "stat and flush without a daemon" without_daemon
    check "an address in use, and a control socket in use" address_in_use
    step "the end"
    check "SIGTERM ends the daemon with status 0" ends_in_order "$NFSACCEL_PID"
    check "SIGTERM lets calls under way finish" drain
    finish
}

main "$@"
