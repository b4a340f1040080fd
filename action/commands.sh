# shellcheck shell=bash
# Workflow commands and outputs of the runner (docs.github.com, "Workflow commands for GitHub
# Actions"), safe for any text. Sourced by the scripts in this folder.
#
# All scripts run with bash 3.2, the version on macOS.
#
# The workspace holds the files of a pull request, so programs, libraries and home folders in it or
# at relative paths are not used.

workspace=$(cd -P -- "${GITHUB_WORKSPACE:-/}" 2>/dev/null && pwd) || workspace=/

# Enters a folder. Fails if its path is relative or it is in the workspace.
enter_outside() {
    case $1 in
    /* | [A-Za-z]:[/\\]*) cd -P -- "$1" 2>/dev/null || return 1 ;;
    *) return 1 ;;
    esac
    [[ $PWD/ != "$workspace"/* ]]
}

# Prints the folders of a list such as PATH that are outside the workspace.
folders_outside() (
    kept=
    while IFS= read -r -d : entry; do
        if enter_outside "$entry"; then kept+=${kept:+:}$entry; fi
    done <<<"$1:"
    printf '%s' "$kept"
)

PATH=$(folders_outside "$PATH")
# An empty PATH means the current folder.
PATH=${PATH:-/usr/bin:/bin}
if [[ -n ${LD_LIBRARY_PATH-} ]]; then LD_LIBRARY_PATH=$(folders_outside "$LD_LIBRARY_PATH"); fi
for name in HOME XDG_CONFIG_HOME CURL_HOME CARGO_HOME RUSTUP_HOME; do
    if [[ -n ${!name-} ]] && ! (enter_outside "${!name}"); then unset "$name"; fi
done

# Prints a text, escaped as the message of a workflow command.
escape_message() {
    local text=$1
    text=${text//"%"/%25}
    text=${text//$'\r'/%0D}
    text=${text//$'\n'/%0A}
    printf '%s' "$text"
}

# Prints a line to the log. It is never a workflow command, which starts with `::` or contains `##[`.
log() {
    local text=$1
    text=${text//[$'\r\n']/ }
    text=${text//"##["/# #[}
    printf 'layercake: %s\n' "$text"
}

notice() { printf '::notice title=layercake::%s\n' "$(escape_message "$1")"; }

warning() { printf '::warning title=layercake::%s\n' "$(escape_message "$1")"; }

error() { printf '::error title=layercake::%s\n' "$(escape_message "$1")"; }

# Reports an error and ends the step.
fail() {
    error "$1"
    exit 2
}

# Prints an unpredictable word, as a delimiter that no text contains.
random_word() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

# Sets an output of the step. The value may have several lines.
output() {
    local end
    end=$(random_word)
    printf '%s<<%s\n%s\n%s\n' "$1" "$end" "$2" "$end" >>"$GITHUB_OUTPUT"
}

# Sets an output from a report, which may be untrusted: the value must match a regular expression.
output_checked() {
    local form="^($2)$"
    if [[ ! $3 =~ $form ]]; then
        fail "the report has no valid \`$1\`: expected a value that matches $2"
    fi
    output "$1" "$3"
}

# Prints a file with workflow commands disabled.
show() {
    local word
    word=$(random_word)
    printf '::stop-commands::%s\n' "$word"
    cat "$1"
    printf '\n::%s::\n' "$word"
}

# Checks that an input is `true` or `false`.
check_boolean() {
    case $2 in
    true | false) ;;
    *) fail "expected \`true\` or \`false\` for the input \`$1\`, found \`$2\`" ;;
    esac
}

# Whether a text is the full ID of a git object.
is_object_id() { [[ $1 =~ ^([0-9a-f]{40}|[0-9a-f]{64})$ ]]; }
