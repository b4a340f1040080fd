#!/usr/bin/env bash
# Puts the folder that holds the program, and nothing else, on PATH; says which
# version it is.
set -euo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=action/commands.sh
. "$here/commands.sh"

cd "$RUNNER_TEMP"
if ! answer=$("$FOLDER/layercake" --version); then
    refuse "the program in $FOLDER does not run here"
fi
answer=${answer%$'\r'}
if [[ ! $answer =~ ^layercake\ [0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*$ ]]; then
    refuse "the program in $FOLDER is not layercake: expected \`layercake x.y.z\` as its version, found \`$answer\`"
fi
version=${answer#layercake }
say "version $version"
output version "$version"
# All of the folder comes on PATH: other files in it, which an earlier step left, are removed.
find "$FOLDER" -mindepth 1 -maxdepth 1 ! -name layercake ! -name layercake.exe -exec rm -rf {} +
printf '%s\n' "$FOLDER" >>"$GITHUB_PATH"
