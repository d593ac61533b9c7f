#!/usr/bin/env bash
#
# listen: who is let in, and where, also after a reload has changed it. No server is needed: NULL is not forwarded.

# shellcheck disable=SC2317 # `check` runs functions

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

PORT=0

# reached ADDRESS: a NULL call is answered there
reached() {
    local fd answer
    { exec {fd}<>"/dev/tcp/$1/$PORT"; } 2>/dev/null || return 1
    # one fragment of 40 octets: xid 1, CALL, RPC 2, NFS 3, NULL, no credential, no verifier
    printf '\x80\0\0\x28\0\0\0\x01\0\0\0\0\0\0\0\x02\0\x01\x86\xa3\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >&"$fd"
    answer=$(timeout 5 head -c 28 <&"$fd" | wc -c)
    exec {fd}>&-
    ((answer == 28))
}

reaches() { [[ $(for a in 127.0.0.1 ::1; do if reached "$a"; then printf '%s ' "$a"; fi; done) == "$1" ]]; }

# listen WORDS: reloads with these
listen() {
    local before after
    before=$(grep -c '^nfsaccel: reloaded' "$WORK/nfsaccel.log") || true
    configuration "$WORK/nfsaccel.conf" one "listen=$1" "${@:2}" nfs-port=1 mount-port=1
    kill -s HUP "$NFSACCEL_PID"
    reloaded() { after=$(grep -c '^nfsaccel: reloaded' "$WORK/nfsaccel.log") && ((after > before)); }
    wait_until 5 "the reload" reloaded
}

main() {
    local other
    make_work
    if [[ ! -x $NFSACCEL ]]; then run_group build_in "$BUILD" all || die "the build failed"; fi
    pick_ports PORT other
    configuration "$WORK/nfsaccel.conf" one "listen=[::]:$PORT" nfs-port=1 mount-port=1
    nfsaccel_start "$WORK/nfsaccel.conf" "$PORT"
    check "[::] takes clients of both families" reaches "127.0.0.1 ::1 "
    check "a reload adds 0.0.0.0 to [::]" listen "0.0.0.0:$PORT, [::]:$PORT"
    check "both are reached then" reaches "127.0.0.1 ::1 "
    listen "[::]:$PORT"
    check "[::] takes both again when 0.0.0.0 goes" reaches "127.0.0.1 ::1 "
    listen "[::]:$PORT" "allow=127.0.0.0/8"
    check "an IPv4 network allows IPv4 clients of [::], and no others" reaches "127.0.0.1 "
    listen "[::]:$PORT" "allow=::1"
    check "an IPv6 network likewise" reaches "::1 "
    listen "0.0.0.0:$PORT"
    check "0.0.0.0 takes IPv4 clients only" reaches "127.0.0.1 "
    listen "[::1]:$other"
    check "an address that is not named any more is closed" reaches ""
    nfsaccel_stop
    finish
}

main "$@"
