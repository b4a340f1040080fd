# shellcheck shell=bash
# git for the scripts beside this one, in a checkout whose files a stranger wrote.
#
# Sourced after `commands.sh`. It takes the input `path` and the input `token` from
# the environment; the token stays in a variable of the shell, and no program inherits
# it but the one `git fetch` that needs it.

token=${INPUT_TOKEN-}
unset INPUT_TOKEN

# A repository or a program that is named by a variable is not the checkout's. Without
# the variables of ssh and of proxies git runs no command that the job did not choose.
unset GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY \
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE GIT_SHALLOW_FILE GIT_GRAFT_FILE \
    GIT_REPLACE_REF_BASE GIT_SSH GIT_SSH_VARIANT GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_PAGER
export GIT_TERMINAL_PROMPT=0 GIT_ASKPASS='' GIT_SSH_COMMAND=ssh GIT_NO_LAZY_FETCH=1
export GIT_OPTIONAL_LOCKS=0 GIT_ALLOW_PROTOCOL=none

# Root of the checkout that a folder lies in. Fails where a symbolic link, which a checkout
# may have in the folder's place, leads out of it: the program refuses that too.
checkout_root() {
    local root link outer
    root=$(CDPATH='' cd -P -- "$1" 2>/dev/null && root_above "$PWD") || return 1
    link=$(CDPATH='' cd -L -- "$1" && pwd)
    while [[ -n $link ]]; do
        if [[ -L $link ]] && outer=$(root_above "${link%/*}") && [[ ! $outer -ef $root ]]; then
            return 1
        fi
        link=${link%/*}
    done
    printf '%s\n' "$root"
}

# The nearest folder that has a `.git`. git commits no file of this name, so that a repository
# which was committed is not found.
root_above() {
    local folder=$1
    until [[ -e $folder/.git ]]; do
        if [[ -z $folder ]]; then return 1; fi
        folder=${folder%/*}
    done
    printf '%s\n' "${folder:-/}"
}

# Root of the checkout; scripts set it.
checkout=

# Runs git in the root of the checkout, without any program that a configuration names.
in_checkout() {
    git -C "$checkout" --no-pager \
        -c safe.bareRepository=explicit -c core.hooksPath=/dev/null -c core.fsmonitor=false \
        -c core.sshCommand=ssh -c core.askPass= -c core.alternateRefsCommand=true \
        -c credential.helper= -c gc.auto=0 -c maintenance.auto=false "$@"
}

# Name of the remote that the checkout comes from: the only one, or `origin`.
remote() {
    local remotes
    remotes=$(in_checkout remote)
    if [[ -n $remotes && $remotes != *$'\n'* ]]; then echo "$remotes"; else echo origin; fi
}

# Address of that remote, after `url.*.insteadOf`.
remote_url() { in_checkout remote get-url "$(remote)"; }

# Fetches from the remote: FLAG (`--depth=…` or empty), then refspecs. What the checkout
# itself may not read, as in a private repository with `persist-credentials: false`, is
# asked for once more with the token.
fetch() {
    local url
    url=$(remote_url) || return 1
    if fetch_from "$url" "$@"; then return 0; fi
    url=$(url_for_token "$url") || return 1
    say "once more, with the token"
    fetch_with_token "$url" "$@"
}

# The address of the remote and not its name: settings of the remote, such as its
# `uploadpack`, are not used then.
fetch_from() {
    local url=$1 flag=$2 allowed
    shift 2
    if ! allowed=$(protocols "$url"); then
        notice "nothing is fetched from $url: only https, http, ssh and files are"
        return 1
    fi
    GIT_ALLOW_PROTOCOL=$allowed in_checkout fetch --quiet --no-tags --no-recurse-submodules \
        --upload-pack=git-upload-pack ${flag:+"$flag"} -- "$url" "$@"
}

# The token goes to git by the environment of this one command; the empty header before
# it takes the place of one that the checkout kept.
fetch_with_token() {
    local basic count=${GIT_CONFIG_COUNT:-0} key="http.$GITHUB_SERVER_URL/.extraheader"
    basic=$(printf 'x-access-token:%s' "$token" | base64 | tr -d '\n')
    (
        export GIT_CONFIG_COUNT=$((count + 3))
        export "GIT_CONFIG_KEY_$count=http.followRedirects" "GIT_CONFIG_VALUE_$count=false"
        export "GIT_CONFIG_KEY_$((count + 1))=$key" "GIT_CONFIG_VALUE_$((count + 1))="
        export "GIT_CONFIG_KEY_$((count + 2))=$key"
        export "GIT_CONFIG_VALUE_$((count + 2))=AUTHORIZATION: basic $basic"
        fetch_from "$@"
    )
}

# Protocols that git may use for an address, as GIT_ALLOW_PROTOCOL has them.
protocols() {
    case $1 in
    https://*) echo https ;;
    http://*) echo http:https ;;
    ssh://*) echo ssh ;;
    file://* | /* | [A-Za-z]:[/\\]*) echo file ;;
    *::* | *://* | -*) return 1 ;;
    *:*) echo ssh ;;
    *) return 1 ;;
    esac
}

# Address at which the token may be used: of GitHub's own server alone, and only if
# nothing in the configuration of the checkout leads elsewhere.
url_for_token() {
    local url=$1 host=${GITHUB_SERVER_URL#*://} found
    if [[ -z $token ]]; then return 1; fi
    case $url in
    "$GITHUB_SERVER_URL"/*) ;;
    "git@$host:"*) url=$GITHUB_SERVER_URL/${url#*:} ;;
    "ssh://git@$host/"*) url=$GITHUB_SERVER_URL/${url#"ssh://git@$host/"} ;;
    *) return 1 ;;
    esac
    if [[ $(in_checkout ls-remote --get-url "$url") != "$url" ]]; then return 1; fi
    found=$(diverting_settings)
    if [[ -n $found ]]; then
        notice "the token is not used, since the configuration of the checkout sets $found" >&2
        return 1
    fi
    echo "$url"
}

# Settings of the checkout that send a request, or what protects it, somewhere else.
diverting_settings() {
    local scope keys='^(url\..*\.insteadof|http\.(.*\.)?(proxy.*|ssl.*|followredirects|cookiefile|curloptresolve)|credential\..*)$'
    for scope in --local --worktree; do
        in_checkout config "$scope" --includes --name-only --get-regexp "$keys" 2>/dev/null || true
    done | sort -u | tr '\n' ' '
}
