# shellcheck shell=bash
#
# du: what sweeps with du cost, seen at both ends: calls that the guest's own NFS client counts, and calls that reach the server.
# Sourced after ways.sh.
#
#   du_sweeps one near all             prints three lines of JSON
#   du_sweeps one near none 7 noatime  7 s before the second and the third; with these mount options

PROCEDURES='["NULL", "GETATTR", "SETATTR", "LOOKUP", "ACCESS", "READLINK", "READ", "WRITE", "CREATE", "MKDIR", "SYMLINK",
    "MKNOD", "REMOVE", "RMDIR", "RENAME", "LINK", "READDIR", "READDIRPLUS", "FSSTAT", "FSINFO", "PATHCONF", "COMMIT"]'

# One line: seconds, what du says, and the client's counters before and after. All mounts of a guest share these.
# shellcheck disable=SC2016 # the guest's shell is to expand it
DU_IN_GUEST='
counts() { awk "\$1 == \"proc3\" { sub(/^proc3 [0-9]+ /, \"\"); print }" /proc/net/rpc/nfs; }
before=$(counts)
from=$EPOCHREALTIME
said=$(du -s "$tree") || exit
to=$EPOCHREALTIME
echo "$((${to/./} - ${from/./}))/${said%%[!0-9]*}/$before/$(counts)"'

# du_sweeps GUEST WAY LOOKUPCACHE [PAUSE [OPTION,...]]: mounts, sweeps the export's `tree` three times, and unmounts
du_sweeps() {
    local guest=$1 way=$2 mode=$3 pause=${4:-0} options=${5:-} sweep sent line folder=/mnt/$2
    way_mount "$guest" "$folder" "$way" "lookupcache=$mode${options:+,$options}"
    for sweep in 1 2 3; do
        if ((sweep > 1)); then sleep "$pause"; fi
        sent=$(way_sent "$way")
        way_counts "$way" >/dev/null
        line=$(guest_run "$guest" "tree=$folder/tree$DU_IN_GUEST") || die "$guest: du failed: $line"
        jq -cn --arg way "$way" --arg mode "$mode" --argjson sweep "$sweep" --arg line "$line" \
            --argjson server "$(way_counts "$way")" --argjson before "$sent" --argjson after "$(way_sent "$way")" \
            --argjson names "$PROCEDURES" '
            def numbers: split(" ") | map(tonumber);
            def difference($a; $b): $a | with_entries(.value = $b[.key] - .value);
            ($line / "/") as [$us, $kilobytes, $old, $new]
            | ($old | numbers) as $old | ($new | numbers) as $new
            | {way: $way, lookupcache: $mode, sweep: $sweep, seconds: (($us | tonumber) / 1e6),
               kilobytes: ($kilobytes | tonumber),
               client: ([$names, $old, $new] | transpose | map({key: .[0], value: (.[2] - .[1])}) | from_entries),
               server: $server,
               sent: (if $before then difference($before; $after) else null end)}'
    done
    guest_run "$guest" "umount $folder"
}
