#!/usr/bin/env bash
# Runs layercake once, or reads a saved report, and writes all reports: log, annotations, job summary
# and outputs of the step, which are paths and counts, never contents.
#
# The exit code is 0 if layercake completed, even with findings: comment and artifact come before the
# verdict, which is that of `decide.sh`.
set -euo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=action/commands.sh
. "$here/commands.sh"
# shellcheck source=action/git.sh
. "$here/git.sh"

check_boolean config-from-base "$INPUT_CONFIG_FROM_BASE"
check_boolean all-findings "$INPUT_ALL_FINDINGS"
check_boolean annotations "$INPUT_ANNOTATIONS"
check_boolean job-summary "$INPUT_JOB_SUMMARY"
check_boolean comment "$INPUT_COMMENT"
check_boolean sarif "$INPUT_SARIF"
check_boolean upload-sarif "$INPUT_UPLOAD_SARIF"

folder=$(mktemp -d "$RUNNER_TEMP/layercake-report.XXXXXX")
json=$folder/report.json

# Whether the event can have a token with write access. The token of a pull request from another
# repository or by Dependabot is always read-only.
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

is_change_event() {
    case ${GITHUB_EVENT_NAME-} in
    pull_request | pull_request_target | pull_request_review | merge_group) ;;
    *) return 1 ;;
    esac
}

# Whether the checked files belong to the repository of the job, and not to another one that was
# checked out.
is_this_repository() {
    if [[ -n $INPUT_REPORT ]]; then return 0; fi
    local checkout url
    checkout=$(checkout_root "$INPUT_PATH") || return 1
    url=$(run_git remote get-url origin 2>/dev/null) || return 1
    [[ ${url%.git} == */"$GITHUB_REPOSITORY" ]]
}

# Appends each line of a text to `arguments`, after a flag. Empty lines are ignored.
add_lines() {
    local line
    while IFS= read -r line || [[ -n $line ]]; do
        line=${line%$'\r'}
        if [[ -n $line ]]; then arguments+=("$1$line"); fi
    done <<<"$2"
}

