#!/usr/bin/env bash
#
# hostile: what no client should send does no harm: not to the daemon, not to other clients, and not to the log.

# shellcheck disable=SC2317 # `check` runs functions

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

LOG_LINES_MAX=200

short_log() {
    local lines
    lines=$(wc -l <"$WORK/nfsaccel.log")
    say "# the log has $lines lines"
    ((lines < LOG_LINES_MAX))
}

# Memory that was asked for on the word of a bad record mark would show here.
small() { (($(grep VmHWM "/proc/$NFSACCEL_PID/status" | tr -dc 0-9) < 200000)); }

main() {
    local port closed
    e2e_begin
    pick_ports port closed
    configuration "$WORK/nfsaccel.conf" one "listen=127.0.0.1:$port" coherence=exclusive \
        closed "listen=127.0.0.1:$closed" "allow=127.0.0.2/32, ::1/128"
    nfsaccel_start "$WORK/nfsaccel.conf" "$port"
    run_group through "$port" hostile "$closed" || FAILURES=1
    check "the daemon is still the same one" running "$NFSACCEL_PID"
    check "its memory stayed below 200 MB" small
    check "its log stayed short" short_log
    finish
}

main "$@"
