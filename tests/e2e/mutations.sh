#!/usr/bin/env bash
#
# mutations: each kind of change by one client is seen by all others at once, in exclusive mode, where everything that was
# seen before stays cached until then. The same clients first run straight at the server, which shows that what they
# expect is what a server does.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# NFSACL is off unless asked for.
serve_acls() {
    ganesha_stop
    sed -i 's/Enable_NLM = false;/&\n    Enable_NFSACL = true;/' "$GANESHA_CONF"
    ganesha_run
}

main() {
    local port far_port far_nfs far_mount control
    e2e_begin
    serve_acls
    step "straight"
    run_group straight mutations || FAILURES=1
    run_group straight race --seconds 0.5 || FAILURES=1
    pick_ports port far_port far_nfs far_mount control
    relay_start relay --delay-ms 2 --control "$control" \
        "$far_nfs" "127.0.0.1:$GANESHA_PORT" "$far_mount" "127.0.0.1:$GANESHA_MOUNT_PORT"
    local exclusive=(coherence=exclusive doubt=0 settle=0 access-age=600s)
    configuration "$WORK/nfsaccel.conf" one "listen=127.0.0.1:$port" "${exclusive[@]}" \
        far "listen=127.0.0.1:$far_port" "${exclusive[@]}" "nfs-port=$far_nfs" "mount-port=$far_mount"
    nfsaccel_start "$WORK/nfsaccel.conf" "$port"
    step "through nfsaccel"
    run_group through "$port" mutations --stat "$(stat_command)" || FAILURES=1
    step "through nfsaccel, overlapping, the server next to it"
    run_group through "$port" race --seconds 1 --stat "$(stat_command)" || FAILURES=1
    step "through nfsaccel, overlapping, the server 2 ms away"
    run_group through "$far_port" race --seconds 1 --stat "$(stat_command)" --service far || FAILURES=1
    finish
}

main "$@"
