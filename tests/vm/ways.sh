# shellcheck shell=bash
#
# ways: how a guest gets to the server: straight, or through a service of nfsaccel. Each way has a relay of its own in front of
# the server, which counts the calls that get there, and can make the server look far away. Sourced after common.sh.
#
#   way_straight near                          a relay in front of the server
#   way_through cached daemon [KEY=VALUE...]   a service of the daemon of that name, and a relay behind it
#   ways_daemon daemon 256M                    that daemon, with all its services, and so much memory for its cache; anew if it
#                                              runs already
#   way_mount one /mnt near [OPTION,...]
#   way_counts near                            calls that reached the server since the last time, as JSON

declare -A WAY_PORT=() WAY_MOUNT_PORT=()               # where guests mount
declare -A WAY_RELAY=() WAY_MOUNT_RELAY=() WAY_CONTROL=() # of the relay
declare -A WAY_DAEMON=() WAY_KEYS=()                   # of those through nfsaccel
declare -A DAEMON_PID=()

way_relay() {
    pick_ports "WAY_RELAY[$1]" "WAY_MOUNT_RELAY[$1]" "WAY_CONTROL[$1]"
    relay_start "relay-$1" --control "${WAY_CONTROL[$1]}" "${WAY_RELAY[$1]}" "127.0.0.1:$SERVER_PORT" \
        "${WAY_MOUNT_RELAY[$1]}" "127.0.0.1:$SERVER_MOUNT_PORT"
}

# way_straight WAY
way_straight() {
    way_relay "$1"
    WAY_PORT[$1]=${WAY_RELAY[$1]}
    WAY_MOUNT_PORT[$1]=${WAY_MOUNT_RELAY[$1]}
}

# way_through WAY DAEMON [KEY=VALUE...]: these are of its service
way_through() {
    local way=$1
    WAY_DAEMON[$way]=$2
    shift 2
    WAY_KEYS[$way]=$(printf '%s\n' "$@")
    way_relay "$way"
    pick_ports "WAY_PORT[$way]"
    WAY_MOUNT_PORT[$way]=${WAY_PORT[$way]}
}

# ways_daemon DAEMON MEMORY
ways_daemon() {
    local way port=''
    if [[ -n ${DAEMON_PID[$1]:-} ]]; then stop "${DAEMON_PID[$1]}"; fi
    {
        printf '%s\n' "[daemon]" "control = $WORK/$1.control" "[cache]" "memory = $2"
        for way in "${!WAY_DAEMON[@]}"; do
            [[ ${WAY_DAEMON[$way]} == "$1" ]] || continue
            port=${WAY_PORT[$way]}
            printf '%s\n' "[service $way]" "listen = 127.0.0.1:$port" "server = 127.0.0.1" \
                "nfs-port = ${WAY_RELAY[$way]}" "mount-port = ${WAY_MOUNT_RELAY[$way]}" "${WAY_KEYS[$way]}"
        done
    } >"$WORK/$1.conf"
    start "$1" "$NFSACCEL" serve -c "$WORK/$1.conf"
    DAEMON_PID[$1]=$STARTED
    alive_until 30 "$1" "$STARTED" port_open "$port"
}

# way_mount GUEST FOLDER WAY [OPTION,...]
way_mount() {
    guest_mount_at "$1" "$2" "${WAY_PORT[$3]}" "${WAY_MOUNT_PORT[$3]}" "${4:-}"
}

# way_delay MS WAY...: the round trip to the server from now on
way_delay() {
    local ms=$1 way
    shift
    for way in "$@"; do relay_ask "${WAY_CONTROL[$way]}" "delay $ms" >/dev/null; done
}

# way_counts WAY: NFS calls that reached the server since this was last asked, {"NULL": 0, ...}
way_counts() { relay_ask "${WAY_CONTROL[$1]}" reset | jq -c .nfs; }

# way_sent WAY: NFS calls that nfsaccel says it sent to the server so far, forwarded or asked, as above; of a way without
# nfsaccel: null
way_sent() {
    local daemon=${WAY_DAEMON[$1]:-}
    if [[ -z $daemon ]]; then
        say null
        return
    fi
    "$NFSACCEL" stat --json -c "$WORK/$daemon.conf" |
        jq -c --arg way "$1" '.services[] | select(.name == $way).procedures | map_values(.forwarded + .asked)'
}
