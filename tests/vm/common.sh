# shellcheck shell=bash
#
# common: what the tests with Linux guests share: a server, nfsaccel in front of it, guests, and their mounts.
#
#   vm_begin PROGRAM...           nfs-ganesha, and what guests need
#   vm_nfsaccel [KEY=VALUE...]    in front of it, at PROXY_PORT
#   vm_guests one two             started side by side
#   guest_mount one /mnt          through nfsaccel; `straight` behind it: straight to the server

# shellcheck source-path=SCRIPTDIR source=../e2e/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/common.sh"
# shellcheck source-path=SCRIPTDIR source=guests.sh
source "$(dirname "${BASH_SOURCE[0]}")/guests.sh"

# vm_begin [PROGRAM...]: of build/release/tests, for the guests
vm_begin() {
    e2e_begin
    chmod 777 "$EXPORT"
    SERVER_PORT=$GANESHA_PORT
    SERVER_MOUNT_PORT=$GANESHA_MOUNT_PORT
    SERVER_PATH=$EXPORT
    guests_begin "${@/#/$TOOLS/}"
}

# vm_nfsaccel [KEY=VALUE...]: one service with these keys, in front of SERVER_PORT
vm_nfsaccel() {
    pick_ports PROXY_PORT
    vm_configure "$@"
    nfsaccel_start "$WORK/nfsaccel.conf" "$PROXY_PORT"
}

# vm_configure [KEY=VALUE...]: the configuration only
vm_configure() {
    configuration "$WORK/nfsaccel.conf" one "listen=127.0.0.1:$PROXY_PORT" "nfs-port=$SERVER_PORT" \
        "mount-port=$SERVER_MOUNT_PORT" "$@"
}

# vm_guests NAME...
vm_guests() {
    local name
    for name in "$@"; do guest_start "$name"; done
    for name in "$@"; do guest_ready "$name" || die "guest $name did not start"; done
}

# guest_mount NAME FOLDER [straight] [OPTION,...]
guest_mount() {
    local name=$1 folder=$2 port=$PROXY_PORT mount_port=$PROXY_PORT
    shift 2
    if [[ ${1:-} == straight ]]; then
        port=$SERVER_PORT
        mount_port=$SERVER_MOUNT_PORT
        shift
    fi
    guest_mount_at "$name" "$folder" "$port" "$mount_port" "${1:-}"
}

# guest_mount_at NAME FOLDER PORT MOUNT_PORT [OPTION,...]: version 3 over TCP, hard, without locks
guest_mount_at() {
    guest_run "$1" "mkdir -p $2
        mount -t nfs -o vers=3,proto=tcp,mountproto=tcp,nolock,hard,port=$3,mountport=$4${5:+,$5} $HOST:$SERVER_PATH $2"
}

# guest_counts NAME: the calls its NFS client made so far, all mounts together, in the order of RFC 1813
guest_counts() { guest_run "$1" "awk '\$1 == \"proc3\" { \$1 = \$2 = \"\"; print }' /proc/net/rpc/nfs"; }

# server_counts: calls that nfsaccel sent to its server so far: PROCEDURE COUNT, a line each
server_counts() {
    "$NFSACCEL" stat --json -c "$WORK/nfsaccel.conf" |
        jq -r '.services[0].procedures | to_entries[] | "\(.key) \(.value.forwarded)"'
}

# ---- The kernel's own NFS server, in a guest

# nfsd_start NAME: it serves an ext4 disk of its own. SERVER_PORT, SERVER_MOUNT_PORT and SERVER_PATH are then its.
nfsd_start() {
    local name=$1
    pick_ports SERVER_PORT SERVER_MOUNT_PORT
    truncate -s 2G "$WORK/$name.ext4"
    mke2fs -q -t ext4 "$WORK/$name.ext4"
    SERVER_PATH=/export
    nfsd_run "$name"
}

# nfsd_run NAME: boots it, again if it was stopped
nfsd_run() {
    GUEST_DISK=$WORK/$1.ext4 guest_start "$1" "$SERVER_PORT-2049" "$SERVER_MOUNT_PORT-20048"
    guest_ready "$1" || die "guest $1 did not start"
    guest_run "$1" '
        set -e
        mkdir -p /export /run/rpcbind /run/sendsigs.omit.d /var/lib/nfs/v4recovery
        touch /var/lib/nfs/etab /var/lib/nfs/rmtab
        mount -t ext4 /dev/vdc /export
        chmod 777 /export
        echo "/export *(rw,no_root_squash,insecure,no_subtree_check,sync)" >/etc/exports
        modprobe nfsd
        mount -t nfsd nfsd /proc/fs/nfsd
        rpcbind -w
        exportfs -a
        rpc.nfsd --no-nfs-version 4 --nfs-version 3 --no-udp --tcp --grace-time 10 --lease-time 10 8
        rpc.mountd --no-udp --port 20048'
}
