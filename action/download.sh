#!/usr/bin/env bash
# Downloads the released program for this platform, and checks its SHA-256 against `releases.txt`,
# which is part of the action at the commit that the user chose and written by the release workflow.
#
# If the action has no release of its own version, as on a branch, or the server does not have it, the
# next steps build the program from the action's checkout. A wrong checksum is always an error.
set -euo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=action/commands.sh
. "$here/commands.sh"
root=${here%/*}

# Maximum size of the archive, and of the program in it, in megabytes.
readonly MAX_MB=100

# Maximum duration of a download, in seconds.
readonly MAX_SECONDS=300

# Prints the Rust target triple of the platform; nothing if no program is released for it.
target_triple() {
    case "$RUNNER_OS-$RUNNER_ARCH" in
    Linux-X64) echo x86_64-unknown-linux-musl ;;
    Linux-ARM64) echo aarch64-unknown-linux-musl ;;
    macOS-X64) echo x86_64-apple-darwin ;;
    macOS-ARM64) echo aarch64-apple-darwin ;;
    Windows-X64) echo x86_64-pc-windows-msvc ;;
    esac
}

# Prints the SHA-256 of standard input.
sha256() {
    if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -d ' ' -f 1
}

# Prints a hash of the sources and the compiler, as the cache key of a build.
source_hash() {
    {
        (
            cd "$root"
            find .cargo Cargo.lock Cargo.toml crates docs examples src -type f -print |
                LC_ALL=C sort | while IFS= read -r file; do
                echo "$file"
                cat "$file"
            done
        )
        rustc --version 2>/dev/null || true
    } | sha256
}

# Runs a command with a maximum file size, if the system supports such a limit.
with_size_limit() (
    ulimit -f $((MAX_MB * 1024)) 2>/dev/null || true
    "$@"
)

# Sets the outputs, and ends the step: BUILD KEY.
finish() {
    output build "$1"
    output key "$2"
    output folder "$RUNNER_TEMP/layercake-program/$2"
    exit 0
}

# Ends the step so that the next ones build the program; the reason is printed.
request_build() {
    notice "$1; building it from the action's checkout takes some minutes, and the build is cached"
    finish true "layercake-$RUNNER_OS-$RUNNER_ARCH-$(source_hash)"
}

# Not in the workspace, where a file could select rustc's toolchain.
cd "$RUNNER_TEMP"
own_version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
version=${INPUT_VERSION:-$own_version}
if [[ $version == source ]]; then
    request_build "layercake is not downloaded, since the input \`version\` is \`source\`"
fi
if [[ ! $version =~ ^[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*$ ]]; then
    fail "expected \`x.y.z\` or \`source\` for the input \`version\`, found \`$version\`"
fi

target=$(target_triple)
archive=layercake-$version-$target.tar.gz
# Checksum and URL in the first matching line.
entry=$(tr -d '\r' <"$here/releases.txt" | awk -v end="/v$version/$archive" '
    NF == 2 && $1 ~ /^[0-9a-f]+$/ && length($1) == 64 && !found &&
        substr($2, length($2) - length(end) + 1) == end { print; found = 1 }')
read -r checksum url <<<"$entry"
if [[ -z $target || -z $checksum ]]; then
    if [[ $version != "$own_version" ]]; then
        fail "this action has no checksum of layercake $version for $RUNNER_OS-$RUNNER_ARCH; use the action of that release (\`uses: …@v$version\`), or remove the input \`version\`"
    fi
    request_build "this action has no checksum of layercake $own_version for $RUNNER_OS-$RUNNER_ARCH"
fi

download=$(mktemp -d "$RUNNER_TEMP/layercake-download.XXXXXX")
trap 'rm -rf "$download"' EXIT
if ! status=$(with_size_limit curl --disable --silent --show-error --location --retry 3 \
    --connect-timeout 20 --max-time "$MAX_SECONDS" --retry-max-time "$MAX_SECONDS" \
    --max-filesize "${MAX_MB}M" --proto '=https,http' --proto-redir '=https' \
    --output "$download/archive" --write-out '%{http_code}' "$url"); then
    fail "cannot download $url; curl's error is above"
fi
case $status in
200) ;;
404)
    if [[ $version != "$own_version" ]]; then
        fail "no release found at $url"
    fi
    request_build "no release found at $url"
    ;;
*) fail "cannot download $url: the server answered $status" ;;
esac

found=$(sha256 <"$download/archive")
if [[ $found != "$checksum" ]]; then
    fail "$url is not the released file: expected SHA-256 $checksum, found $found"
fi
suffix=
if [[ $RUNNER_OS == Windows ]]; then suffix=.exe; fi
# An archive has one folder of its own name. One member is extracted to standard output, so paths and
# links in the archive cannot decide where anything is written.
member=${archive%.tar.gz}/layercake$suffix
if ! with_size_limit tar -xzOf - "$member" <"$download/archive" >"$download/program" ||
    [[ ! -s $download/program ]]; then
    fail "expected the program \`$member\` in $url, found none"
fi
key=layercake-$version-$target
folder=$RUNNER_TEMP/layercake-program/$key
rm -rf "$folder"
mkdir -p "$folder"
chmod +x "$download/program"
mv "$download/program" "$folder/layercake$suffix"
finish false "$key"
