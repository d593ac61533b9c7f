# shellcheck shell=bash
#
# report: tables (report.jq) and a picture (picture.gp) of the results in FOLDER.

report() {
    step "Reporting"
    jq -s -f "$REPO/tests/bench/report.jq" "$FOLDER/results.jsonl" >"$FOLDER/report.json"
    report_text >"$FOLDER/report.txt"
    report_picture
    cat "$FOLDER/report.txt"
}

# of_report FILTER: rows of report.json
of_report() { jq -r "$FIXED $1 | @tsv" "$FOLDER/report.json"; }
FIXED='def fixed: . * 100 | round | "\(. / 100 | floor).\(. % 100 + 100 | tostring[1:])";'

# Headings and rows are tab separated; what has no value is a dash.
aligned() { column -t -s $'\t' -R "$1" | sed 's/^/  /'; }

report_text() {
    jq -r '.about | "nfsaccel: workloads of a Linux client, \(.date)",
        "machine: \(.machine.cores) cores, \(.machine.cpu), \(.machine.memory_mib) MiB; guests: one emulated core each",
        "versions: \(.versions | to_entries | map("\(.key) \(.value)") | join(", "))",
        "settings: \(.keys); default mount options; medians of \(.rounds) round\(if .rounds > 1 then "s" else "" end) of fs_mark and Andrew"' "$FOLDER/report.json"
    printf '\nSweeps: du -s, three times over %s, lookupcache as said\n' \
        "$(jq -r '.about.tree | "\(.files) files in \(.directories) directories"' "$FOLDER/report.json")"
    {
        printf '%s\t' server lookupcache sweep way 'client GETATTR' LOOKUP ACCESS READDIRPLUS \
            'server GETATTR' LOOKUP ACCESS READDIRPLUS
        say seconds
        of_report '.sweeps[] | [.server, .lookupcache, .sweep, .way]
            + ([.client, .reached] | map(.GETATTR, .LOOKUP, .ACCESS, .READDIRPLUS)) + [.seconds | fixed]'
    } | aligned 3,5,6,7,8,9,10,11,12,13
    printf '\nfs_mark, fsyncBeforeClose, one thread: files per second\n'
    {
        printf '%s\t' server 'octets a file' straight 'through nfsaccel'
        say ratio
        of_report '.fsmark[] | [.server, .size, .straight, .nfsaccel, (.ratio | fixed)]'
    } | aligned 2,3,4,5
    printf '\nAndrew: seconds; in brackets, GETATTR, LOOKUP and ACCESS that reached the server\n'
    {
        printf '%s\t' server phase 'local (tmpfs)' straight 'through nfsaccel'
        say 'nfsaccel, memory=0'
        of_report '.andrew[] | [.server, .phase, (.local | fixed), (.straight, .nfsaccel, .forwarding | "\(.seconds | fixed) (\(.asked))")]'
    } | aligned 3,4,5,6
}

# What the picture is drawn of: files of rows, a label and then values.
report_picture() {
    local data=$WORK/picture way where
    mkdir -p "$data"
    for where in near far; do
        of_report ".warm[] | select(.place == \"$where\")
            | [.lookupcache, .straight.seconds, .nfsaccel.seconds]" >"$data/sweeps-$where"
        of_report ".andrew[] | select(.place == \"$where\")
            | [.phase, .local, .straight.seconds, .nfsaccel.seconds, .forwarding.seconds]" >"$data/andrew-$where"
    done
    of_report '.warm[] | select(.place == "near") | [.lookupcache, .straight.reached, .nfsaccel.reached]' >"$data/calls"
    of_report '.fsmark[] | [(if .size >= 1048576 then "4 MB" else "4 KB" end), .place, .straight, .nfsaccel]' \
        >"$data/fsmark"
    for way in svg png; do
        gnuplot -e "data='$data'; format='$way'; far_ms=$(jq .about.far_ms "$FOLDER/report.json")" \
            "$REPO/tests/bench/picture.gp" >"$FOLDER/workloads.$way"
    done
}
