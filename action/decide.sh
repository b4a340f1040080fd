#!/usr/bin/env bash
# Ends the job as the findings ask for, after everything has been told.
set -euo pipefail

case $EXIT_CODE in
0) ;;
1) echo "There are findings that fail the job (\`fail-on: $INPUT_FAIL_ON\`), or a gate is not held." ;;
*) echo "layercake could not do all of its work." ;;
esac
exit "$EXIT_CODE"
