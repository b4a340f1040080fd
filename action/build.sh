#!/usr/bin/env bash
# Builds the program from the action's own checkout.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=action/commands.sh
. "$here/commands.sh"

if ! command -v cargo >/dev/null; then
    refuse "layercake is built from source here, and there is no \`cargo\`: install Rust in a step before this one, or take a release of the action for this platform"
fi

# From the action's folder: a toolchain file of the user's repository says
# nothing of this program.
cd "$(dirname "$here")"
CARGO_TARGET_DIR=$RUNNER_TEMP/layercake-build
export CARGO_TARGET_DIR
echo '::group::cargo build'
cargo build --release --locked --bin layercake
echo '::endgroup::'
rm -rf "$FOLDER"
mkdir -p "$FOLDER"
suffix=
if [[ $RUNNER_OS == Windows ]]; then suffix=.exe; fi
cp "$CARGO_TARGET_DIR/release/layercake$suffix" "$FOLDER/"
