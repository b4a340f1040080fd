#!/usr/bin/env bash
# Brings the commits that are to be compared, where the checkout lacks them;
# `actions/checkout` takes one commit unless told otherwise.
#
# Which they are is for `layercake lint --auto` to say (docs/comparing.md), and
# it is asked here with `layercake debug side`, before and after. What is known
# to be missing is fetched by its id. Where a merge base is missing, history is
# deepened in steps, up to a bound. `--depth` is given in a checkout that is
# shallow already and nowhere else: it would cut off the history of a whole one.
#
# Nothing here decides what is compared, but for two cases that only this script
# can know of, and says so: a branch whose name it had to fetch, and a commit
# from before a forced push that the server does not have any more.
set -euo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=action/commands.sh
. "$here/commands.sh"
# shellcheck source=action/git.sh
. "$here/git.sh"

# Twice as much as the last time, up to some 4000 commits of each branch.
readonly STEPS="32 64 128 256 512 1024 2048"

if ! checkout=$(checkout_root "$INPUT_PATH"); then
    say "$INPUT_PATH is in no git repository, or a link leads out of it; nothing is fetched"
    exit 0
fi
# Of somebody else's repository layercake says what helps.
if ! in_checkout rev-parse --git-dir >/dev/null; then exit 0; fi
origin=$(remote)

is_shallow() { [[ $(in_checkout rev-parse --is-shallow-repository) == true ]]; }

has() { in_checkout cat-file -e "$1^{commit}" 2>/dev/null; }

is_null() { [[ $1 =~ ^0+$ ]]; }

# Brings one commit, if it is not here, and fails if that cannot be.
bring() {
    if has "$1"; then return 0; fi
    say "fetching $1"
    if is_shallow; then fetch --depth=1 "$1"; else fetch '' "$1"; fi
    has "$1"
}

# Brings one commit, if it can: what is still missing, the program says.
try_bring() { if is_id "$1" && ! bring "$1"; then say "$1 cannot be fetched"; fi; }

# Brings a branch of the remote, with no more of its history than there has to be.
bring_branch() {
    if has "refs/remotes/$origin/$1"; then return 0; fi
    local spec="+refs/heads/$1:refs/remotes/$origin/$1"
    say "fetching the branch $1"
    if is_shallow; then fetch --depth=1 "$spec"; else fetch '' "$spec"; fi
}

# The parents of a commit, also of one whose parents are not here.
parents() { in_checkout cat-file commit "$1" | sed -n -e '/^$/q' -e 's/^parent //p'; }

# A text of the event, by its jq filter; nothing where it is not there.
event() {
    if [[ ! -f ${GITHUB_EVENT_PATH-} ]]; then return 0; fi
    jq -r "$1 // empty" "$GITHUB_EVENT_PATH" | tr -d '\r'
}

# Whether the program lacks history to name both sides. What else may keep it
# from that is no matter here: `lint` says so.
lacks_history() {
    local said
    if said=$(layercake -C "$INPUT_PATH" debug side "$@" 2>&1 >/dev/null); then return 1; fi
    is_shallow && [[ $said == *shallow* ]]
}

# Deepens history until both sides are known.
deepen_until_known() {
    local wanted=$1 head commits
    shift
    head=$(in_checkout rev-parse HEAD)
    for commits in $STEPS; do
        if ! lacks_history "$@"; then return 0; fi
        say "the merge base is not among these commits: fetching $commits more"
        if ! fetch --deepen="$commits" "$wanted" "$head" &&
            ! fetch --deepen="$commits" "$wanted"; then
            return 0
        fi
    done
    if lacks_history "$@"; then
        warning "the merge base is further back than this action deepens a shallow checkout; \`fetch-depth: 0\` for \`actions/checkout\` takes all of history"
    fi
}

pull_request() {
    local head target other
    head=$(event .pull_request.head.sha)
    # GitHub's merge on trial: the other parent is what it was merged into.
    other=$(parents HEAD | grep -v -x -F -e "$head" || true)
    if [[ $(parents HEAD | wc -l) -eq 2 ]] && is_id "$other"; then
        try_bring "$other"
        return 0
    fi
    target=${GITHUB_BASE_REF:-$(event .pull_request.base.ref)}
    if [[ -z $target ]] || ! bring_branch "$target"; then return 0; fi
    deepen_until_known "+refs/heads/$target:refs/remotes/$origin/$target" --auto
}

push() {
    local before after parent
    before=$(event .before)
    after=$(event .after)
    if ! is_id "$after" || is_null "$after"; then return 0; fi
    try_bring "$after"
    if is_id "$before" && ! is_null "$before" && bring "$before"; then return 0; fi
    parent=$(parents "$after" | head -n 1)
    if [[ -z $parent ]]; then return 0; fi
    try_bring "$parent"
    if is_id "$before" && ! is_null "$before" && has "$parent"; then
        notice "the branch was overwritten, and $before, what it was before, is gone from the server; $after is compared with its first parent"
        output from "$parent"
        output to "$after"
    fi
}

# A revision that the user names: a commit, a branch of the remote or a tag.
named() {
    local base=$1 branch
    if ! has "$base"; then
        branch=${base#"$origin/"}
        if is_id "$base"; then
            try_bring "$base"
        elif ! in_checkout check-ref-format "refs/heads/$branch"; then
            : # not a name that a server can have; the program says what is wrong
        elif has "refs/remotes/$origin/$branch" || bring_branch "$branch"; then
            base=$origin/$branch
        elif ! fetch '' "+refs/tags/$branch:refs/tags/$branch"; then
            say "$origin has neither a branch nor a tag \`$branch\`"
        fi
    fi
    output since "$base"
    case $base in
    "$origin"/*) deepen_until_known "+refs/heads/${base#"$origin/"}:refs/remotes/$base" --since="$base" ;;
    *) if has "$base"; then
        deepen_until_known "$(in_checkout rev-parse "$base^{commit}")" --since="$base"
    fi ;;
    esac
}

if [[ $INPUT_BASE != auto ]]; then
    named "$INPUT_BASE"
    exit 0
fi
case ${GITHUB_EVENT_NAME-} in
pull_request | pull_request_target | pull_request_review) pull_request ;;
push) push ;;
merge_group)
    try_bring "$(event .merge_group.base_sha)"
    try_bring "$(event .merge_group.head_sha)"
    ;;
esac
