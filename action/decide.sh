#!/usr/bin/env bash
# Ends the job with the exit code of layercake, 0, 1 or 2, after all reports are written.
set -euo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=action/commands.sh
. "$here/commands.sh"

case $EXIT_CODE in
0) ;;
1)
    log "the job fails because of findings (\`fail-on: $INPUT_FAIL_ON\`) or a gate"
    exit 1
    ;;
*)
    log "the run is incomplete; the error is above"
    exit 2
    ;;
esac
