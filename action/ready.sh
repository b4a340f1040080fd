#!/usr/bin/env bash
# Puts the folder of the program on PATH, and sets the output `version`.
set -euo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=action/commands.sh
. "$here/commands.sh"

cd "$RUNNER_TEMP"
if ! answer=$("$FOLDER/layercake" --version); then
    fail "cannot run the program in $FOLDER"
fi
answer=${answer%$'\r'}
if [[ ! $answer =~ ^layercake\ [0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*$ ]]; then
    fail "the program in $FOLDER is not layercake: expected \`layercake x.y.z\` as its version, found \`$answer\`"
fi
version=${answer#layercake }
log "version $version"
output version "$version"
# The whole folder is on PATH: remove other files, which an earlier step may have left.
find "$FOLDER" -mindepth 1 -maxdepth 1 ! -name layercake ! -name layercake.exe -exec rm -rf {} +
printf '%s\n' "$FOLDER" >>"$GITHUB_PATH"
