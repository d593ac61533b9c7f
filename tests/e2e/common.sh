# shellcheck shell=bash
#
# common: what the end-to-end tests add to lib.sh: a server, the daemon's configuration, and their clients.

# shellcheck source-path=SCRIPTDIR source=../lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

FAILURES=0

# check WHAT COMMAND...: one line that the test command counts
check() {
    local what=$1
    shift
    if "$@"; then
        say "ok - $what"
    else
        FAILURES=$((FAILURES + 1))
        say "not ok - $what"
    fi
}

# finish: the exit status of a test
finish() { exit $((FAILURES > 0)); }

# e2e_begin: a work folder, packages, and a server in front of $EXPORT
e2e_begin() {
    packages_need server report
    if [[ ! -x $NFSACCEL ]]; then run_group build_in "$BUILD" all || die "the build failed"; fi
    make_work
    EXPORT=$WORK/export
    mkdir -p "$EXPORT"
    ganesha_start "$EXPORT"
}

# configuration FILE [SERVICE KEY=VALUE...]...: one service after the other, in front of the server unless told otherwise.
# More keys of [daemon] are in DAEMON_KEYS.
configuration() {
    local file=$1
    shift
    {
        printf '%s\n' "[daemon]" "control = $WORK/control" "${DAEMON_KEYS[@]}"
        while (($# > 0)); do
            printf '%s\n' "" "[service $1]" "server = 127.0.0.1"
            shift
            local keys=()
            while (($# > 0)) && [[ $1 == *=* ]]; do
                keys+=("$1")
                shift
            done
            if [[ " ${keys[*]}" != *" nfs-port="* ]]; then
                keys+=("nfs-port=$GANESHA_PORT" "mount-port=$GANESHA_MOUNT_PORT")
            fi
            printf '%s\n' "${keys[@]}"
        done
    } >"$file.new"
    mv "$file.new" "$file"
}
DAEMON_KEYS=()

# stat_command: prints what a client needs to count hits
stat_command() { printf '%q stat --json -c %q' "$NFSACCEL" "$WORK/nfsaccel.conf"; }

# ended_well PID: of the daemon, within three seconds. A sanitizer's complaint, or a leak, is another status.
# shellcheck disable=SC2317 # check calls it
ended_well() {
    local status=0
    if running "$1"; then kill -s TERM "$1"; fi
    wait_until 3 "the end of the daemon" stopped "$1" || return 1
    wait "$1" || status=$?
    if ((status != 0)); then tail -n 40 "$WORK/nfsaccel.log"; fi
    return "$status"
}

# straight CLIENT ARGUMENT...: against the server itself
straight() {
    local client=$1
    shift
    "$TOOLS/e2e-$client" --path "$EXPORT" --port "$GANESHA_PORT" --mount-port "$GANESHA_MOUNT_PORT" \
        --direct "$GANESHA_PORT" --direct-mount "$GANESHA_MOUNT_PORT" "$@"
}

# through PORT CLIENT ARGUMENT...: against the proxy that listens there
through() {
    local port=$1 client=$2
    shift 2
    "$TOOLS/e2e-$client" --path "$EXPORT" --port "$port" \
        --direct "$GANESHA_PORT" --direct-mount "$GANESHA_MOUNT_PORT" "$@"
}

# ---- Clients that work until they are told to stop (load.c)

# load_start NAME PORT ARGUMENT...: sets LOAD_PID; what they say is in $WORK/NAME.log
# shellcheck disable=SC2034
load_start() {
    local name=$1 port=$2
    shift 2
    start "$name" "$TOOLS/e2e-load" --path "$EXPORT" --port "$port" \
        --direct "$GANESHA_PORT" --direct-mount "$GANESHA_MOUNT_PORT" "$@"
    LOAD_PID=$STARTED
}

# load_stop NAME PID: ends them, shows and counts what they say
load_stop() {
    local status=0
    if running "$2"; then kill -s TERM "$2"; fi
    wait "$2" || status=$?
    cat "$WORK/$1.log"
    ((status == 0)) || FAILURES=$((FAILURES + 1))
}
