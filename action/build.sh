#!/usr/bin/env bash
# Builds the program from the action's own checkout.
set -euo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=action/commands.sh
. "$here/commands.sh"

if ! command -v cargo >/dev/null; then
    fail "layercake has to be built from source, and \`cargo\` was not found outside the workspace; install Rust in an earlier step, or use a release of the action that supports this platform"
fi

# cargo and rustup read settings in all folders above the current one. If the action was checked
# out into the workspace, a pull request controls these: build a copy outside.
build=$(mktemp -d "$RUNNER_TEMP/layercake-build.XXXXXX")
source=${here%/*}
if ! (enter_outside "$source"); then
    mkdir "$build/source"
    tar -C "$source" --exclude=./.git --exclude=./target -cf - . | tar -C "$build/source" -xf -
    source=$build/source
fi
export CARGO_TARGET_DIR=$build/target
echo '::group::cargo build'
(cd "$source" && cargo build --release --locked --bin layercake)
echo '::endgroup::'
rm -rf "$FOLDER"
mkdir -p "$FOLDER"
suffix=
if [[ $RUNNER_OS == Windows ]]; then suffix=.exe; fi
cp "$CARGO_TARGET_DIR/release/layercake$suffix" "$FOLDER/"
rm -rf "$build"
