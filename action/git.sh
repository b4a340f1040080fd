# shellcheck shell=bash
# git for the scripts in this folder, in a checkout whose files are untrusted.
#
# Sourced after `commands.sh`. Takes the input `token` from the environment and keeps it in a shell
# variable: only the `git fetch` that needs it inherits it.

token=${INPUT_TOKEN-}
unset INPUT_TOKEN

# git uses only the repository of the checkout, and runs no command named by a variable.
unset GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY \
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE GIT_SHALLOW_FILE GIT_GRAFT_FILE \
    GIT_REPLACE_REF_BASE GIT_SSH GIT_SSH_VARIANT GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_PAGER
export GIT_TERMINAL_PROMPT=0 GIT_ASKPASS='' GIT_SSH_COMMAND=ssh GIT_NO_LAZY_FETCH=1
export GIT_OPTIONAL_LOCKS=0 GIT_ALLOW_PROTOCOL=none

# Prints the root of the checkout that contains a folder. Fails if a symbolic link in the path, which
# the checkout may contain, leads out of it: the program rejects that, too.
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

# Prints the nearest folder with a `.git`. git cannot commit a file of this name, so a repository
# inside a commit is not found.
root_above() {
    local folder=$1
    until [[ -e $folder/.git ]]; do
        if [[ -z $folder ]]; then return 1; fi
        folder=${folder%/*}
    done
    printf '%s\n' "${folder:-/}"
}

# Root of the checkout, set by the scripts.
checkout=

# Runs git in the root of the checkout, without programs named by its configuration.
run_git() {
    git -C "$checkout" --no-pager \
        -c safe.bareRepository=explicit -c core.hooksPath=/dev/null -c core.fsmonitor=false \
        -c core.sshCommand=ssh -c core.askPass= -c core.alternateRefsCommand=true \
        -c credential.helper= -c gc.auto=0 -c maintenance.auto=false "$@"
}

# Prints the name of the checkout's remote: the only one, or `origin`.
remote() {
    local remotes
    remotes=$(run_git remote)
    if [[ -n $remotes && $remotes != *$'\n'* ]]; then echo "$remotes"; else echo origin; fi
}

# Prints the URL of that remote, after `url.*.insteadOf`.
remote_url() { run_git remote get-url "$(remote)"; }

# Fetches from the remote: FLAG (`--depth=…` or empty), then refspecs. If that fails, as in a private
# repository with `persist-credentials: false`, it is retried with the token.
fetch() {
    local url
    url=$(remote_url) || return 1
    if fetch_from "$url" "$@"; then return 0; fi
    url=$(url_for_token "$url") || return 1
    log "retrying with the token"
    fetch_with_token "$url" "$@"
}

# Fetches from a URL instead of the remote's name, so that settings of the remote, such as
# `uploadpack`, are ignored: URL FLAG REFSPEC...
fetch_from() {
    local url=$1 flag=$2 allowed
    shift 2
    if ! allowed=$(allowed_protocols "$url"); then
        notice "cannot fetch from $url: expected an https, http, ssh or file URL"
        return 1
    fi
    GIT_ALLOW_PROTOCOL=$allowed run_git fetch --quiet --no-tags --no-recurse-submodules \
        --upload-pack=git-upload-pack ${flag:+"$flag"} -- "$url" "$@"
}

# Fetches with the token, which is only in the environment of this command. The empty header removes
# a header that the checkout stored.
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

# Prints the protocols that git may use for a URL, in the form of GIT_ALLOW_PROTOCOL.
allowed_protocols() {
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

# Prints the URL to use with the token. Fails unless it is on GitHub's own server, and nothing in the
# configuration of the checkout redirects the request.
url_for_token() {
    local url=$1 host=${GITHUB_SERVER_URL#*://} found
    if [[ -z $token ]]; then return 1; fi
    case $url in
    "$GITHUB_SERVER_URL"/*) ;;
    "git@$host:"*) url=$GITHUB_SERVER_URL/${url#*:} ;;
    "ssh://git@$host/"*) url=$GITHUB_SERVER_URL/${url#"ssh://git@$host/"} ;;
    *) return 1 ;;
    esac
    if [[ $(run_git ls-remote --get-url "$url") != "$url" ]]; then return 1; fi
    found=$(redirecting_settings)
    if [[ -n $found ]]; then
        notice "the token is not used, because the configuration of the checkout sets $found" >&2
        return 1
    fi
    echo "$url"
}

# Prints settings of the checkout that could redirect a request or weaken its protection.
redirecting_settings() {
    local scope keys='^(url\..*\.insteadof|http\.(.*\.)?(proxy.*|ssl.*|followredirects|cookiefile|curloptresolve)|credential\..*)$'
    for scope in --local --worktree; do
        run_git config "$scope" --includes --name-only --get-regexp "$keys" 2>/dev/null || true
    done | sort -u | tr '\n' ' '
}
