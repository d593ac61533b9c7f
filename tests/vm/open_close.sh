#!/usr/bin/env bash
#
# open_close: close-to-open between two Linux clients of nfsaccel: what one has closed, the other sees at its next open, at
# once; with the clients' own caches as they are by default. What one does to names, the other sees at its next lookup; here
# the clients keep no names, since Linux promises nothing of those it keeps.
#
# The guests take turns, and in each turn one of them makes a change of each kind (open_close_data.c, open_close_names.c).

# shellcheck disable=SC2317 # `check` runs functions

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

TURNS=${OPEN_CLOSE_TURNS:-200}

# in_turns data|names FOLDER: both guests at once, below the folder where each has mounted; what they say is told
in_turns() {
    local kind=$1 folder=$2 status=0 second
    mkdir "$EXPORT/$kind-$COHERENCE"
    guest_run two "vm-open_close $kind $folder/$kind-$COHERENCE 1 $TURNS" >"$WORK/second.out" &
    second=$!
    guest_run one "vm-open_close $kind $folder/$kind-$COHERENCE 0 $TURNS" || status=1
    wait "$second" || status=1
    cat "$WORK/second.out"
    return "$status"
}

# Nothing that one appended is lost, and nothing is there twice.
appended_all() {
    diff <(seq 0 $((TURNS - 1))) <(tr -d ' ' <"$EXPORT/data-$COHERENCE/appended") | head -n 5
    cmp -s <(seq 0 $((TURNS - 1))) <(tr -d ' ' <"$EXPORT/data-$COHERENCE/appended")
}

# After the names: the same on both, on a mount that has never seen them, and on the server.
same_everywhere() {
    local guest seen=()
    guest_mount two /new nosharecache
    for guest in "one /names" "two /names" "two /new"; do
        seen+=("$(guest_run "${guest% *}" "vm-tree ${guest#* }/names-$COHERENCE" | sha256sum)")
    done
    guest_run two 'umount /new'
    seen+=("$("$TOOLS/vm-tree" "$EXPORT/names-$COHERENCE" | sha256sum)")
    [[ $(printf '%s\n' "${seen[@]}" | sort -u | wc -l) == 1 ]]
}

# hits PROCEDURE: that nfsaccel answered from its cache so far
hits() { "$NFSACCEL" stat --json -c "$WORK/nfsaccel.conf" | jq ".services[0].procedures.$1.hits"; }

# What was checked was answered by a cache.
answers_from_cache() {
    say "# hits: GETATTR $(hits GETATTR), LOOKUP $(hits LOOKUP), ACCESS $(hits ACCESS)"
    (($(hits GETATTR) > TURNS && $(hits LOOKUP) > TURNS))
}

both_ways() {
    check "$COHERENCE: what one guest closed, the other sees when it opens, $TURNS times" in_turns data /mnt
    check "$COHERENCE: all that the guests appended is there, in order" appended_all
    check "$COHERENCE: what one guest did to names, the other sees when it looks, $TURNS times" in_turns names /names
    check "$COHERENCE: both guests, a new mount and the server have the same" same_everywhere
    check "$COHERENCE: nfsaccel has answered from its cache" answers_from_cache
}

main() {
    local guest
    vm_begin vm-open_close vm-tree
    COHERENCE=exclusive
    vm_nfsaccel coherence=exclusive doubt=0
    vm_guests one two
    for guest in one two; do
        guest_mount "$guest" /mnt nosharecache
        guest_mount "$guest" /names nosharecache,lookupcache=none,actimeo=0
    done
    both_ways
    COHERENCE=shared
    TURNS=$((TURNS / 2))
    nfsaccel_stop
    vm_configure coherence=shared
    nfsaccel_start "$WORK/nfsaccel.conf" "$PROXY_PORT"
    both_ways
    finish
}

main "$@"
