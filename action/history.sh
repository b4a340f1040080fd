#!/usr/bin/env bash
# Fetches the commits to compare that the checkout lacks: `actions/checkout` fetches one commit by
# default.
#
# Missing commits are fetched by their IDs. If a merge base is missing, history is deepened in steps,
# up to a limit, until `layercake debug side` finds both sides. `--depth` is used only in shallow
# checkouts, since it would truncate the history of a full one.
#
# `layercake lint --auto` decides what to compare (docs/comparing.md), except in two cases that only
# this script can detect: a base branch that it had to fetch, and a commit before a force push that
# the server no longer has.
set -euo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=action/commands.sh
. "$here/commands.sh"
# shellcheck source=action/git.sh
. "$here/git.sh"

# Numbers of commits by which history is deepened, about 4000 in total.
readonly DEEPEN_STEPS="32 64 128 256 512 1024 2048"

if ! checkout=$(checkout_root "$INPUT_PATH"); then
    log "nothing is fetched: $INPUT_PATH is not in a git repository, or a symbolic link leads out of it"
    exit 0
fi
# For a repository of another owner, layercake prints the remedy.
if ! run_git rev-parse --git-dir >/dev/null; then exit 0; fi
origin=$(remote)

is_shallow() { [[ $(run_git rev-parse --is-shallow-repository) == true ]]; }

has() { run_git cat-file -e "$1^{commit}" 2>/dev/null; }

is_null_id() { [[ $1 =~ ^0+$ ]]; }

# Fetches a commit unless the checkout has it. Fails if that is impossible.
fetch_commit() {
    if has "$1"; then return 0; fi
    log "fetching $1"
    if is_shallow; then fetch --depth=1 "$1"; else fetch '' "$1"; fi
    has "$1"
}

# Fetches a commit if possible: the program reports what is still missing.
try_fetch_commit() { if is_object_id "$1" && ! fetch_commit "$1"; then log "cannot fetch $1"; fi; }

# Fetches a branch of the remote, with as little history as possible.
fetch_branch() {
    if has "refs/remotes/$origin/$1"; then return 0; fi
    local spec="+refs/heads/$1:refs/remotes/$origin/$1"
    log "fetching branch $1"
    if is_shallow; then fetch --depth=1 "$spec"; else fetch '' "$spec"; fi
}

# Prints the parents of a commit, even if the checkout lacks them.
parents() { run_git cat-file commit "$1" | sed -n -e '/^$/q' -e 's/^parent //p'; }

# Prints a field of the event by its jq filter; nothing if the field is missing.
event_field() {
    if [[ ! -f ${GITHUB_EVENT_PATH-} ]]; then return 0; fi
    jq -r "$1 // empty" "$GITHUB_EVENT_PATH" | tr -d '\r'
}

# Whether the program lacks history to find both sides. Other errors are left to `lint`.
lacks_history() {
    local message
    if message=$(layercake -C "$INPUT_PATH" debug side "$@" 2>&1 >/dev/null); then return 1; fi
    is_shallow && [[ $message == *shallow* ]]
}

# Deepens history until both sides are found: COMMIT-OR-REFSPEC FLAG...
deepen_until_found() {
    local wanted=$1 head commits
    shift
    head=$(run_git rev-parse HEAD)
    for commits in $DEEPEN_STEPS; do
        if ! lacks_history "$@"; then return 0; fi
        log "merge base not found: fetching $commits more commits"
        if ! fetch --deepen="$commits" "$wanted" "$head" &&
            ! fetch --deepen="$commits" "$wanted"; then
            return 0
        fi
    done
    if lacks_history "$@"; then
        warning "no merge base found in the history that this action fetches; set \`fetch-depth: 0\` for \`actions/checkout\`"
    fi
}

fetch_for_pull_request() {
    local head target other
    head=$(event_field .pull_request.head.sha)
    # A test merge by GitHub: its other parent is the target branch.
    other=$(parents HEAD | grep -v -x -F -e "$head" || true)
    if [[ $(parents HEAD | wc -l) -eq 2 ]] && is_object_id "$other"; then
        try_fetch_commit "$other"
        return 0
    fi
    target=${GITHUB_BASE_REF:-$(event_field .pull_request.base.ref)}
    if [[ -z $target ]] || ! fetch_branch "$target"; then return 0; fi
    deepen_until_found "+refs/heads/$target:refs/remotes/$origin/$target" --auto
}

fetch_for_push() {
    local before after parent
    before=$(event_field .before)
    after=$(event_field .after)
    if ! is_object_id "$after" || is_null_id "$after"; then return 0; fi
    try_fetch_commit "$after"
    if is_object_id "$before" && ! is_null_id "$before" && fetch_commit "$before"; then return 0; fi
    parent=$(parents "$after" | head -n 1)
    if [[ -z $parent ]]; then return 0; fi
    try_fetch_commit "$parent"
    if is_object_id "$before" && ! is_null_id "$before" && has "$parent"; then
        notice "the branch was force-pushed, and the server no longer has $before, its earlier commit; $after is compared with its first parent"
        output from "$parent"
        output to "$after"
    fi
}

# Fetches the revision that the user named: a commit, a branch of the remote or a tag.
fetch_base() {
    local base=$1 branch
    if ! has "$base"; then
        branch=${base#"$origin/"}
        if is_object_id "$base"; then
            try_fetch_commit "$base"
        elif ! run_git check-ref-format "refs/heads/$branch"; then
            : # not a valid name: the program reports it
        elif has "refs/remotes/$origin/$branch" || fetch_branch "$branch"; then
            base=$origin/$branch
        elif ! fetch '' "+refs/tags/$branch:refs/tags/$branch"; then
            log "$origin has neither a branch nor a tag \`$branch\`"
        fi
    fi
    output since "$base"
    case $base in
    "$origin"/*) deepen_until_found "+refs/heads/${base#"$origin/"}:refs/remotes/$base" --since="$base" ;;
    *) if has "$base"; then
        deepen_until_found "$(run_git rev-parse "$base^{commit}")" --since="$base"
    fi ;;
    esac
}

if [[ $INPUT_BASE != auto ]]; then
    fetch_base "$INPUT_BASE"
    exit 0
fi
case ${GITHUB_EVENT_NAME-} in
pull_request | pull_request_target | pull_request_review) fetch_for_pull_request ;;
push) fetch_for_push ;;
merge_group)
    try_fetch_commit "$(event_field .merge_group.base_sha)"
    try_fetch_commit "$(event_field .merge_group.head_sha)"
    ;;
esac
