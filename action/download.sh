#!/usr/bin/env bash
# Gets the released program of this platform, and takes it only if its SHA-256
# is the one that `releases.txt` beside this script has: that file came with the
# action, at the commit which the user chose. The workflow that releases writes it.
#
# Where the action knows no release of its own version, as on a branch between
# releases, and where that cannot be found, the program is built from the action's
# own checkout; the next steps do it. A file with another checksum is never a
# reason to build, but an error.
set -euo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=action/commands.sh
. "$here/commands.sh"
root=${here%/*}

# Maximum size of the archive, and of the program in it, in megabytes.
readonly MAX_MB=100

# Maximum duration of a download, in seconds.
readonly MAX_SECONDS=300

# The name by which Rust calls the platform; nothing where none is released.
platform() {
    case "$RUNNER_OS-$RUNNER_ARCH" in
    Linux-X64) echo x86_64-unknown-linux-musl ;;
    Linux-ARM64) echo aarch64-unknown-linux-musl ;;
    macOS-X64) echo x86_64-apple-darwin ;;
    macOS-ARM64) echo aarch64-apple-darwin ;;
    Windows-X64) echo x86_64-pc-windows-msvc ;;
    esac
}

# The SHA-256 of standard input.
sha256() {
    if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -d ' ' -f 1
}

# One hash for all that the program is built from, and for what builds it.
sources() {
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

# Runs a command that can write no larger file; where the system knows such a limit.
limited() (
    ulimit -f $((MAX_MB * 1024)) 2>/dev/null || true
    "$@"
)

finish() {
    output build "$1"
    output key "$2"
    output folder "$RUNNER_TEMP/layercake-program/$2"
    exit 0
}

build() {
    notice "$1; it is built from the action's checkout, which takes some minutes, and kept in the cache"
    finish true "layercake-$RUNNER_OS-$RUNNER_ARCH-$(sources)"
}

# In no folder of the workspace: rustc takes the toolchain that a file there names.
cd "$RUNNER_TEMP"
own=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
version=${INPUT_VERSION:-$own}
if [[ $version == source ]]; then
    build "the program is not downloaded, as the input \`version\` says"
fi
if [[ ! $version =~ ^[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*$ ]]; then
    refuse "the input \`version\` is \`x.y.z\` or \`source\`, and not \`$version\`"
fi

target=$(platform)
archive=layercake-$version-$target.tar.gz
# The first release that has it: an address, and its checksum.
entry=$(tr -d '\r' <"$here/releases.txt" | awk -v end="/v$version/$archive" '
    NF == 2 && $1 ~ /^[0-9a-f]+$/ && length($1) == 64 && !found &&
        substr($2, length($2) - length(end) + 1) == end { print; found = 1 }')
read -r checksum url <<<"$entry"
if [[ -z $target || -z $checksum ]]; then
    if [[ $version != "$own" ]]; then
        refuse "this action knows no layercake $version for $RUNNER_OS-$RUNNER_ARCH; take the action of that release (\`uses: …@v$version\`), or leave the input \`version\` out"
    fi
    build "this action knows no released program of version $own for $RUNNER_OS-$RUNNER_ARCH"
fi

download=$(mktemp -d "$RUNNER_TEMP/layercake-download.XXXXXX")
trap 'rm -rf "$download"' EXIT
if ! status=$(limited curl --disable --silent --show-error --location --retry 3 \
    --connect-timeout 20 --max-time "$MAX_SECONDS" --retry-max-time "$MAX_SECONDS" \
    --max-filesize "${MAX_MB}M" --proto '=https,http' --proto-redir '=https' \
    --output "$download/archive" --write-out '%{http_code}' "$url"); then
    refuse "$url cannot be downloaded; the message is above"
fi
case $status in
200) ;;
404)
    if [[ $version != "$own" ]]; then
        refuse "there is no release at $url"
    fi
    build "there is no release at $url"
    ;;
*) refuse "$url cannot be downloaded: the server answers with $status" ;;
esac

found=$(sha256 <"$download/archive")
if [[ $found != "$checksum" ]]; then
    refuse "$url is not the file that was released: its SHA-256 is $found, and should be $checksum"
fi
suffix=
if [[ $RUNNER_OS == Windows ]]; then suffix=.exe; fi
# Every archive has one folder of its own name. Of its members one is read, and none is
# unpacked: neither a path nor a link in an archive decides where something is written.
member=${archive%.tar.gz}/layercake$suffix
if ! limited tar -xzOf - "$member" <"$download/archive" >"$download/program" ||
    [[ ! -s $download/program ]]; then
    refuse "$url holds no program \`$member\`"
fi
key=layercake-$version-$target
folder=$RUNNER_TEMP/layercake-program/$key
rm -rf "$folder"
mkdir -p "$folder"
chmod +x "$download/program"
mv "$download/program" "$folder/layercake$suffix"
finish false "$key"
