#!/usr/bin/env bash
# Keeps one comment on the pull request up to date.
#
# The comment is identified by a hidden marker in its first line and by its author, which must be
# the token's owner: a comment by another author is never changed. It is created according to
# `comment-when`, and then updated by every run.
#
# A token without write access does not fail the job: a notice names the missing permission.
set -euo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=action/commands.sh
. "$here/commands.sh"

# Not exported: only curl gets the token, on its standard input, so no process list shows it.
token=${INPUT_TOKEN-}
unset INPUT_TOKEN

# Maximum length of a comment on GitHub, in characters.
readonly MAX_CHARACTERS=65536

folder=$(mktemp -d "$RUNNER_TEMP/layercake-comment.XXXXXX")
answer=$folder/answer.json
request=$folder/request.json

# Calls GitHub's API. Sets `status`, and writes the response body to $answer.
call_api() {
    local method=$1 url=$2
    shift 2
    status=$(
        printf 'Authorization: Bearer %s\n' "$token" |
            curl --disable --silent --show-error --max-time 60 --retry 2 --request "$method" \
                --header @- --header 'Accept: application/vnd.github+json' \
                --header 'X-GitHub-Api-Version: 2022-11-28' \
                --output "$answer" --write-out '%{http_code}' "$@" "$url"
    ) || status=000
}

# Ends the step without a comment, and reports why.
give_up() {
    case $status in
    403 | 404)
        notice "$1: GitHub answered $status; the token needs \`pull-requests: write\`, which the token of a pull request from a fork never has. The report is in the job summary"
        ;;
    *) warning "$1: GitHub answered $status" ;;
    esac
    exit 0
}

# Prints the number of this job's pull request; nothing if there is none.
pull_request_number() {
    case ${GITHUB_EVENT_NAME-} in
    workflow_run) number_of_workflow_run ;;
    *) jq -r '.pull_request.number // empty' "$GITHUB_EVENT_PATH" | tr -d '\r' ;;
    esac
}

# Prints the number of the pull request whose run saved the report: the only open one whose head is
# the commit of the event. The report itself is untrusted and not used for this.
number_of_workflow_run() {
    local head query
    head=$(jq -r '.workflow_run.head_sha' "$GITHUB_EVENT_PATH" | tr -d '\r')
    query=$(jq -r '.workflow_run | "\(.head_repository.owner.login):\(.head_branch)" | @uri' \
        "$GITHUB_EVENT_PATH" | tr -d '\r')
    call_api GET "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/pulls?state=open&per_page=100&head=$query"
    if [[ $status != 200 ]]; then return 0; fi
    jq -r --arg head "$head" --arg repository "$GITHUB_REPOSITORY" '
        [.[] | select(.head.sha == $head and .base.repo.full_name == $repository) | .number]
        | if length == 1 then .[0] else empty end' "$answer" | tr -d '\r'
}

# Prints the login of the token's owner. `/user` does not work for apps, such as a job's token.
token_login() {
    call_api POST "${GITHUB_GRAPHQL_URL:-$GITHUB_API_URL/graphql}" --data '{"query": "{ viewer { login } }"}'
    local login=
    if [[ $status == 200 ]]; then
        login=$(jq -r '.data.viewer.login // empty' "$answer" | tr -d '\r')
    fi
    printf '%s' "${login:-github-actions[bot]}"
}

# Sets `found` to the ID of the comment with our marker by this author; empty if there is none.
find_comment() {
    local page=1
    found=
    while ((page <= 100)); do
        call_api GET "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/issues/$pull/comments?per_page=100&page=$page"
        if [[ $status != 200 ]]; then give_up "cannot read the comments"; fi
        found=$(jq -r --arg marker "$marker" --arg author "$1" '
            [.[] | select(.body != null and (.body | split("\n")[0] | rtrimstr("\r")) == $marker)
                 | select(.user.login == $author
                     or (.user.type == "Bot" and .user.login == $author + "[bot]"))
                 | .id] | .[0] // empty' "$answer" | tr -d '\r')
        if [[ -n $found || $(jq -r length "$answer" | tr -d '\r') -lt 100 ]]; then return 0; fi
        page=$((page + 1))
    done
}

# Whether the results justify a first comment. Counts are compared as strings, since bash executes
# commands in an operand of `-gt`.
should_create() {
    case $INPUT_COMMENT_WHEN in
    always) ;;
    findings) [[ $FINDINGS_NEW != 0 ]] ;;
    changed) [[ $CHANGED == true || $FINDINGS_NEW != 0 || $FINDINGS_FIXED != 0 ]] ;;
    *) fail "expected \`changed\`, \`findings\` or \`always\` for the input \`comment-when\`, found \`$INPUT_COMMENT_WHEN\`" ;;
    esac
}

# The ID is part of an HTML comment, which `--` would end.
id=${INPUT_COMMENT_ID:-${GITHUB_WORKFLOW-}/${GITHUB_JOB-}}
id=$(printf '%s' "$id" | LC_ALL=C tr -c 'A-Za-z0-9_./' '-' | tr -s '-' | cut -c 1-200)
marker="<!-- layercake:$id -->"

create=false
if should_create; then create=true; fi
status=
pull=$(pull_request_number)
if [[ ! $pull =~ ^[0-9]+$ ]]; then
    notice "no comment was written: there is no pull request, or it has newer commits"
    exit 0
fi
if [[ -z $token ]]; then
    notice "no comment was written: the input \`token\` is empty"
    exit 0
fi
find_comment "$(token_login)"
if [[ -z $found && $create == false ]]; then
    log "no comment was written: there is nothing to report"
    exit 0
fi

jq -n --arg marker "$marker" --rawfile text "$COMMENT_FILE" '{body: ($marker + "\n" + $text)}' >"$request"
if [[ $(jq -r '.body | length' "$request" | tr -d '\r') -gt $MAX_CHARACTERS ]]; then
    warning "no comment was written: it exceeds GitHub's limit of $MAX_CHARACTERS characters. The report is in the job summary"
    exit 0
fi
issues=$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/issues
if [[ -n $found ]]; then
    call_api PATCH "$issues/comments/$found" --data-binary "@$request"
else
    call_api POST "$issues/$pull/comments" --data-binary "@$request"
fi
case $status in
2??) log "commented on #$pull: $(jq -r '.html_url // ""' "$answer")" ;;
*) give_up "cannot write the comment" ;;
esac
