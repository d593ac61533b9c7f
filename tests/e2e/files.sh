#!/usr/bin/env bash
#
# files: data pass through unchanged, in both directions, whatever their size.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

ON_DISK=(empty one page large sparse)

make_on_disk() {
    local folder=$EXPORT/disk
    mkdir "$folder"
    : >"$folder/empty"
    printf x >"$folder/one"
    head -c 4096 /dev/urandom >"$folder/page"
    head -c 1048577 /dev/urandom >"$folder/large"
    head -c 100000 /dev/urandom | dd of="$folder/sparse" bs=1M seek=3 status=none
}

main() {
    local port
    e2e_begin
    make_on_disk
    step "straight"
    run_group straight files "${ON_DISK[@]}" || FAILURES=1
    pick_ports port
    configuration "$WORK/nfsaccel.conf" one "listen=127.0.0.1:$port" coherence=exclusive
    nfsaccel_start "$WORK/nfsaccel.conf" "$port"
    step "through nfsaccel"
    run_group through "$port" files --stat "$(stat_command)" "${ON_DISK[@]}" || FAILURES=1
    finish
}

main "$@"
