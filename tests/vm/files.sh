#!/usr/bin/env bash
#
# files: what a file system must do, as Linux sees it through nfsaccel; after each check, what the client sees is compared
# with what the server has.

# shellcheck disable=SC2317,SC2016 # `check` runs functions; a guest's shell is to expand what is in quotes

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# same_on_server FOLDER: below the mount in the guest, and below the export here
same_on_server() {
    diff <(guest_run one "vm-tree /mnt/'$1'") <("$TOOLS/vm-tree" "$EXPORT/$1") >"$WORK/diff" || {
        say "# the client's view and the server's files are not the same:"
        head -n 12 "$WORK/diff" | cut -c 1-200 | sed 's/^/# /'
        return 1
    }
}

# file_case NAME: of vm-files
file_case() { guest_run one "vm-files /mnt/cases $1" && same_on_server "cases/$1"; }

# ---- A file that is open loses its name

# held SCRIPT: runs it in the guest, with what it leaves open, until /tmp/go is there
held() {
    guest_run one "rm -f /tmp/go /tmp/held
        ($1
        touch /tmp/held
        until [[ -e /tmp/go ]]; do sleep 0.05; done) >/tmp/held.log 2>&1 &
        until [[ -e /tmp/held ]]; do sleep 0.05; kill -0 \$! || { cat /tmp/held.log; exit 1; }; done"
}

hidden() { find "$EXPORT/$1" -name '.nfs*' | wc -l; }

# While it is open, the server has it under another name; its contents are what was written since. Then it has no name.
hidden_on_server() {
    local folder=$1 script=$2 want=$3 got
    held "mkdir /mnt/$folder && cd /mnt/$folder && $script" || return
    if (($(hidden "$folder") != 1)); then
        say "# there are $(hidden "$folder") hidden files"
        return 1
    fi
    got=$(cat "$EXPORT/$folder"/.nfs*)
    same_on_server "$folder" || return
    guest_run one 'touch /tmp/go' || return
    wait_until 10 "the end of the hidden file" is_not_hidden "$folder" || return
    same_on_server "$folder" && [[ $got == "$want" ]]
}

is_not_hidden() { (($(hidden "$1") == 0)); }

# ---- Users

# users SCRIPT: in /mnt/users; `may` and `may_not` run a command as a user
users() {
    guest_run one '
        bad=0
        as() { local command=(busybox ash -c "$2"); [[ $2 == *[\>\|]* ]] || command=($2); setpriv --reuid="$1" --regid="$1" --init-groups "${command[@]}"; }
        may() { as "$@" >/tmp/why 2>&1 || { echo "# $1 may not: $2: $(</tmp/why)"; bad=1; }; }
        may_not() { if as "$@" >/dev/null 2>&1; then echo "# $1 may: $2"; bad=1; fi; }
        mkdir -p /mnt/users && cd /mnt/users || exit 1
        '"$1"'
        exit $bad' && same_on_server users
}

MODES='
    echo text >file; chown alice:project file
    chmod 600 file
    may alice "cat file"; may alice "echo more >>file"; may_not bob "cat file"; may_not carol "cat file"
    chmod 640 file
    may alice "cat file"; may bob "cat file"; may_not bob "echo more >>file"; may_not carol "cat file"
    chmod 664 file
    may bob "echo more >>file"; may carol "cat file"; may_not carol "echo more >>file"
    chmod 606 file
    may alice "cat file"; may_not bob "cat file"; may carol "echo more >>file"
    chmod 066 file
    may_not alice "cat file"; may bob "cat file"; may carol "cat file"'

GROUPS_OF='
    echo text >group; chown root:project group; chmod 640 group
    may alice "cat group"; may bob "cat group"; may_not carol "cat group"
    without() { setpriv --reuid=alice --regid=alice --clear-groups cat group; }
    with() { setpriv --reuid=carol --regid=carol --groups 5,6,7,2000 cat group; }
    for i in 1 2 3; do
        without >/dev/null 2>&1 && { echo "# alice may without her group"; bad=1; }
        with >/dev/null || { echo "# carol may not with that group"; bad=1; }
        may alice "cat group"
        may_not carol "cat group"
    done'

FOLDERS='
    mkdir shared private search list sticky
    chown alice:project shared && chmod 2770 shared
    may bob "echo from bob >shared/bob"; may alice "echo more >>shared/bob || cat shared/bob"; may_not carol "ls shared"
    may alice "mkdir shared/below"; may bob "touch shared/below/file || ls shared/below"
    [[ $(stat -c %G shared/bob shared/below) == $'"'project\nproject'"' ]] || { echo "# not of the group"; bad=1; }
    chown alice:alice private && chmod 700 private
    may alice "echo 1 >private/a"; may_not bob "cat private/a"; may_not bob "ls private"; may_not bob "touch private/b"
    echo known >search/known && chmod 711 search
    may carol "cat search/known"; may_not carol "ls search"; may_not carol "cat search/other"
    echo seen >list/seen && chmod 744 list
    may carol "ls list"; may_not carol "cat list/seen"
    chmod 1777 sticky
    may alice "echo 1 >sticky/a"; may_not bob "rm -f sticky/a"; may_not bob "mv sticky/a sticky/b"
    may alice "mv sticky/a sticky/b"; may bob "touch sticky/c"; may alice "rm sticky/b"'

