# shellcheck shell=bash
# How the scripts beside this one speak to the runner: commands on standard
# output, and the file for outputs (docs.github.com, "Workflow commands for
# GitHub Actions"). What they say may hold any text.
#
# All of them run with bash 3.2, which is what macOS has.

# Text as the message of a command.
escaped() {
    local text=$1
    text=${text//"%"/%25}
    text=${text//$'\r'/%0D}
    text=${text//$'\n'/%0A}
    printf '%s' "$text"
}

# Prints a line for the log, which is no command: neither `::` at its start nor `##[` in it.
say() {
    local text=$1
    text=${text//[$'\r\n']/ }
    text=${text//"##["/# #[}
    printf 'layercake: %s\n' "$text"
}

notice() { printf '::notice title=layercake::%s\n' "$(escaped "$1")"; }

warning() { printf '::warning title=layercake::%s\n' "$(escaped "$1")"; }

failure() { printf '::error title=layercake::%s\n' "$(escaped "$1")"; }

# Says why the step cannot do its work, and ends it.
refuse() {
    failure "$1"
    exit 2
}

# A word that no other text can hold.
secret_word() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

# Sets an output of the step; the value may have several lines.
output() {
    local end
    end=$(secret_word)
    printf '%s<<%s\n%s\n%s\n' "$1" "$end" "$2" "$end" >>"$GITHUB_OUTPUT"
}

# Sets an output that is made of a report, which may be somebody else's: only where all of it
# has the form that is given as a regular expression.
output_checked() {
    local form="^($2)$"
    if [[ ! $3 =~ $form ]]; then
        refuse "the report gives no \`$1\`: what it has there is not of the form $2"
    fi
    output "$1" "$3"
}

# Prints a file so that no line of it is taken for a command.
show() {
    local word
    word=$(secret_word)
    printf '::stop-commands::%s\n' "$word"
    cat "$1"
    printf '\n::%s::\n' "$word"
}

# Refuses what is neither `true` nor `false`.
switch() {
    case $2 in
    true | false) ;;
    *) refuse "the input \`$1\` is \`true\` or \`false\`, and not \`$2\`" ;;
    esac
}

# Whether this is the full id of a git object.
is_id() { [[ $1 =~ ^([0-9a-f]{40}|[0-9a-f]{64})$ ]]; }
