#!/usr/bin/env bash
# Keeps one comment on the pull request up to date.
#
# It is found by a hidden marker in its first line, and by its author, who must
# be the one that the token speaks for: a marker that somebody else wrote, or
# quoted, is nobody's leave to change that comment. The first comment is made
# when there is something to tell; from then on it follows every run.
#
# The token goes to curl by its standard input, so no list of processes shows
# it. A token that may not write is no failure of the job: a notice says what it
# lacks.
set -euo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=action/commands.sh
. "$here/commands.sh"

# In a variable of the shell alone: no program but curl gets it, by its standard input.
token=${INPUT_TOKEN-}
unset INPUT_TOKEN

# What GitHub takes as a comment at most, in characters.
readonly LIMIT=65536

folder=$(mktemp -d "$RUNNER_TEMP/layercake-comment.XXXXXX")
answer=$folder/answer.json
request=$folder/request.json

# Asks GitHub, and sets `status`; the body of the answer is in $answer.
ask() {
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

# Ends here with what keeps the comment from being written.
give_up() {
    case $status in
    403 | 404)
        notice "$1: GitHub answers with $status. The token needs \`pull-requests: write\`, which that of a pull request from a fork never has; the report is in the summary of the job"
        ;;
    *) warning "$1: GitHub answers with $status" ;;
    esac
    exit 0
}

# The pull request that this job is about; nothing where it is about none.
number() {
    case ${GITHUB_EVENT_NAME-} in
    workflow_run) number_of_first_step ;;
    *) jq -r '.pull_request.number // empty' "$GITHUB_EVENT_PATH" | tr -d '\r' ;;
    esac
}

# That of the run which saved the report. The event says which commit it was
# about, and the one open pull request that still has this commit is asked for:
# the report, which anybody may have written, has no say in it.
number_of_first_step() {
    local head query
    head=$(jq -r '.workflow_run.head_sha' "$GITHUB_EVENT_PATH" | tr -d '\r')
    query=$(jq -r '.workflow_run | "\(.head_repository.owner.login):\(.head_branch)" | @uri' \
        "$GITHUB_EVENT_PATH" | tr -d '\r')
    ask GET "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/pulls?state=open&per_page=100&head=$query"
    if [[ $status != 200 ]]; then return 0; fi
    jq -r --arg head "$head" --arg repository "$GITHUB_REPOSITORY" '
        [.[] | select(.head.sha == $head and .base.repo.full_name == $repository) | .number]
        | if length == 1 then .[0] else empty end' "$answer" | tr -d '\r'
}

# Who the token speaks for. `/user` knows no apps, and a job's token is one.
author() {
    ask POST "${GITHUB_GRAPHQL_URL:-$GITHUB_API_URL/graphql}" --data '{"query": "{ viewer { login } }"}'
    local login=
    if [[ $status == 200 ]]; then
        login=$(jq -r '.data.viewer.login // empty' "$answer" | tr -d '\r')
    fi
    printf '%s' "${login:-github-actions[bot]}"
}

# The id of the comment with our marker, by our author; nothing if there is none.
# Sets `found`.
find_comment() {
    local page=1
    found=
    while ((page <= 100)); do
        ask GET "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/issues/$pull/comments?per_page=100&page=$page"
        if [[ $status != 200 ]]; then give_up "the comments cannot be read"; fi
        found=$(jq -r --arg marker "$marker" --arg author "$1" '
            [.[] | select(.body != null and (.body | split("\n")[0] | rtrimstr("\r")) == $marker)
                 | select(.user.login == $author
                     or (.user.type == "Bot" and .user.login == $author + "[bot]"))
                 | .id] | .[0] // empty' "$answer" | tr -d '\r')
        if [[ -n $found || $(jq -r length "$answer" | tr -d '\r') -lt 100 ]]; then return 0; fi
        page=$((page + 1))
    done
}

# Whether there is enough to tell for a first comment. The counts are compared as text: bash
# runs the commands that are in an operand of `-gt`.
is_worth_a_comment() {
    case $INPUT_COMMENT_WHEN in
    always) ;;
    findings) [[ $FINDINGS_NEW != 0 ]] ;;
    changed) [[ $CHANGED == true || $FINDINGS_NEW != 0 || $FINDINGS_FIXED != 0 ]] ;;
    *) refuse "the input \`comment-when\` is \`changed\`, \`findings\` or \`always\`, and not \`$INPUT_COMMENT_WHEN\`" ;;
    esac
}

# The id stands in a comment of HTML, which `--` would end.
id=${INPUT_COMMENT_ID:-${GITHUB_WORKFLOW-}/${GITHUB_JOB-}}
id=$(printf '%s' "$id" | LC_ALL=C tr -c 'A-Za-z0-9_./' '-' | tr -s '-' | cut -c 1-200)
marker="<!-- layercake:$id -->"

worth=false
if is_worth_a_comment; then worth=true; fi
status=
pull=$(number)
if [[ ! $pull =~ ^[0-9]+$ ]]; then
    notice "there is no pull request to comment on, or it has other commits by now"
    exit 0
fi
if [[ -z $token ]]; then
    notice "there is no comment: the input \`token\` is empty"
    exit 0
fi
find_comment "$(author)"
if [[ -z $found && $worth == false ]]; then
    say "nothing changed, and there is no comment yet: none is made"
    exit 0
fi

jq -n --arg marker "$marker" --rawfile text "$COMMENT_FILE" '{body: ($marker + "\n" + $text)}' >"$request"
if [[ $(jq -r '.body | length' "$request" | tr -d '\r') -gt $LIMIT ]]; then
    warning "the comment is longer than GitHub takes; the report is in the summary of the job"
    exit 0
fi
issues=$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/issues
if [[ -n $found ]]; then
    ask PATCH "$issues/comments/$found" --data-binary "@$request"
else
    ask POST "$issues/$pull/comments" --data-binary "@$request"
fi
case $status in
2??) say "commented on #$pull: $(jq -r '.html_url // ""' "$answer")" ;;
*) give_up "the comment cannot be written" ;;
esac
