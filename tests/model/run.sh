#!/usr/bin/env bash
#
# run.sh: searches the variants of fence.pml with spin. The rules as they are must hold, wherever the search goes; with any
# one of them taken away spin must find how that goes wrong.
#
#   run.sh              all but those that take minutes
#   run.sh --all        these too (each takes up to 4 GB)
#   run.sh NAME...      these variants; the steps to what was found are shown
#
# Prints a line for each with what was found and how many states were searched; exits with 0 when all is as expected, and
# with 77 when there is no spin and it can't be installed.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

MODEL=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
SELF=$MODEL/run.sh
MEMORY_MB=1900 # of each search; twice that where it takes minutes
DEPTH=1000000
DEPTH_FEWEST=45

# name | what is expected | definitions
#   holds   no step breaks the contract
#   breaks  one does
#   feeds   readers whose calls overlap without end are not refused for ever
#   starves they may be
#   fills   a reply to such a call is kept, sooner or later, in some run
VARIANTS='
hard                      holds   -DALIASES=1
soft                      holds   -DALIASES=1 -DSOFT
soft-same-again           holds   -DALIASES=1 -DSOFT -DABA
hard-aliases              holds   -DCHANGES=1 -DNO_FAILURES
hard-aliases-mutation     holds   -DMUTATIONS=1
hard-aliases-read         holds   -DREADS=1
soft-aliases              holds   -DSOFT -DCHANGES=1 -DNO_FAILURES
soft-aliases-mutation     holds   -DSOFT -DMUTATIONS=1
soft-aliases-read         holds   -DSOFT -DREADS=1
hard-no-stamp-check       breaks  -DALIASES=1 -DNO_C7 -DNO_STAMP_CHECK
hard-no-stamp-check-c7    breaks  -DALIASES=1 -DNO_C1_C2 -DNO_STAMP_CHECK
hard-no-inflight-check    breaks  -DALIASES=1 -DNO_C7 -DNO_INFLIGHT_CHECK
hard-no-inflight-check-c7 breaks  -DALIASES=1 -DNO_C1_C2 -DNO_INFLIGHT_CHECK
hard-no-overlap-rule      breaks  -DALIASES=1 -DNO_C7 -DNO_OVERLAP_RULE
hard-no-alone-rule        breaks  -DALIASES=1 -DNO_C7 -DNO_ALONE_RULE
hard-no-alone-rule-c7     breaks  -DALIASES=1 -DNO_C1_C2 -DNO_ALONE_RULE
hard-end-before-harvest   breaks  -DALIASES=1 -DNO_C7 -DEND_BEFORE_HARVEST
hard-eviction-forgets     breaks  -DALIASES=1 -DNO_C7 -DEVICTION_FORGETS
hard-refusal-forgets      breaks  -DALIASES=1 -DNO_C7 -DREFUSAL_FORGETS
hard-no-alias-fence       breaks  -DMUTATIONS=1 -DNO_C7 -DNO_ALIAS_FENCE
hard-reply-before-end     breaks  -DMUTATIONS=1 -DNO_C7 -DREPLY_BEFORE_END
hard-one-fence            breaks  -DMUTATIONS=1 -DNO_C7 -DONE_FENCE
soft-no-stamp-check       breaks  -DALIASES=1 -DNO_C7 -DSOFT -DNO_STAMP_CHECK
soft-eviction-forgets     breaks  -DALIASES=1 -DNO_C7 -DSOFT -DEVICTION_FORGETS
soft-refusal-forgets      breaks  -DALIASES=1 -DNO_C7 -DSOFT -DREFUSAL_FORGETS
soft-no-own-record        breaks  -DALIASES=1 -DNO_C7 -DSOFT -DNO_OWN_RECORD
soft-one-fence            breaks  -DMUTATIONS=1 -DNO_C7 -DSOFT -DONE_FENCE
soft-one-digest           breaks  -DMUTATIONS=1 -DNO_C7 -DSOFT -DONE_DIGEST
herd-hard                 starves -DLIVE -DALIASES=1 -DMUTATIONS=1 -DCHANGES=1
herd-soft-mixed           starves -DLIVE -DALIASES=1 -DMUTATIONS=1 -DCHANGES=1 -DSOFT -DMIXED
herd-soft                 feeds   -DLIVE -DALIASES=1 -DMUTATIONS=1 -DCHANGES=1 -DSOFT
herd-soft-aliases         feeds   -DLIVE -DMUTATIONS=1 -DCHANGES=1 -DSOFT
herd-soft-filled          fills   -DLIVE -DALIASES=1 -DMUTATIONS=1 -DCHANGES=1 -DSOFT -DFILLED
'
VARIANTS_LONG='
hard-plain                holds   -DALIASES=1 -DPLAIN
soft-plain                holds   -DALIASES=1 -DSOFT -DPLAIN
soft-mixed                holds   -DALIASES=1 -DSOFT -DMIXED
soft-mixed-mutation       holds   -DMUTATIONS=1 -DSOFT -DMIXED
hard-three-changes        holds   -DALIASES=1 -DCHANGES=3
soft-three-changes        holds   -DALIASES=1 -DSOFT -DCHANGES=3
hard-aliases-two-changes  holds   -DNO_FAILURES
soft-aliases-failures     holds   -DSOFT -DCHANGES=1
'

