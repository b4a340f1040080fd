#!/usr/bin/env bash
# Runs layercake once, with a reporter for every place, and tells what it found
# to the log, to the annotations, to the summary of the job, and to the outputs
# of the step: paths and counts, never contents. Or tells a saved report.
#
# Ends with 0 where layercake could do its work, whatever it found: the comment
# and the artifact come before the verdict, which `decide.sh` gives.
set -euo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=action/commands.sh
. "$here/commands.sh"
# shellcheck source=action/git.sh
. "$here/git.sh"

switch config-from-base "$INPUT_CONFIG_FROM_BASE"
switch all-findings "$INPUT_ALL_FINDINGS"
switch annotations "$INPUT_ANNOTATIONS"
switch job-summary "$INPUT_JOB_SUMMARY"
switch comment "$INPUT_COMMENT"
switch sarif "$INPUT_SARIF"
switch upload-sarif "$INPUT_UPLOAD_SARIF"

folder=$(mktemp -d "$RUNNER_TEMP/layercake-report.XXXXXX")
json=$folder/report.json

# Whether the event can have a token that writes. That of a pull request from
# another repository, or of Dependabot's, only reads, whatever the workflow asks.
is_trusted() {
    if [[ ${GITHUB_ACTOR-} == 'dependabot[bot]' ]]; then return 1; fi
    case ${GITHUB_EVENT_NAME-} in
    pull_request | pull_request_review)
        local from
        from=$(jq -r '.pull_request.head.repo.full_name // ""' "$GITHUB_EVENT_PATH" | tr -d '\r')
        [[ $from == "$GITHUB_REPOSITORY" ]]
        ;;
    esac
}

is_about_a_change() {
    case ${GITHUB_EVENT_NAME-} in
    pull_request | pull_request_target | pull_request_review | merge_group) ;;
    *) return 1 ;;
    esac
}

# Whether the files that are reported on are those of the repository that the
# job belongs to, and not of another one that was checked out beside it.
is_this_repository() {
    if [[ -n $INPUT_REPORT ]]; then return 0; fi
    local checkout url
    checkout=$(checkout_root "$INPUT_PATH") || return 1
    url=$(in_checkout remote get-url origin 2>/dev/null) || return 1
    [[ ${url%.git} == */"$GITHUB_REPOSITORY" ]]
}

# The lines of a text, each after a flag, as further elements of `arguments`;
# empty lines say nothing.
add_lines() {
    local line
    while IFS= read -r line || [[ -n $line ]]; do
        line=${line%$'\r'}
        if [[ -n $line ]]; then arguments+=("$1$line"); fi
    done <<<"$2"
}

# Refuses a clone to which a symbolic link leads that a checkout may have in its place: it is not
# the one that the workflow names.
check_clones() {
    local line place
    while IFS= read -r line || [[ -n $line ]]; do
        place=${line%$'\r'}
        place=${place#*=}
        if [[ $place != /* ]]; then place=$INPUT_PATH/$place; fi
        if [[ ! -e $place ]]; then place=${place%@*}; fi
        if leads_out "$place"; then
            refuse "a clone of the input \`repositories\` is a link that leads out of the workspace: $line"
        fi
    done <<<"$INPUT_REPOSITORIES"
}

# Whether a folder is outside of the workspace, and a link in the workspace leads to it.
leads_out() {
    local above='' rest=$1/ part
    if ! is_outside "$1"; then return 1; fi
    while [[ $rest == */* ]]; do
        part=${rest%%/*}
        rest=${rest#*/}
        if [[ -L $above$part ]] && ! is_outside "${above:-.}"; then return 0; fi
        above+=$part/
    done
    return 1
}

# Whether a folder is there, and outside of the workspace.
is_outside() {
    local folder
    folder=$(CDPATH='' cd -P -- "$1" 2>/dev/null && pwd) && (enter_outside "$folder")
}

# What is compared, and what of it is told.
sides() {
    if [[ -n ${FROM-} ]]; then
        arguments+=("--from=$FROM" "--to=$TO")
    elif [[ -n ${SINCE-} ]]; then
        arguments+=("--since=$SINCE")
    else
        arguments+=(--auto)
    fi
    add_lines --site= "$INPUT_SITES"
    check_clones
    add_lines --repository= "$INPUT_REPOSITORIES"
    if [[ -n $INPUT_CONFIG ]]; then arguments+=("--config=$INPUT_CONFIG"); fi
    if [[ $INPUT_CONFIG_FROM_BASE == true ]]; then arguments+=(--config-from-base); fi
    case $INPUT_EXPECT_UNCHANGED in
    false | '') ;;
    true) arguments+=(--expect-unchanged) ;;
    *) add_lines --expect-unchanged= "$INPUT_EXPECT_UNCHANGED" ;;
    esac
    arguments+=("--fail-on=$INPUT_FAIL_ON")
}

