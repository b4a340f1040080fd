#!/usr/bin/env bash
# Makes a repository of the example's sites in a new folder: one commit with them,
# and one with a new version that three sites take.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

mkdir "$1"
cp -R "$here/../examples/sites/." "$1"
cd "$1"
git init --quiet --initial-branch=main
git config user.name somebody
git config user.email somebody@example.org
git config core.autocrlf false
git add --all
git commit --quiet -m 'The sites'
versions=global/config/software-versions.yaml
sed 's/keystone:2025.1/keystone:2025.2/' "$versions" >"$versions.new"
mv "$versions.new" "$versions"
git commit --quiet -m 'A new keystone' "$versions"
