#!/usr/bin/env bash
# Creates a repository with the example sites in a new folder: one commit adds them, a second one
# changes a version that three sites use.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

mkdir "$1"
cp -R "$here/../examples/sites/." "$1"
cd "$1"
git init --quiet --initial-branch=main
git config user.name Example
git config user.email example@example.org
git config core.autocrlf false
git add --all
git commit --quiet -m 'Add the sites'
versions=global/config/software-versions.yaml
sed 's/keystone:2025.1/keystone:2025.2/' "$versions" >"$versions.new"
mv "$versions.new" "$versions"
git commit --quiet -m 'Update keystone' "$versions"
