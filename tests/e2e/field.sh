#!/usr/bin/env bash
#
# field: failures that the field has seen, and every mutation with everything that a server may make of it, between clients
# and a server whose every octet the test decides (field.h).

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# shellcheck disable=SC2034 # configuration reads it
DAEMON_KEYS=("workers = 2")

# ages AGE: the words for `configuration`. What is in doubt, or was just changed, ages like the rest: the exact times of
# these are tested on a simulated clock.
ages() { AGES=("age-min=$1" "age-max=$1" "negative-age=$1" "access-age=$1" doubt=0 settle=0); }

# run_part PART: with a daemon of its own
run_part() {
    local shared exclusive quick quick_exclusive server
    pick_ports shared exclusive quick quick_exclusive server
    local common=("nfs-port=$server" "mount-port=$server" source-ports=any)
    ages 600s
    local long=("${AGES[@]}")
    ages 300ms
    configuration "$WORK/nfsaccel.conf" \
        shared "listen=127.0.0.1:$shared" coherence=shared "${common[@]}" "${long[@]}" \
        exclusive "listen=127.0.0.1:$exclusive" coherence=exclusive "${common[@]}" "${long[@]}" \
        quick "listen=127.0.0.1:$quick" coherence=shared "${common[@]}" "${AGES[@]}" \
        quick-exclusive "listen=127.0.0.1:$quick_exclusive" coherence=exclusive "${common[@]}" "${AGES[@]}"
    nfsaccel_start "$WORK/nfsaccel.conf" "$quick_exclusive"
    run_group "$TOOLS/e2e-field" --server "$server" --shared "$shared" --exclusive "$exclusive" --quick "$quick" \
        --quick-exclusive "$quick_exclusive" "$1" || FAILURES=$((FAILURES + 1))
    check "$1: the daemon ends in order" ended_well "$NFSACCEL_PID"
    stop "$NFSACCEL_PID" # if it has not
}

main() {
    make_work
    if [[ ! -x $NFSACCEL ]]; then run_group build_in "$BUILD" all || die "the build failed"; fi
    run_part cases
    run_part matrix
    finish
}

main "$@"
