#!/usr/bin/env bash
# Ends the job as the findings ask for, after everything has been told: with 0, 1 or 2.
set -euo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=action/commands.sh
. "$here/commands.sh"

case $EXIT_CODE in
0) ;;
1)
    say "there are findings that fail the job (\`fail-on: $INPUT_FAIL_ON\`), or a gate is not held"
    exit 1
    ;;
*)
    say "layercake could not do all of its work"
    exit 2
    ;;
esac
