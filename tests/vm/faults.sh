#!/usr/bin/env bash
#
# faults: while Linux clients work through nfsaccel, nfsaccel is killed, the server is killed, and the configuration is reloaded,
# again and again. They work on without an error: random operations that are checked against a model (integrity.h), and a build
# whose result is that of a build on the guest's own file system.
#
# nfsaccel and nfs-ganesha forget in a restart which calls they have done. A call that is sent again, since the kill took its
# reply, may so be told that a name exists already (MKDIR, SYMLINK, LINK), or not any more (REMOVE, RMDIR, RENAME); this is the
# same without nfsaccel. The integrity program looks then whether the effect is in place, and goes on; the build is begun again where
# it stopped, once for each such error. Both are counted and told.
#
#   FAULTS_STEPS   of the integrity program, in each of its two runs; 2500

# shellcheck disable=SC2317,SC2016 # `check` runs functions; a guest's shell is to expand what is in quotes

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

STEPS=${FAULTS_STEPS:-2500}
LEAST=3 # faults of each kind, in each of the two times

declare -A TIMES=([kill_nfsaccel]=0 [kill_server]=0 [reload]=0 [bad_reload]=0)

# ---- Faults

kill_nfsaccel() {
    stop "$NFSACCEL_PID" KILL
    cat "$WORK/nfsaccel.log" >>"$WORK/nfsaccel-killed.log" # a new one begins
    sleep 0.3
    nfsaccel_start "$WORK/nfsaccel.conf" "$PROXY_PORT"
}

kill_server() {
    stop "$GANESHA_PID" KILL
    sleep 0.7
    ganesha_run
}

log_says() { grep -q -- "$1" "$WORK/nfsaccel.log"; }

# Other ages, the other way to cohere, other connections: in force at once.
reload() {
    local keys=("coherence=shared age-min=1s age-max=2s connections=1" "coherence=exclusive settle=1s verify=0.2")
    read -ra keys <<<"${keys[TIMES[reload] % 2]}"
    vm_configure "${keys[@]}"
    kill -s HUP "$NFSACCEL_PID"
    wait_until 10 "the reload" log_says ' reloaded: 1 service'
}

# A file with an error changes nothing.
bad_reload() {
    vm_configure coherence=sometimes
    kill -s HUP "$NFSACCEL_PID"
    wait_until 10 "a complaint about the configuration" log_says 'not reloaded.*coherence'
    vm_configure coherence=exclusive
}

# faults_while PID...: as long as any of these works
faults_while() {
    local kind pid
    while true; do
        for kind in kill_nfsaccel kill_server reload bad_reload; do
            sleep 1.5
            for pid in "$@"; do ! running "$pid" || break; done
            running "$pid" || return 0
            "$kind"
            TIMES[$kind]=$((TIMES[$kind] + 1))
        done
    done
}

told_faults() {
    local kind
    for kind in "${!TIMES[@]}"; do
        say "# $kind: ${TIMES[$kind]} times"
        ((TIMES[$kind] >= LEAST)) || return 1
        TIMES[$kind]=0
    done
}

# ---- Work

MAKEFILE='
CFLAGS := -std=gnu11 -D_GNU_SOURCE -I. -Wall -Wextra
objects := $(patsubst %.c,%.o,$(wildcard xdr/*.c config/settings*.c cache/*.c))

reference.txt: reference
	./reference reference >$@.new
	mv $@.new $@

reference: config/print_reference.o lib.a
	$(CC) -o $@ $^ -linih

lib.a: $(objects)
	$(AR) rcD $@ $^

%.o: %.c
	$(CC) $(CFLAGS) -c -o $@ $<

clean:
	rm -f xdr/*.o lib.a reference reference.txt
'

source_tree() {
    mkdir "$EXPORT/source"
    cp -r "$REPO"/{xdr,config,cache} "$EXPORT/source"
    say "$MAKEFILE" >"$EXPORT/source/Makefile"
}

# build FOLDER: in guest two; a part of it twice. A step that says what a call sent twice may say is begun again.
build() {
    guest_run two '
        again=0
        try() {
            until "$@" >/tmp/try.log 2>&1; do
                grep -E "File exists|No such file or directory" /tmp/try.log | head -n 3
                ((again++ < 20)) && grep -Eq "File exists|No such file or directory" /tmp/try.log || { tail -n 20 /tmp/try.log; exit 1; }
            done
        }
        try mkdir -p '"$1"'
        try cp -r /mnt/source/. '"$1"'
        cd '"$1"' && try make && try make clean && try make
        echo "begun again: $again times"' >"$WORK/build.out" 2>&1
}

crowd() { guest_run one "vm-integrity crowd /mnt/$1 $2 $STEPS --replays" >"$WORK/crowd.out" 2>&1; }

# during NAME SEED BUILD_FOLDER: both guests work, while there are faults
during() {
    local crowd build
    mkdir "$EXPORT/$1"
    crowd "$1" "$2" &
    crowd=$!
    build "$3" &
    build=$!
    faults_while "$crowd" "$build"
    CROWD_STATUS=0 BUILD_STATUS=0
    wait "$crowd" || CROWD_STATUS=$?
    wait "$build" || BUILD_STATUS=$?
    sed 's/^/# crowd: /' "$WORK/crowd.out" | tail -n 60
    sed 's/^/# build: /' "$WORK/build.out" | tail -n 20
    check "$1: there were enough faults of each kind" told_faults
    check "$1: the integrity program ended well" test "$CROWD_STATUS" = 0
    check "$1: what it left is as it must be for the other guest" guest_run two "$(fresh "vm-integrity crowd /new/$1 $2 $STEPS --verify")"
    check "$1: and on the server" "$TOOLS/vm-integrity" crowd "$EXPORT/$1" "$2" "$STEPS" --verify
    check "$1: the build ended well" test "$BUILD_STATUS" = 0
}

# fresh SCRIPT: below /new, a mount that has seen nothing
fresh() {
    say "mkdir -p /new && mount -t nfs -o vers=3,proto=tcp,mountproto=tcp,nolock,hard,nosharecache,port=$PROXY_PORT,mountport=$PROXY_PORT \
        $HOST:$SERVER_PATH /new && $1; status=\$?; umount /new; exit \$status"
}

same_result() {
    guest_run two 'vm-tree --no-times /tmp/build' >"$WORK/own"
    guest_run one 'vm-tree --no-times /mnt/build' >"$WORK/seen"
    "$TOOLS/vm-tree" --no-times "$EXPORT/build" >"$WORK/server"
    diff "$WORK/own" "$WORK/server" | head -n 10
    cmp "$WORK/own" "$WORK/seen" && cmp "$WORK/own" "$WORK/server" && grep -q '^reference.txt f ' "$WORK/server"
}

no_violation() { ! grep -h 'served what the server does not say' "$WORK/nfsaccel.log" "$WORK/nfsaccel-killed.log"; }

main() {
    local guest
    vm_begin vm-integrity vm-tree
    source_tree
    vm_nfsaccel coherence=exclusive
    vm_guests one two
    for guest in one two; do guest_mount "$guest" /mnt; done
    step "faults during the integrity program; the other guest builds on its own file system"
    during integrity 1 /tmp/build
    step "faults during a build on the mount, and the integrity program"
    during both 2 /mnt/build
    check "the build's result is that of the other build: for both guests, and on the server" same_result
    check "nothing was served that the server does not say" no_violation
    for guest in one two; do check "$guest unmounts" guest_run "$guest" 'umount /mnt'; done
    finish
}

main "$@"
