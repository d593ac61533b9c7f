#!/usr/bin/env bash
#
# integrity: two Linux clients do random things to files through nfsaccel, each step checked against a model in memory
# (integrity.h): in folders of their own, and in one in which they take turns and check what the other one has done. At the end
# all is compared with the models again: on the other guest, which mounts anew, and on the server.
#
#   INTEGRITY_STEPS   of each guest, on one file, and on trees; 10000
#   INTEGRITY_SEED    1

# shellcheck disable=SC2317 # `check` runs functions

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

STEPS=${INTEGRITY_STEPS:-10000}
SEED=${INTEGRITY_SEED:-1}

# at_once SCRIPT_OF_ONE SCRIPT_OF_TWO: in both guests at the same time
at_once() {
    local status=0 second
    guest_run two "$2" >"$WORK/two.out" &
    second=$!
    guest_run one "$1" >"$WORK/one.out" || status=1
    wait "$second" || status=1
    tail -n 60 "$WORK/one.out" | sed 's/^/# one: /'
    tail -n 60 "$WORK/two.out" | sed 's/^/# two: /'
    return "$status"
}

# own_folders NAME STEPS: a crowd in each guest
own_folders() {
    mkdir "$EXPORT/$1-one" "$EXPORT/$1-two"
    at_once "vm-integrity crowd /mnt/$1-one $SEED $2" "vm-integrity crowd /mnt/$1-two $((SEED + 1)) $2"
}

# As clients that have kept nothing.
other_guest_verifies() {
    local guest
    for guest in one two; do
        guest_run "$guest" 'umount /mnt' && guest_mount "$guest" /mnt nosharecache || return
    done
    at_once "vm-integrity crowd /mnt/$1-two $((SEED + 1)) $2 --verify" "vm-integrity crowd /mnt/$1-one $SEED $2 --verify"
}

server_verifies() {
    "$TOOLS/vm-integrity" crowd "$EXPORT/$1-one" "$SEED" "$2" --verify &&
        "$TOOLS/vm-integrity" crowd "$EXPORT/$1-two" "$((SEED + 1))" "$2" --verify
}

# in_turns NAME STEPS: in one tree
in_turns() {
    mkdir "$EXPORT/$1"
    at_once "vm-integrity shared /names/$1 $SEED $2 --me 0" "vm-integrity shared /names/$1 $SEED $2 --me 1"
}

# in_turns_verified NAME STEPS
in_turns_verified() { "$TOOLS/vm-integrity" tree "$EXPORT/$1/tree" "$SEED" "$2" --verify; }

# with COHERENCE STEPS
with() {
    check "$1: $2 steps on one file and $2 on trees, on two guests at once" own_folders "$1" "$2"
    check "$1: what each left is as it must be on the other guest" other_guest_verifies "$1" "$2"
    check "$1: and on the server" server_verifies "$1" "$2"
    check "$1: $(($2 / 10)) steps on one tree, by two guests in turns" in_turns "in-turns-$1" $(($2 / 10))
    check "$1: what they left is as it must be on the server" in_turns_verified "in-turns-$1" $(($2 / 10))
}

main() {
    local guest
    vm_begin vm-integrity
    vm_nfsaccel coherence=exclusive doubt=0
    vm_guests one two
    for guest in one two; do
        guest_mount "$guest" /mnt nosharecache
        guest_mount "$guest" /names nosharecache,lookupcache=none,actimeo=0
    done
    with exclusive "$STEPS"
    nfsaccel_stop
    vm_configure coherence=shared
    nfsaccel_start "$WORK/nfsaccel.conf" "$PROXY_PORT"
    with shared $((STEPS / 10))
    finish
}

main "$@"
