#!/usr/bin/env bash
#
# mount: Linux mounts through nfsaccel, reads what the server has and writes what the server then has.

# shellcheck disable=SC2317,SC2119 # `check` runs functions; vm_begin takes no programs here

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

reads_what_the_server_has() {
    head -c 1234567 /dev/urandom >"$EXPORT/from server"
    [[ $(guest_run one 'sha256sum </mnt/"from server"') == "$(sha256sum <"$EXPORT/from server")" ]]
}

writes_what_the_server_then_has() {
    local sum
    sum=$(guest_run one 'head -c 1234567 /dev/urandom >/mnt/written && sync /mnt/written && sha256sum </mnt/written')
    [[ $sum == "$(sha256sum <"$EXPORT/written")" ]]
}

main() {
    vm_begin
    vm_nfsaccel coherence=exclusive
    vm_guests one
    check "Linux mounts through nfsaccel" guest_mount one /mnt
    check "it reads what the server has" reads_what_the_server_has
    check "the server has what it writes" writes_what_the_server_then_has
    check "it unmounts" guest_run one 'umount /mnt'
    finish
}

main "$@"
