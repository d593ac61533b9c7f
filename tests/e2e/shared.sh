#!/usr/bin/env bash
#
# shared: others write to the server too; what they change becomes visible within the configured ages, and at once when
# any reply shows it.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

main() {
    local quick slow
    e2e_begin
    step "straight"
    run_group straight shared --seconds 0 "$GANESHA_PORT" || FAILURES=1
    pick_ports quick slow
    configuration "$WORK/nfsaccel.conf" \
        one "listen=127.0.0.1:$quick" coherence=shared age-min=1s age-max=1s negative-age=1s access-age=1s doubt=0 settle=0 \
        slow "listen=127.0.0.1:$slow" coherence=shared age-min=600s age-max=600s negative-age=600s access-age=600s doubt=0
    nfsaccel_start "$WORK/nfsaccel.conf" "$quick"
    step "through nfsaccel"
    run_group through "$quick" shared --seconds 1 --stat "$(stat_command)" "$slow" || FAILURES=1
    finish
}

main "$@"
