# shellcheck shell=bash
#
# lib: what the demo, the test command and the end-to-end tests share: packages, builds, ports, a work folder, processes,
# an NFS server (nfs-ganesha), relays, the daemon, and packet captures.
#
# A script sources this file first:
#
#   #!/usr/bin/env bash
#   set -euo pipefail
#   source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"     # from tests/e2e/
#   make_work
#   ganesha_start "$WORK/export"
#
# Whatever these functions start or make is stopped and removed when the script ends, also by Ctrl-C or SIGTERM.
#
# An end-to-end test is an executable tests/e2e/NAME.sh. It exits with 0 (passed), 1 (failed) or 77 (skipped), and may
# print lines "ok - WHAT", "not ok - WHAT" and "skip - WHAT", which are then counted one by one. tests/run builds first.
#
# From the environment:
#   NFSACCEL_BUILD       the build folder; build/release
#   NFSACCEL_TEST_PORTS  FIRST-LAST, where ports are picked; 20000-31999
#   NFSACCEL_KEEP        1: the work folder stays

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=${NFSACCEL_BUILD:-$REPO/build/release}
TOOLS=$BUILD/tests
NFSACCEL=$BUILD/proxy/nfsaccel

# ---- Words

say() { printf '%s\n' "$*"; }
step() { printf '== %s\n' "$*"; }
complain() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() {
    complain "$*"
    exit 1
}

# ---- The end: commands to run then, the last one given first

EXIT_COMMANDS=()

# at_exit COMMAND...
at_exit() { EXIT_COMMANDS+=("$(printf '%q ' "$@")"); }

run_exit_commands() {
    local status=$? i
    # A subshell that a signal hits before it has dropped the traps must not clean up for the script.
    [[ $BASHPID == "$$" ]] || exit "$status"
    trap '' INT TERM HUP
    set +e
    for ((i = ${#EXIT_COMMANDS[@]} - 1; i >= 0; i--)); do
        eval "${EXIT_COMMANDS[i]}"
    done
    exit "$status"
}

trap run_exit_commands EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# ---- Packages of Debian, by what they are for

declare -rA PACKAGES=(
    [build]='gcc libc6-dev cmake ninja-build pkg-config libuv1-dev libtirpc-dev libnfs-dev libinih-dev libxxhash-dev
             libsystemd-dev libjansson-dev libcmocka-dev'
    [clang]='clang'
    [server]='nfs-ganesha nfs-ganesha-vfs rpcbind netbase'
    [report]='jq'
    [report-plots]='gnuplot-nox fonts-dejavu-core bsdextrautils'
    [capture]='tshark'
    [lint]='clang-format clang-tidy cppcheck shellcheck'
    [model]='spin'
    [vm]='qemu-system-x86 kmod cpio e2fsprogs'
)

package_missing() {
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) != installed ]]
}