# The reports, all of one run.
reports() {
    arguments+=(
        --output full
        --output "github=$folder/annotations.txt"
        --output "markdown=$folder/report.md"
        --output "comment=$folder/comment.md"
        --output "html=$folder/report.html"
    )
    if [[ $wants_sarif == true ]] && is_about_a_change; then
        arguments+=(--output "sarif=$folder/report.sarif")
    fi
    if [[ $INPUT_ALL_FINDINGS == true ]]; then arguments+=(--all-findings); fi
    if is_this_repository && [[ $INPUT_ARGS != *--links* ]]; then
        arguments+=("--links=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/blob/{sha}/{path}#L{line}")
    fi
}

count() { jq -r "$1" "$json" | tr -d '\r'; }

wants_sarif=false
if [[ $INPUT_SARIF == true || $INPUT_UPLOAD_SARIF == true ]]; then wants_sarif=true; fi

if [[ -n $INPUT_REPORT ]]; then
    arguments=(report "$INPUT_REPORT" --output "json=$json")
    reports
    directory=.
else
    arguments=(lint --output "json=$json")
    sides
    reports
    add_lines '' "$INPUT_ARGS"
    directory=$INPUT_PATH
fi

code=0
layercake -C "$directory" --color never --no-progress "${arguments[@]}" \
    >"$folder/log.txt" 2>"$folder/errors.txt" || code=$?

echo '::group::layercake'
show "$folder/log.txt"
if [[ -s $folder/errors.txt ]]; then show "$folder/errors.txt"; fi
echo '::endgroup::'
output exit-code "$code"
if ((code > 1)); then
    said=$(cat "$folder/errors.txt")
    failure "${said:-layercake ends with the exit code $code; the log says why}"
fi
if [[ ! -s $json ]]; then exit "$code"; fi

# Annotations stand beside the lines of a pull request's own run: those of a
# saved report would go to the run that tells it.
if [[ $INPUT_ANNOTATIONS == true && -z $INPUT_REPORT ]]; then cat "$folder/annotations.txt"; fi
if [[ $INPUT_JOB_SUMMARY == true ]]; then cat "$folder/report.md" >>"$GITHUB_STEP_SUMMARY"; fi

# Code scanning closes what an upload for a branch does not have. So a branch's
# has all findings, and that of a pull request the new ones.
if [[ $wants_sarif == true ]] && ! is_about_a_change; then
    layercake report "$json" --all-findings --output "sarif=$folder/report.sarif" \
        >"$folder/errors.txt" 2>&1 || refuse "there is no SARIF file: $(cat "$folder/errors.txt")"
fi
trusted=false
if is_trusted; then trusted=true; fi
if [[ $INPUT_UPLOAD_SARIF == true && $trusted == false ]]; then
    notice "nothing is sent to code scanning: on pull requests from forks and of Dependabot the token only reads"
fi

# What came, went or has other data; other metadata alone is no change.
outputs='.totals | .changed_outputs - .by_status.metadata + .by_status.not_comparable'
# shellcheck disable=SC2016 # these are variables of jq
sites='.sites as $sites | .site_sets as $sets | [.outputs[] | select(.status != "metadata")
    | $sets[.sites[1:] | tonumber - 1].sites[] | $sites[.].name | select(. != null)] | unique'
new='[.findings[] | select(.suppressed == null and (.state == "new" or .state == null))]'
many='map(.count) | add // 0'
output_checked outputs-changed '[0-9]+' "$(count "$outputs")"
output_checked changed 'true|false' "$(count "$outputs > 0")"
output_checked sites-changed '[0-9]+' "$(count "$sites | length")"
# A control character is an escape in JSON, so that this is one line of printed characters.
output_checked sites '\[("([^"\\]|\\.)*"(,"([^"\\]|\\.)*")*)?\]' "$(jq -c "$sites" "$json" | tr -d '\r')"
output_checked findings-new '[0-9]+' "$(count "$new | $many")"
output_checked findings-fixed '[0-9]+' "$(count "[.findings[] | select(.state == \"fixed\")] | $many")"
output_checked worst-severity 'error|warning|note|none' "$(count "[${new}[].severity] | if index(\"error\") then \"error\"
    elif index(\"warning\") then \"warning\" elif index(\"note\") then \"note\" else \"none\" end")"
commit='([0-9a-f]{40}|[0-9a-f]{64})?'
# Code scanning runs git in this folder: the root of the checkout, where no repository that
# was committed is found, and of a saved report a folder without any.
if [[ -n $INPUT_REPORT ]] || ! checkout=$(checkout_root "$INPUT_PATH"); then checkout=$folder; fi
output checkout "$checkout"
output_checked base-sha "$commit" "$(count '.comparison.base.commit // ""')"
head=$(count '.comparison.head.commit // ""')
if [[ -z $head && $checkout != "$folder" ]]; then
    head=$(in_checkout rev-parse --quiet --verify HEAD || true)
fi
output_checked head-sha "$commit" "$head"
output trusted "$trusted"
output report-json "$json"
output report-md "$folder/report.md"
output report-html "$folder/report.html"
output comment-file "$folder/comment.md"
if [[ $wants_sarif == true ]]; then output sarif-file "$folder/report.sarif"; fi
