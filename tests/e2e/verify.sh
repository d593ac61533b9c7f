#!/usr/bin/env bash
#
# verify: what `verify = 1` counts, drops and logs when something is written behind the proxy's back in exclusive mode; and
# that it comes and goes with a reload.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

LINE='one: served what the server does not say: GETATTR [0-9a-f]+; obj_attributes.mode 0600, not 0640; '
LINE+='obj_attributes.ctime [0-9]+\.[0-9]{9}, not [0-9]+\.[0-9]{9}$'

# shellcheck disable=SC2317 # check calls it
logged_once() { (($(grep -cE "$LINE" "$WORK/nfsaccel.log") == 1)); }

# shellcheck disable=SC2317 # check calls it
warned_of_nothing() { ! grep -q 'does not do it yet' "$WORK/nfsaccel.log"; }

# shellcheck disable=SC2317
stat_json() { "$NFSACCEL" stat --json -c "$WORK/nfsaccel.conf"; }

# share_is SHARE: that is in force
# shellcheck disable=SC2317
share_is() { stat_json | jq -e ".services[0].verify.share == $1" >/dev/null; }

# verified: how many hits were compared
# shellcheck disable=SC2317
verified() { stat_json | jq '[.services[0].verify[] | objects.verified] | add'; }

# shellcheck disable=SC2317 # check calls it
off_after_reload() {
    local before
    configuration "$WORK/nfsaccel.conf" one "listen=127.0.0.1:$PROXY_AT" "${KEYS[@]}"
    kill -s HUP "$NFSACCEL_PID"
    wait_until 10 "the reload" share_is 0 || return 1
    before=$(verified)
    for _ in 1 2 3; do through "$PROXY_AT" probe getattr >/dev/null || return 1; done
    [[ $(verified) == "$before" ]]
}

main() {
    e2e_begin
    pick_ports PROXY_AT
    KEYS=(coherence=exclusive doubt=0 settle=0)
    configuration "$WORK/nfsaccel.conf" one "listen=127.0.0.1:$PROXY_AT" "${KEYS[@]}" verify=1
    nfsaccel_start "$WORK/nfsaccel.conf" "$PROXY_AT"
    run_group through "$PROXY_AT" verify --stat "$(stat_command)" || FAILURES=1
    check "the log has the violation once, with the fields and both values" logged_once
    check "the log does not say that verify is not there yet" warned_of_nothing
    check "a reload turns it off" off_after_reload
    finish
}

main "$@"