# variant NAME: sets EXPECTED and DEFINITIONS
variant() {
    local name expected definitions
    while read -r name expected definitions; do
        if [[ $name == "$1" ]]; then
            EXPECTED=$expected
            read -ra DEFINITIONS <<<"$definitions"
            return
        fi
    done <<<"$VARIANTS$VARIANTS_LONG"
    die "no variant $1"
}

# build: the search, in the current folder
build() {
    local options=(-DNOREDUCE "-DMEMLIM=$MEMORY_MB")
    case $EXPECTED in
    feeds | starves) ;;
    holds) options+=(-DSAFETY -O2) ;; # smaller: no infinite runs; and long enough to be worth it
    *) options+=(-DSAFETY) ;;
    esac
    if [[ ${MODEL_STEPS:-} == 1 && $EXPECTED == breaks ]]; then options+=(-O2 -DREACH); fi
    ln -sf "$MODEL/fence.pml" .
    spin -a "${DEFINITIONS[@]}" fence.pml && gcc "${options[@]}" -o pan pan.c
}

search() {
    local options=("-m$DEPTH" -E) # -E: that everybody waits is not an error; the herd does when it is fed
    case $EXPECTED in
    feeds | starves) options+=(-a) ;;
    breaks) # for whoever reads the steps, the fewest
        if [[ ${MODEL_STEPS:-} == 1 ]]; then options=("-m$DEPTH_FEWEST" -E -i); fi
        ;;
    esac
    ./pan "${options[@]}"
}

# verdict FILE: the word for what the search found
verdict() {
    if grep -q 'assertion violated' "$1"; then
        if [[ $EXPECTED == fills ]]; then say fills; else say breaks; fi
    elif grep -q 'acceptance cycle' "$1"; then
        say starves
    elif grep -Eq 'Search not completed|search depth too small|out of memory|aborted' "$1" ||
        ! grep -q 'errors: 0$' "$1"; then
        say 'was not searched to the end'
    else
        case $EXPECTED in
        feeds | starves) say feeds ;;
        *) say holds ;;
        esac
    fi
}

# The steps of the run that was found.
show_steps() { spin -t -T "${DEFINITIONS[@]}" fence.pml 2>&1 | sed -n '/^spin: trail ends/q; s/^/    /p'; }

# one NAME: prints what was found
one() {
    local found states status=0
    variant "$1"
    if [[ $VARIANTS_LONG == *$'\n'"$1 "* ]]; then MEMORY_MB=$((MEMORY_MB * 2)); fi
    make_work
    cd "$WORK"
    if ! build >build.log 2>&1; then
        cat build.log >&2
        die "$1 does not build"
    fi
    search >search.log 2>&1 || true
    found=$(verdict search.log)
    states=$(grep -oE '[0-9.e+]+ states, stored' search.log) || states='? states'
    if [[ $found == "$EXPECTED" ]]; then
        printf 'ok - %-26s %-8s %s\n' "$1" "$found" "${states%, stored}"
    else
        status=1
        printf 'not ok - %-22s %s, expected: %s; %s\n' "$1" "$found" "$EXPECTED" "${states%, stored}"
    fi
    if ((status)) || [[ ${MODEL_STEPS:-} == 1 ]]; then
        if compgen -G '*.trail' >/dev/null; then show_steps; else tail -n 40 search.log; fi
    fi
    return "$status"
}

names() { awk 'NF { print $1 }' <<<"$1"; }

main() {
    local list
    if [[ ${1:-} == --one ]]; then
        one "$2"
        return
    fi
    if ! (packages_need build model); then
        say "spin is not here and can't be installed"
        exit 77
    fi
    case ${1:-} in
    '') list=$(names "$VARIANTS") ;;
    --all) list=$(names "$VARIANTS$VARIANTS_LONG") ;;
    -*) die "usage: run.sh [--all | NAME...]" ;;
    *)
        list=$(printf '%s\n' "$@")
        export MODEL_STEPS=1
        ;;
    esac
    make_work
    say "$list" >"$WORK/names"
    run_group xargs -a "$WORK/names" -P "$(nproc)" -n 1 "$SELF" --one
}

main "$@"
