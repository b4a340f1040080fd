# shellcheck shell=bash
# How the scripts beside this one speak to the runner: commands on standard
# output, and the file for outputs (docs.github.com, "Workflow commands for
# GitHub Actions"). What they say may hold any text.
#
# All of them run with bash 3.2, which is what macOS has.
#
# The workspace holds the files of a pull request. So no program or library is used that lies
# there or is found by the current folder, and no settings are read from a home folder there.

workspace=$(cd -P -- "${GITHUB_WORKSPACE:-/}" 2>/dev/null && pwd) || workspace=/

# Enters a folder, and fails if its path is relative or it is in the workspace.
enter_outside() {
    case $1 in
    /* | [A-Za-z]:[/\\]*) cd -P -- "$1" 2>/dev/null || return 1 ;;
    *) return 1 ;;
    esac
    [[ $PWD/ != "$workspace"/* ]]
}

# Those folders of a list, as PATH is one, that are outside of the workspace.
folders_outside() (
    kept=
    while IFS= read -r -d : entry; do
        if enter_outside "$entry"; then kept+=${kept:+:}$entry; fi
    done <<<"$1:"
    printf '%s' "$kept"
)

PATH=$(folders_outside "$PATH")
# An empty list would be the current folder.
PATH=${PATH:-/usr/bin:/bin}
if [[ -n ${LD_LIBRARY_PATH-} ]]; then LD_LIBRARY_PATH=$(folders_outside "$LD_LIBRARY_PATH"); fi
for name in HOME XDG_CONFIG_HOME CURL_HOME CARGO_HOME RUSTUP_HOME; do
    if [[ -n ${!name-} ]] && ! (enter_outside "${!name}"); then unset "$name"; fi
done

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
