# shellcheck shell=bash
#
# guests: Linux in QEMU, without KVM, as a client of nfsaccel or as the server behind it. A test of tests/vm sources this
# after lib.sh.
#
#   guests_begin                     the image is there; PROGRAMS are what a guest finds in /vm/tools
#   guest_start one
#   guest_run one 'uname -r'
#
# A guest reaches this machine's loopback as 10.0.2.2, and is reached by the ports that guest_start gives it. All that it
# writes to its own file system is in memory, and gone with it.

# shellcheck disable=SC2034
HOST=10.0.2.2
GUEST_MEMORY=${GUEST_MEMORY:-2G}

declare -A GUEST_AGENT=() # name: the port of its agent here
declare -A GUEST_PID=()

# guests_begin [FILE...]: files that are to be in each guest's /vm/tools
guests_begin() {
    packages_need vm
    IMAGE=$("$REPO/tests/vm/image")
    tar -c -f "$WORK/tools.tar" -C / --transform 's|.*/||' -T /dev/null "${@#/}"
    truncate -s %512 "$WORK/tools.tar"
}

# guest_start NAME [HERE-THERE...]: boots it; each pair of ports forwards one of 127.0.0.1 to one of the guest. With
# GUEST_DISK, that file is its disk /dev/vdc. It does not check its timer, which an emulator on a busy machine may bring to fail.
guest_start() {
    local name=$1 forward network=user,id=net port disk=()
    shift
    if [[ -n ${GUEST_DISK:-} ]]; then disk=(-drive "file=$GUEST_DISK,format=raw,if=virtio"); fi
    pick_ports port
    GUEST_AGENT[$name]=$port
    for forward in "$port-1" "$@"; do
        network+=",hostfwd=tcp:127.0.0.1:${forward%-*}-:${forward#*-}"
    done
    : >"$WORK/console-$name.log"
    start "guest-$name" qemu-system-x86_64 -accel tcg -cpu max -m "$GUEST_MEMORY" -smp 1 -display none -no-reboot \
        -nodefaults -serial "file:$WORK/console-$name.log" -monitor none \
        -kernel "$IMAGE/vmlinuz" -initrd "$IMAGE/initrd" -append "console=ttyS0 quiet panic=-1 no_timer_check guest=$name" \
        -drive "file=$IMAGE/root.ext4,format=raw,if=virtio,readonly=on" \
        -drive "file=$WORK/tools.tar,format=raw,if=virtio,readonly=on" \
        "${disk[@]}" -netdev "$network" -device virtio-net-pci,netdev=net
    GUEST_PID[$name]=$STARTED
}

# guest_ready NAME: waits until it takes scripts
guest_ready() {
    alive_until 120 "guest-$1" "${GUEST_PID[$1]}" guest_answers "$1" || {
        tail -n 20 "$WORK/console-$1.log" >&2
        return 1
    }
}

guest_answers() { grep -q '^boot: ready' "$WORK/console-$1.log" && guest_run "$1" true 2>/dev/null; }

# guest_run NAME SCRIPT: runs it there in bash as root; prints what it prints, both kinds of output; its status is the script's
guest_run() {
    local agent line='' status
    exec {agent}<>"/dev/tcp/127.0.0.1/${GUEST_AGENT[$1]}" || return 255
    # A guest that is not listening yet resets the connection: the shell that writes to it ends, not this one.
    (base64 -w 0 <<<"$2" && say) >&"$agent" || true
    while IFS= read -r line <&"$agent" || [[ -n $line ]]; do
        if [[ $line =~ ^(.*)@status\ ([0-9]+)$ ]]; then
            if [[ -n ${BASH_REMATCH[1]} ]]; then say "${BASH_REMATCH[1]}"; fi
            status=${BASH_REMATCH[2]}
            break
        fi
        say "$line"
    done
    exec {agent}>&-
    if [[ -z ${status:-} ]]; then complain "guest $1 gave no status; its last words: $line"; fi
    return "${status:-255}"
}

# guest_stop NAME
guest_stop() { stop "${GUEST_PID[$1]}"; }
