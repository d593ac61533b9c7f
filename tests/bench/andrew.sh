# shellcheck shell=bash
#
# andrew: in the manner of the Andrew benchmark, with phases of our own. The sources are this project's: its folders xdr, config,
# cache and proxy.
#
#   mkdir  makes their directories, as often as there are to be copies
#   copy   copies the sources there, out of the guest's memory
#   stat   lists all copies with ls -lR
#   read   reads all copies
#   build  builds xdr and config in one of them, and a program that prints the settings; all of it would take an emulated guest too long
#
# Before stat, read and build the file system is mounted anew, as if another client went on. The local file system is a tmpfs.

ANDREW_WAYS=(straight cached uncached)
ANDREW_PHASES=(mkdir copy stat read build)
ANDREW_RUNS=0
ANDREW_SUM=

andrew_steps() { say $((ROUNDS * (1 + 2 * ${#ANDREW_WAYS[@]}))); }

# andrew_sources: a tar file of them in the export
andrew_sources() {
    andrew_makefile >"$WORK/Makefile"
    tar -c -f "$EXPORT/source.tar" -C "$WORK" Makefile -C "$REPO" xdr config cache proxy
}

# andrew_unpack: into the guest's /tmp/source, which is memory
andrew_unpack() {
    way_mount "${MODES[0]}" /mnt/source straight
    guest_run "${MODES[0]}" 'mkdir /tmp/source && tar -x -f /mnt/source/source.tar -C /tmp/source && umount /mnt/source'
}

andrew_makefile() {
    cat <<'END'
CFLAGS = -std=gnu11 -Wall -D_GNU_SOURCE -I. -MMD
objects = $(patsubst %.c,%.o,$(filter-out %/print_reference.c,$(wildcard $(1)/*.c)))

settings: config/print_reference.o libconfig.a libxdr.a
	$(CC) -o $@ $< libconfig.a -linih

libconfig.a: $(call objects,config)
libxdr.a: $(call objects,xdr)
lib%.a:
	ar rcs $@ $^
END
}

# andrew_phase PHASE TOP: prints its microseconds
andrew_phase() {
    local copies=2 script
    if [[ $QUICK == yes ]]; then copies=1; fi
    case $1 in
    mkdir) script="for i in \$(seq $copies); do (cd /tmp/source && find . -type d) | (mkdir -p $2/\$i && cd $2/\$i && xargs mkdir -p); done" ;;
    copy) script="for i in \$(seq $copies); do cp -r /tmp/source/. $2/\$i; done" ;;
    stat) script="ls -lR $2 >/dev/null" ;;
    read) script="find $2 -type f -exec cat {} + >/dev/null" ;;
    build) script="make -C $2/1 >/tmp/make.log 2>&1" ;;
    esac
    guest_run "${MODES[0]}" "from=\$EPOCHREALTIME
        $script || exit
        to=\$EPOCHREALTIME
        echo \$((\${to/./} - \${from/./}))"
}

# andrew_once WAY MS ROUND: `local` is a way, too
andrew_once() {
    local way=$1 ms=$2 round=$3 guest=${MODES[0]} top phase us calls sum
    ANDREW_RUNS=$((ANDREW_RUNS + 1))
    top=/mnt/andrew/$way/andrew-$ANDREW_RUNS
    if [[ $way == local ]]; then top=/tmp/andrew; fi
    fresh "$way"
    andrew_mount "$way"
    for phase in "${ANDREW_PHASES[@]}"; do
        if [[ $phase == stat || $phase == read || $phase == build ]]; then andrew_mount "$way"; fi
        if [[ $way != local ]]; then way_counts "$way" >/dev/null; fi
        us=$(andrew_phase "$phase" "$top") || die "$way: $phase failed: $us"
        calls=null
        if [[ $way != local ]]; then calls=$(way_counts "$way"); fi
        result andrew "$(jq -cn --arg way "$way" --argjson ms "$ms" --argjson round "$round" --arg phase "$phase" \
            --argjson us "$us" --argjson server "$calls" \
            '{way: $way, ms: $ms, round: $round, phase: $phase, seconds: ($us / 1e6), server: $server}')"
    done
    sum=$(guest_run "$guest" "$top/1/settings reference | cksum; rm -rf /tmp/andrew")
    [[ $sum == "${ANDREW_SUM:=$sum}" ]] || die "$way: what was built is another program"
}

andrew_mount() {
    [[ $1 != local ]] || return 0
    guest_run "${MODES[0]}" 'if mountpoint -q /mnt/andrew; then umount /mnt/andrew; fi'
    way_mount "${MODES[0]}" /mnt/andrew "$1"
}

andrew_run() {
    local round ms way
    andrew_unpack
    for ((round = 1; round <= ROUNDS; round++)); do
        progress "Andrew, round $round, local"
        andrew_once local 0 "$round"
        for ms in 0 "$FAR_MS"; do
            way_delay "$ms" "${ANDREW_WAYS[@]}"
            for way in $(in_turn "$round" "${ANDREW_WAYS[@]}"); do
                progress "Andrew, round $round, $(where "$ms"), $way"
                andrew_once "$way" "$ms" "$round"
            done
        done
    done
    andrew_mount straight
    guest_run "${MODES[0]}" 'umount /mnt/andrew'
}
