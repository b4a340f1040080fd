#!/usr/bin/env bash
# Puts the folder that holds the program, and nothing else, on PATH; says which
# version it is.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=action/commands.sh
. "$here/commands.sh"

if ! answer=$("$FOLDER/layercake" --version); then
    refuse "the program in $FOLDER does not run here"
fi
echo "$answer"
output version "$(printf '%s' "${answer#layercake }" | tr -d '\r')"
printf '%s\n' "$FOLDER" >>"$GITHUB_PATH"
