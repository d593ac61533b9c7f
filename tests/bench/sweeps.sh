# shellcheck shell=bash
#
# sweeps: du three times over a tree, with the client's default attribute ages and each lookupcache. The second and third sweep
# begin when what the client knows of files is too old for it: its ages are 3 s after the first sweep, 6 s after the second.
#
# Near, one guest sweeps at a time. Far, all three sweep at once, each mode in a guest of its own, on ways of its own: there a
# sweep is waiting, and would take a quarter of an hour otherwise.

MODES=(all positive none)
PAUSE=7

sweeps_steps() { say $((2 * ${#MODES[@]} + 2)); }

# sweeps_of KIND MODE MS
sweeps_of() {
    local line
    du_sweeps "$2" "$1-$2" "$2" "$PAUSE" >"$WORK/$1-$2-$3.sweeps"
    while read -r line; do
        result sweep "$(jq -c --arg way "$1" --argjson ms "$3" '.way = $way | .ms = $ms' <<<"$line")"
    done <"$WORK/$1-$2-$3.sweeps"
}

# What a server has in its own memory is not to make a difference.
sweeps_warm_server() {
    way_mount "${MODES[0]}" /mnt/warm straight
    guest_run "${MODES[0]}" 'du -s /mnt/warm/tree && umount /mnt/warm' >/dev/null
}

sweeps_near() {
    local round=0 mode kind
    for mode in "${MODES[@]}"; do
        round=$((round + 1))
        for kind in $(in_turn "$round" straight cached); do
            progress "du three times, near, lookupcache=$mode, $kind"
            fresh "$kind-$mode"
            sweeps_of "$kind" "$mode" 0
        done
    done
}

sweeps_far() {
    local kind mode pids pid
    for mode in "${MODES[@]}"; do way_delay "$FAR_MS" "straight-$mode" "cached-$mode"; done
    for kind in cached straight; do
        progress "du three times, $FAR_MS ms away, all of lookupcache side by side, $kind"
        pids=()
        for mode in "${MODES[@]}"; do
            fresh "$kind-$mode"
            sweeps_of "$kind" "$mode" "$FAR_MS" &
            pids+=($!)
        done
        for pid in "${pids[@]}"; do wait "$pid" || die "a sweep failed"; done
    done
}

sweeps_run() {
    sweeps_warm_server
    sweeps_near
    sweeps_far
    sweeps_same || die "du says different things straight and through nfsaccel"
}

sweeps_same() { jq -es '[.[] | select(.kind == "sweep").kilobytes] | unique | length == 1' "$FOLDER/results.jsonl" >/dev/null; }