# Rejects a clone behind a symbolic link of the checkout, which a pull request could have redirected.
check_clones() {
    local line place
    while IFS= read -r line || [[ -n $line ]]; do
        place=${line%$'\r'}
        place=${place#*=}
        if [[ $place != /* ]]; then place=$INPUT_PATH/$place; fi
        if [[ ! -e $place ]]; then place=${place%@*}; fi
        if escapes_workspace "$place"; then
            fail "a path in the input \`repositories\` has a symbolic link that leads out of the workspace: $line"
        fi
    done <<<"$INPUT_REPOSITORIES"
}

# Whether a folder is outside the workspace, and its path has a symbolic link in the workspace.
escapes_workspace() {
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

# Whether a folder exists and is outside the workspace.
is_outside() {
    local folder
    folder=$(CDPATH='' cd -P -- "$1" 2>/dev/null && pwd) && (enter_outside "$folder")
}

# Appends the flags for what to compare, and which results count.
add_comparison_flags() {
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

# Appends the flags for all reports.
add_report_flags() {
    arguments+=(
        --output full
        --output "github=$folder/annotations.txt"
        --output "markdown=$folder/report.md"
        --output "comment=$folder/comment.md"
        --output "html=$folder/report.html"
    )
    if [[ $wants_sarif == true ]] && { [[ -z $INPUT_REPORT ]] || is_change_event; }; then
        arguments+=(--output "sarif=$folder/report.sarif")
    fi
    if [[ $INPUT_ALL_FINDINGS == true ]]; then arguments+=(--all-findings); fi
    if is_this_repository && [[ $INPUT_ARGS != *--links* ]]; then
        arguments+=("--links=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/blob/{sha}/{path}#L{line}")
    fi
}

# Prints the result of a jq filter on the report.
query() { jq -r "$1" "$json" | tr -d '\r'; }

wants_sarif=false
if [[ $INPUT_SARIF == true || $INPUT_UPLOAD_SARIF == true ]]; then wants_sarif=true; fi

if [[ -n $INPUT_REPORT ]]; then
    arguments=(report "$INPUT_REPORT" --output "json=$json")
    add_report_flags
    directory=.
else
    arguments=(lint --output "json=$json")
    add_comparison_flags
    add_report_flags
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
    message=$(cat "$folder/errors.txt")
    error "${message:-layercake ended with exit code $code; see the log}"
fi
if [[ ! -s $json ]]; then exit "$code"; fi

# Annotations belong to the run that checked the pull request, not to one that reads a saved report.
if [[ $INPUT_ANNOTATIONS == true && -z $INPUT_REPORT ]]; then cat "$folder/annotations.txt"; fi
if [[ $INPUT_JOB_SUMMARY == true ]]; then cat "$folder/report.md" >>"$GITHUB_STEP_SUMMARY"; fi

# Code scanning closes alerts that an upload for a branch lacks. So an upload for a branch has all
# findings, and one for a pull request the new ones. A saved report can lack some.
if [[ $wants_sarif == true && -n $INPUT_REPORT ]] && ! is_change_event; then
    layercake report "$INPUT_REPORT" --all-findings --output "sarif=$folder/report.sarif" \
        >"$folder/errors.txt" 2>&1 || fail "cannot write the SARIF file: $(cat "$folder/errors.txt")"
fi
if [[ $wants_sarif == true ]] && is_change_event; then
    jq 'del(.runs[].results[] | select(.baselineState == "unchanged"))' \
        "$folder/report.sarif" >"$folder/new.sarif"
    mv "$folder/new.sarif" "$folder/report.sarif"
fi
trusted=false
if is_trusted; then trusted=true; fi
if [[ $INPUT_UPLOAD_SARIF == true && $trusted == false ]]; then
    notice "no findings are sent to code scanning: the token is read-only for pull requests from forks and by Dependabot"
fi

# Outputs that were added, removed or changed; metadata counts if Deckhand treats the output differently.
changed_outputs='.totals | .changed_outputs - .by_status.metadata + .other_treatment + .by_status.not_comparable'
# shellcheck disable=SC2016 # jq variables
changed_sites='.sites as $sites | .site_sets as $sets | [.outputs[] | select(.status != "metadata" or .other_treatment)
    | $sets[.sites[1:] | tonumber - 1].sites[] | $sites[.].name | select(. != null)] | unique'
new_findings='[.findings[] | select(.suppressed == null and (.state == "new" or .state == null))]'
sum='map(.count) | add // 0'
output_checked outputs-changed '[0-9]+' "$(query "$changed_outputs")"
output_checked changed 'true|false' "$(query "$changed_outputs > 0")"
output_checked sites-changed '[0-9]+' "$(query "$changed_sites | length")"
# JSON escapes control characters, so this is one line.
output_checked sites '\[("([^"\\]|\\.)*"(,"([^"\\]|\\.)*")*)?\]' "$(jq -c "$changed_sites" "$json" | tr -d '\r')"
output_checked findings-new '[0-9]+' "$(query "$new_findings | $sum")"
output_checked findings-fixed '[0-9]+' "$(query "[.findings[] | select(.state == \"fixed\")] | $sum")"
output_checked worst-severity 'error|warning|note|none' "$(query "[${new_findings}[].severity] | if index(\"error\") then \"error\"
    elif index(\"warning\") then \"warning\" elif index(\"note\") then \"note\" else \"none\" end")"
commit='([0-9a-f]{40}|[0-9a-f]{64})?'
# Code scanning runs git in this folder: the root of the checkout, so that a repository inside a
# commit is not found; for a saved report, a folder without a repository.
if [[ -n $INPUT_REPORT ]] || ! checkout=$(checkout_root "$INPUT_PATH"); then checkout=$folder; fi
output checkout "$checkout"
output_checked base-sha "$commit" "$(query '.comparison.base.commit // ""')"
head=$(query '.comparison.head.commit // ""')
if [[ -z $head && $checkout != "$folder" ]]; then
    head=$(run_git rev-parse --quiet --verify HEAD || true)
fi
output_checked head-sha "$commit" "$head"
output trusted "$trusted"
output report-json "$json"
output report-md "$folder/report.md"
output report-html "$folder/report.html"
output comment-file "$folder/comment.md"
if [[ $wants_sarif == true ]]; then output sarif-file "$folder/report.sarif"; fi
