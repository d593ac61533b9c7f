# shellcheck shell=bash
#
# fsmark: files written and synced one by one, as fs_mark's fsyncBeforeClose does. A mount is not timed before a file that was
# made in it is there on the server: a server in its grace period, or one that is still being looked for, is not measured.

FSMARK_LARGE=4194304
FSMARK_SMALL=4096
FSMARK_RUNS=0

fsmark_steps() { say $((ROUNDS * 2)); }

fsmark_files() {
    local n=200
    if (($1 == FSMARK_LARGE)); then n=16; fi
    if [[ $QUICK == yes ]]; then n=$((n / 4)); fi
    say "$n"
}

# fsmark_once WAY MS ROUND SIZE
fsmark_once() {
    local guest=${MODES[0]} name files said
    FSMARK_RUNS=$((FSMARK_RUNS + 1))
    name=$1/fsmark-$FSMARK_RUNS
    files=$(fsmark_files "$4")
    fresh "$1"
    way_mount "$guest" /mnt/fsmark "$1"
    guest_run "$guest" "mkdir /mnt/fsmark/$name && touch /mnt/fsmark/$name/live"
    [[ -e $EXPORT/$name/live ]] || die "$1: what the guest makes is not on the server"
    said=$(guest_run "$guest" "fs_mark -S 1 -t 1 -L 1 -s $4 -n $files -d /mnt/fsmark/$name -l /tmp/fsmark.log") ||
        die "fs_mark failed: $said"
    guest_run "$guest" 'umount /mnt/fsmark'
    result fsmark "$(awk 'NF == 5 && /^ *[0-9]/ { print $4 }' <<<"$said" | jq -c --arg way "$1" --argjson ms "$2" \
        --argjson round "$3" --argjson size "$4" --argjson files "$files" \
        '{way: $way, ms: $ms, round: $round, size: $size, files: $files, files_per_second: .}')"
}

fsmark_run() {
    local round ms way size
    for ((round = 1; round <= ROUNDS; round++)); do
        for ms in 0 "$FAR_MS"; do
            progress "fs_mark, $(where "$ms"), round $round"
            way_delay "$ms" straight cached
            for size in "$FSMARK_LARGE" "$FSMARK_SMALL"; do
                for way in $(in_turn "$round" straight cached); do fsmark_once "$way" "$ms" "$round" "$size"; done
            done
        done
    done
}
