#!/usr/bin/env bash
#
# nfsd: the kernel's NFS server behind nfsaccel: every kind of mutation, what two Linux clients see of each other, a warm
# sweep, and a server that loses its power while a client writes.

# shellcheck disable=SC2317,SC2119 # `check` runs functions; vm_begin takes no programs here

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

FILES=200
ROUNDS=20

# nfs_client PORT MOUNT_PORT CLIENT ARGUMENT...: one of the end-to-end tests' clients, in front of the kernel's server
nfs_client() {
    local port=$1 mount_port=$2 client=$3
    shift 3
    run_group "$TOOLS/e2e-$client" --path "$SERVER_PATH" --port "$port" --mount-port "$mount_port" \
        --direct "$SERVER_PORT" --direct-mount "$SERVER_MOUNT_PORT" --lingers "$@" || FAILURES=1
}

# A tree as large as one that a client copies: on the client's own file system, then over NFS, then on the server.
copied_tree_is_equal() {
    # shellcheck disable=SC2016 # the guest's shell is to expand it
    local sum='cd "$0" && find . -type f -print0 | sort -z | xargs -0 sha256sum && find . -printf "%P %y %m %l\n" | sort'
    guest_run one "mkdir /tmp/tree && cd /tmp/tree && for ((i = 0; i < $FILES; i++)); do
            mkdir -p d\$((i % 20)) && head -c \$((i * 97)) /dev/urandom >d\$((i % 20))/f\$i
        done && ln -s f3 d3/link && chmod 751 d4 && cp -a /tmp/tree /mnt/tree && bash -c '$sum' /tmp/tree" >"$WORK/own.sums" &&
        guest_run two "bash -c '$sum' /mnt/tree" >"$WORK/other.sums" &&
        guest_run server "bash -c '$sum' /export/tree" >"$WORK/server.sums" &&
        cmp "$WORK/own.sums" "$WORK/other.sums" && cmp "$WORK/own.sums" "$WORK/server.sums"
}

# sent PROCEDURE: how many of these nfsaccel has sent to the server
sent() { server_counts | awk -v procedure="$1" '$1 == procedure { print $2 }'; }

client_getattrs() { guest_counts "$1" | awk '{ print $2 }'; }

warm_sweep_costs_the_server_nothing() {
    local asked before
    guest_run one 'umount /mnt' && guest_mount one /mnt actimeo=0 || return
    guest_run one 'du -s /mnt/tree' >/dev/null || return
    before=$(sent GETATTR) asked=$(client_getattrs one)
    guest_run one 'du -s /mnt/tree' >/dev/null || return
    say "# the client sent $(($(client_getattrs one) - asked)) GETATTR, nfsaccel $(($(sent GETATTR) - before))"
    (($(client_getattrs one) - asked >= FILES && $(sent GETATTR) == before))
}

# In turns: what the one has closed, the other has at once when it opens.
each_sees_what_the_other_closed() {
    local round name=(one two) writer seen
    for ((round = 0; round < ROUNDS; round++)); do
        writer=${name[round % 2]}
        guest_run "$writer" "printf '%*s' $round $round >/mnt/turn" || return
        seen=$(guest_run "${name[(round + 1) % 2]}" 'wc -c </mnt/turn && tail -c 2 /mnt/turn | tr -d " "')
        if [[ $seen != "$(wc -c < <(printf '%*s' "$round" "$round"))"$'\n'"$round" ]]; then
            complain "round $round: ${name[(round + 1) % 2]} sees $seen"
            return 1
        fi
    done
}

# Everything that was synced before is there, the writer waits, and handles from before are good.
survives_a_power_cut() {
    # shellcheck disable=SC2016 # the guest's shell is to expand it
    guest_run one 'echo before >/mnt/kept && sync /mnt/kept
        (exec 3>>/mnt/log; for ((i = 0; i < 200; i++)); do echo line $i >&3 && sync /mnt/log && sleep 0.05 || exit 1; done
            echo done >/tmp/writer) >/tmp/writer.log 2>&1 &' || return
    sleep 3
    stop "${GUEST_PID[server]}" KILL
    nfsd_run server || return
    wait_until 120 "the writer" guest_run one '[[ -e /tmp/writer ]]' || return
    [[ $(guest_run one 'wc -l </mnt/log; cat /mnt/kept') == $'200\nbefore' ]] &&
        [[ $(guest_run server 'wc -l </export/log; cat /export/kept') == $'200\nbefore' ]]
}

main() {
    vm_begin
    ganesha_stop
    nfsd_start server
    step "every kind of mutation, straight"
    nfs_client "$SERVER_PORT" "$SERVER_MOUNT_PORT" mutations
    nfs_client "$SERVER_PORT" "$SERVER_MOUNT_PORT" race --seconds 0.5
    vm_nfsaccel coherence=exclusive doubt=0 settle=0 access-age=600s
    step "through nfsaccel"
    nfs_client "$PROXY_PORT" "$PROXY_PORT" mutations --stat "$(stat_command)"
    nfs_client "$PROXY_PORT" "$PROXY_PORT" race --seconds 1 --stat "$(stat_command)"
    step "Linux clients"
    vm_guests one two
    guest_mount one /mnt
    guest_mount two /mnt
    check "a tree that one guest copies is the same on the other and on the server" copied_tree_is_equal
    check "a warm sweep sends the server no GETATTR" warm_sweep_costs_the_server_nothing
    check "each of two guests sees what the other has closed, $ROUNDS times" each_sees_what_the_other_closed
    check "a server that loses its power: the writer waits, and nothing that was synced is lost" survives_a_power_cut
    finish
}

main "$@"