OWNERS='
    echo text >owned && chown alice:alice owned && chmod 644 owned
    may alice "chmod 600 owned"; may_not bob "chmod 644 owned"; may_not alice "chown bob owned"
    may alice "chgrp project owned"; may_not alice "chgrp carol owned"; may_not bob "touch -d 2001-01-01 owned"
    may alice "touch -d 2001-01-01 owned"; may_not bob "truncate -s 0 owned"
    chown bob owned
    may bob "cat owned"; may_not alice "cat owned"'

# ---- A tree and its copy

# Neither are the times of symbolic links compared here: nfs-ganesha 4.3 does not set them.

# make_tree: on the server
make_tree() (
    mkdir "$EXPORT/tree" && cd "$EXPORT/tree" || exit 1
    mkdir -p a/b/'c d' x/$'\xc3\xa4'
    folders=(. a a/b 'a/b/c d' x x/$'\xc3\xa4')
    for ((i = 0; i < 150; i++)); do
        head -c $((i * i * 7 % 90000)) /dev/urandom >"${folders[i % 6]}/f$i"
    done
    truncate -s 10000000 sparse && echo end >>sparse
    touch empty "$(printf '%0255d' 7)" $'caf\xc3\xa9' $'new\nline' ./-dash
    ln a/f1 x/hard && ln a/f1 hard
    ln -s f2 link && ln -s ../a/b x/up && ln -s nowhere dangling && ln -s "$(printf '%0900d' 1)" long
    mkfifo x/pipe && mknod x/null c 1 3
    i=0
    while IFS= read -r -d '' path; do
        chown $((1000 + i % 3)):$((i % 2 ? 2000 : 1000 + i % 3)) "$path"
        chmod "$(printf '%o' $((i * 37 % 4096)))" "$path"
        i=$((i + 1))
    done < <(find . \( -type f -o -type d \) -print0 | sort -z)
    chown -h 1002:2000 link
    touch -d 1970-01-01T00:00:01.5 empty && touch -d 2099-12-31T23:59:59.987654321 sparse && touch -h -d 2001-09-09 link
    touch -d 1999-12-31T23:59:59.000000001 a x
    "$TOOLS/vm-tree" --no-link-times "$EXPORT/tree" >"$WORK/tree"
)

# is_tree FOLDER: in the guest, and as far as it is on the mount, on the server; both are the tree
is_tree() {
    guest_run one "vm-tree --no-link-times $1" | diff "$WORK/tree" - >"$WORK/diff" || {
        head -n 12 "$WORK/diff" | cut -c 1-200 | sed 's/^/# /'
        return 1
    }
    [[ $1 != /mnt/* ]] || "$TOOLS/vm-tree" --no-link-times "$EXPORT/${1#/mnt/}" | cmp - "$WORK/tree"
}

# copied FROM TO: by cp -a
copied() { guest_run one "cp -a $1 $2" && is_tree "$2"; }

# nfs-ganesha 4.3 can't read the SETACL that cp makes of a file without a list. So these mounts have none.
mount_without_lists() { guest_run one 'umount /mnt' && guest_mount one /mnt noacl; }

copied_by_a_new_client() { mount_without_lists && copied "$@"; }

packed_and_unpacked() {
    guest_run one "mkdir $2 && tar -C $1 --format=posix -c . | tar -C $2 --warning=no-timestamp -x -p" && is_tree "$2"
}

removed() { guest_run one 'rm -r /mnt/copy /mnt/again /mnt/packed' && [[ $(ls "$EXPORT") == $'cases\nremoved\nreplaced\ntree\nusers' ]]; }

main() {
    local name what
    vm_begin vm-files vm-tree
    vm_nfsaccel coherence=exclusive doubt=0
    vm_guests one
    guest_mount one /mnt
    guest_run one 'mkdir /mnt/cases'
    while read -r name what; do check "$what" file_case "$name"; done < <("$TOOLS/vm-files")
    check "an open file that is removed has another name on the server, then none" hidden_on_server removed \
        'echo before >file && exec 3>>file && rm file && echo after >&3 && sync /dev/fd/3' $'before\nafter'
    check "an open file that is replaced has another name on the server, then none" hidden_on_server replaced \
        'echo old >file && echo new >other && exec 3>>file && mv other file && echo more >&3 && sync /dev/fd/3' $'old\nmore'
    check "modes: owner, group, others" users "$MODES"
    check "groups: who has one may, whoever it is" users "$GROUPS_OF"
    check "directories: of a group, private, search only, list only, sticky" users "$FOLDERS"
    check "only an owner changes modes and times" users "$OWNERS"
    mount_without_lists
    make_tree
    check "cp -a of a tree from the mount" copied /mnt/tree /tmp/tree
    check "cp -a to the mount" copied /tmp/tree /mnt/copy
    check "cp -a within the mount, by a client that has just come" copied_by_a_new_client /mnt/copy /mnt/again
    check "tar, packed and unpacked" packed_and_unpacked /mnt/again /mnt/packed
    check "all three trees are removed" removed
    check "it unmounts" guest_run one 'umount /mnt'
    finish
}

main "$@"
