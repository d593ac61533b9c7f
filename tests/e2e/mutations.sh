#!/usr/bin/env bash
#
# mutations: each kind of change by one client is seen by all others at once, in exclusive mode, where everything that was
# seen before stays cached until then. The same clients first run straight at the server, which shows that what they
# expect is what a server does.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

main() {
    local port
    e2e_begin
    step "straight"
    run_group straight mutations || FAILURES=1
    pick_ports port
    configuration "$WORK/nfsaccel.conf" one "listen=127.0.0.1:$port" coherence=exclusive doubt=0 settle=0 access-age=600s
    nfsaccel_start "$WORK/nfsaccel.conf" "$port"
    step "through nfsaccel"
    run_group through "$port" mutations --stat "$(stat_command)" || FAILURES=1
    finish
}

main "$@"