# packages_need PURPOSE...: installs what is missing
packages_need() {
    local purpose package missing=()
    command -v dpkg-query >/dev/null || die "this needs a system with Debian's packages"
    for purpose in "$@"; do
        for package in ${PACKAGES[$purpose]}; do
            if package_missing "$package"; then missing+=("$package"); fi
        done
    done
    ((${#missing[@]} > 0)) || return 0
    ((EUID == 0)) || die "missing packages; as root: apt-get install ${missing[*]}"
    step "Installing ${missing[*]}"
    apt-get -q update </dev/null
    DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "${missing[@]}" </dev/null
}

need_root() { ((EUID == 0)) || die "nfs-ganesha needs root (it opens files by handle)"; }

# ---- Builds

# build_in FOLDER TARGETS [CMAKE_OPTION...]
build_in() {
    local folder=$1 quiet=(--quiet) targets
    read -ra targets <<<"$2"
    shift 2
    if [[ -t 1 ]]; then quiet=(); fi
    step "Building ${folder#"$REPO"/}"
    mkdir -p "$folder"
    if ! cmake -S "$REPO" -B "$folder" -G Ninja "$@" >"$folder/configure.log" 2>&1; then
        cat "$folder/configure.log" >&2
        return 1
    fi
    ninja -C "$folder" "${quiet[@]}" "${targets[@]}"
}

# ---- Waiting

# wait_until SECONDS WHAT COMMAND...: until the command succeeds; fails when that takes too long
wait_until() {
    local limit=$1 what=$2 end=$((SECONDS + $1))
    shift 2
    until "$@"; do
        if ((SECONDS >= end)); then
            complain "waited $limit s for: $what"
            return 1
        fi
        sleep 0.05
    done
}

# shellcheck disable=SC2034 # the descriptor closes with the subshell
port_open() { (exec {fd}<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# ---- Ports

declare -A PORTS_PICKED=()

port_used() {
    local hex
    printf -v hex ':%04X' "$1"
    awk -v port="$hex" 'substr($2, length($2) - 4) == port { used = 1 } END { exit !used }' \
        /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6 2>/dev/null
}

# pick_ports VARIABLE...: sets each, which may be an array's element, to a port that nobody uses
pick_ports() {
    local _range=${NFSACCEL_TEST_PORTS:-20000-31999} _variable _port _tries
    local _first=${_range%-*} _last=${_range#*-}
    for _variable in "$@"; do
        for ((_tries = 0; ; _tries++)); do
            ((_tries < 1000)) || die "no free port in $_range"
            _port=$((_first + RANDOM % (_last - _first + 1)))
            if [[ -z ${PORTS_PICKED[$_port]:-} ]] && ! port_used "$_port"; then break; fi
        done
        PORTS_PICKED[$_port]=1
        printf -v "$_variable" '%s' "$_port"
    done
}

# ---- The work folder

# Handles of files, which the NFS server needs, don't exist on overlayfs, which containers have for /tmp.
work_root() {
    local root=${TMPDIR:-/tmp}
    if [[ $(stat -f -c %T "$root") == overlayfs && -d /dev/shm ]]; then root=/dev/shm; fi
    say "$root"
}

# make_work: sets WORK
make_work() {
    WORK=$(mktemp -d "$(work_root)/nfsaccel-XXXXXX")
    chmod 755 "$WORK"
    at_exit remove_work "$WORK"
}

remove_work() {
    if [[ ${NFSACCEL_KEEP:-} == 1 ]]; then
        complain "kept: $1"
    else
        rm -rf "$1"
    fi
}

# ---- Processes. Each has a process group of its own, so that Ctrl-C reaches only the script, which then stops them.

# start NAME COMMAND...: in the background, its output in $WORK/NAME.log; sets STARTED to its pid
start() {
    local name=$1
    shift
    : >"$WORK/$name.log" # there is something to look at before the process has begun
    set -m
    "$@" >"$WORK/$name.log" 2>&1 </dev/null &
    set +m
    STARTED=$!
    at_exit stop "$STARTED"
}

# running PID: of a process that was started here
running() { [[ $'\n'$(jobs -rp)$'\n' == *$'\n'"$1"$'\n'* ]]; }
stopped() { ! running "$1"; }

# stop PID [SIGNAL]: asks the process to end, by SIGTERM; kills it when it does not
stop() {
    running "$1" || return 0
    kill -s "${2:-TERM}" "$1"
    if ! wait_until 20 "the end of process $1" stopped "$1"; then kill -s KILL -- "-$1"; fi
    wait "$1" 2>/dev/null || true
}

# run_group COMMAND...: in the foreground, but in a process group of its own; its status is the command's
run_group() {
    local pid status=0
    set -m
    "$@" </dev/null &
    set +m
    pid=$!
    at_exit stop_group "$pid"
    wait "$pid" || status=$?
    unset 'EXIT_COMMANDS[-1]'
    return "$status"
}

stop_group() {
    kill -s TERM -- "-$1" 2>/dev/null || return 0
    wait_until 60 "the end of process group $1" stopped "$1" || kill -s KILL -- "-$1"
}

# alive_until SECONDS NAME PID COMMAND...: as wait_until; fails at once, with the log, when the process ends before
alive_until() {
    local limit=$1 name=$2 pid=$3 status=0
    shift 3
    wait_until "$limit" "$name to be ready" ended_or "$pid" "$@" || status=$?
    if ((status == 0)) && running "$pid"; then return 0; fi
    complain "$name did not start; its log ends with:"
    tail -n 20 "$WORK/$name.log" >&2
    return 1
}

ended_or() {
    local pid=$1
    shift
    stopped "$pid" || "$@"
}

# ---- The NFS server

rpcbind_start() {
    if port_open 111; then return 0; fi
    start rpcbind rpcbind -w -f
    alive_until 10 rpcbind "$STARTED" port_open 111
}

# ganesha_start EXPORT_FOLDER: sets GANESHA_PORT, GANESHA_MOUNT_PORT, GANESHA_PID, and GANESHA_CONF for ganesha_run.
# A second server at the same time is another call: keep the first one's variables.
ganesha_start() {
    local export_folder=$1 nlm rquota
    need_root
    rpcbind_start
    pick_ports GANESHA_PORT GANESHA_MOUNT_PORT nlm rquota
    GANESHA_CONF=$WORK/ganesha-$GANESHA_PORT.conf
    mkdir -p "$WORK/ganesha-$GANESHA_PORT" "$export_folder"
    cat >"$GANESHA_CONF" <<END
NFS_CORE_PARAM {
    NFS_Port = $GANESHA_PORT;
    MNT_Port = $GANESHA_MOUNT_PORT;
    NLM_Port = $nlm;
    Rquota_Port = $rquota;
    Bind_addr = 127.0.0.1;
    Protocols = 3;
    Enable_NLM = false;
    Enable_RQUOTA = false;
    mount_path_pseudo = false;
    allow_set_io_flusher_fail = true;
}
NFSv4 {
    Graceless = true;
    RecoveryRoot = "$WORK/ganesha-$GANESHA_PORT";
}
LOG {
    Default_Log_Level = EVENT;
}
EXPORT {
    Export_Id = 1;
    Path = "$export_folder";
    Pseudo = /export;
    Access_Type = RW;
    Squash = No_Root_Squash;
    Protocols = 3;
    Transports = TCP;
    SecType = sys;
    PrivilegedPort = false;
    FSAL {
        Name = VFS;
    }
}
END
    ganesha_run
}

# ganesha_run: starts the server of GANESHA_CONF, again if it was stopped; sets GANESHA_PID
ganesha_run() {
    local name
    name=$(basename "$GANESHA_CONF" .conf)
    start "$name" ganesha.nfsd -F -L STDERR -f "$GANESHA_CONF" -p "$WORK/$name.pid"
    GANESHA_PID=$STARTED
    alive_until 60 "$name" "$GANESHA_PID" grep -q 'NFS SERVER INITIALIZED' "$WORK/$name.log"
}

ganesha_stop() { stop "$GANESHA_PID"; }

# ---- Relays (tools/relay.c)

# relay_start NAME ARGUMENT...
relay_start() {
    local name=$1
    shift
    start "$name" "$TOOLS/relay" "$@"
    alive_until 10 "$name" "$STARTED" grep -qx ready "$WORK/$name.log"
}

# relay_ask CONTROL_PORT COMMAND: prints the answer
relay_ask() {
    local control answer
    exec {control}<>"/dev/tcp/127.0.0.1/$1"
    say "$2" >&"$control"
    read -r answer <&"$control"
    exec {control}>&-
    say "$answer"
}

# ---- The daemon

# nfsaccel_start CONFIGURATION PORT: waits until it listens there; sets NFSACCEL_PID. The log is $WORK/nfsaccel.log.
nfsaccel_start() {
    start nfsaccel "$NFSACCEL" serve -c "$1"
    NFSACCEL_PID=$STARTED
    alive_until 30 nfsaccel "$NFSACCEL_PID" port_open "$2"
}

nfsaccel_stop() { stop "$NFSACCEL_PID"; }

# ---- Packet captures

# capture_start FILE PORT...: of these TCP ports on loopback; sets CAPTURE_PID
capture_start() {
    local file=$1 filter
    shift
    printf -v filter ' or tcp port %s' "$@"
    start capture dumpcap -i lo -B 128 -f "${filter# or }" -w "$file"
    CAPTURE_PID=$STARTED
    alive_until 10 capture "$CAPTURE_PID" grep -q '^File: ' "$WORK/capture.log"
}

# capture_check FILE PORT...: ends the capture; fails when packets were lost, none decode as NFS, or any is malformed
capture_check() {
    local file=$1 port as=() seen bad
    shift
    sleep 1 # what was sent last is on its way to the file
    stop "$CAPTURE_PID" INT
    if ! grep -Eq ': [0-9]+/0 \(' "$WORK/capture.log"; then
        complain "the capture lost packets: $(grep dropped "$WORK/capture.log")"
        return 1
    fi
    for port in "$@"; do as+=(-d "tcp.port==$port,rpc"); done
    bad=$(tshark -r "$file" "${as[@]}" -Y '_ws.malformed' 2>/dev/null | head -n 20 | cut -c 1-200)
    seen=$(tshark -r "$file" "${as[@]}" -Y nfs 2>/dev/null | wc -l)
    if [[ -n $bad ]]; then
        complain "malformed packets:"
        say "$bad" >&2
        return 1
    fi
    ((seen > 0)) || complain "nothing in the capture decodes as NFS"
    ((seen > 0)) && say "capture: $seen packets decode as NFS, none is malformed"
}
