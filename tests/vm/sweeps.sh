#!/usr/bin/env bash
#
# sweeps: Linux sweeps a tree three times, as du does, straight at the server and through nfsaccel, with each lookupcache. What
# its client asks is the same, call for call; what reaches the server is not: from the second sweep on, nothing.
#
# A client's attribute cache goes by its clock, and a sweep's calls would go by the speed of the machine. So here attributes of
# files are fresh for no time, and those of directories for longer than the test takes; and nfsaccel's doubt, the minute in which
# it keeps what it learned as briefly as in `shared`, is off, and verdicts, without which it answers no LOOKUP, don't age
# meanwhile. tests/bench/workloads sweeps with the client's defaults.

# shellcheck disable=SC2317,SC2119 # `check` runs functions; vm_begin takes no programs here

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source-path=SCRIPTDIR source=ways.sh
source "$(dirname "${BASH_SOURCE[0]}")/ways.sh"
# shellcheck source-path=SCRIPTDIR source=du.sh
source "$(dirname "${BASH_SOURCE[0]}")/du.sh"

FILES=2000
DIRS=240
OPTIONS=acregmin=0,acregmax=0,acdirmin=3600,acdirmax=3600
MODES=(all positive none)

# holds LOOKUPCACHE CONDITION: of its sweeps, {straight: [three], through: [three]}. Shows them when it does not.
holds() {
    jq -es --arg mode "$1" "
        [.[] | select(.lookupcache == \$mode)]
        | {straight: map(select(.way == \"straight\")), through: map(select(.way != \"straight\"))}
        | (.straight | length) == 3 and (.through | length) == 3 and ($2)" "$WORK/sweeps" >/dev/null && return
    jq -c --arg mode "$1" 'select(.lookupcache == $mode)
        | (.client, .server, .sent) |= (. // {} | with_entries(select(.value > 0)))' "$WORK/sweeps"
    return 1
}

check_mode() {
    local asked="[.GETATTR, .LOOKUP, .ACCESS]"
    check "lookupcache=$1: straight, the server gets what the client's counters say" \
        holds "$1" 'all(.straight[]; .client == .server)'
    check "lookupcache=$1: each sweep after the first asks for every one of $OBJECTS objects" \
        holds "$1" "all(.straight[1:][]; .client.GETATTR + .client.LOOKUP >= $OBJECTS)"
    check "lookupcache=$1: the client sends the same calls through nfsaccel" \
        holds "$1" '[.straight[].client] == [.through[].client]'
    check "lookupcache=$1: du says the same" holds "$1" '[.straight[].kilobytes] == [.through[].kilobytes]'
    check "lookupcache=$1: nfsaccel sends what it counts" holds "$1" 'all(.through[]; .sent == .server)'
    check "lookupcache=$1: through nfsaccel, warm sweeps send the server 0 GETATTR, 0 LOOKUP, 0 ACCESS" \
        holds "$1" "all(.through[1:][].server; $asked == [0, 0, 0])"
    check "lookupcache=$1: and nothing else but du's one FSSTAT" \
        holds "$1" 'all(.through[1:][].server; .FSSTAT == 1 and add == 1)'
}

main() {
    local mode
    vm_begin
    "$TOOLS/mktree" --files "$FILES" --dirs "$DIRS" "$EXPORT/tree"
    OBJECTS=$(find "$EXPORT/tree" -printf x | wc -c)
    way_straight straight
    for mode in "${MODES[@]}"; do way_through "$mode" nfsaccel coherence=exclusive doubt=0 access-age=1h; done
    ways_daemon nfsaccel 64M
    vm_guests one
    for mode in "${MODES[@]}"; do
        { du_sweeps one straight "$mode" 0 "$OPTIONS" && du_sweeps one "$mode" "$mode" 0 "$OPTIONS"; } >>"$WORK/sweeps"
        check_mode "$mode"
    done
    finish
}

main "$@"
