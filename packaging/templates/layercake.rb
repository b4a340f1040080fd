# Formula for a Homebrew tap, written by packaging/render.py for each release.
class Layercake < Formula
  desc "Linter for Airship Deckhand site repositories"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "@URL_aarch64-apple-darwin@"
      sha256 "@SHA256_aarch64-apple-darwin@"
    end
    on_intel do
      url "@URL_x86_64-apple-darwin@"
      sha256 "@SHA256_x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "@URL_aarch64-unknown-linux-musl@"
      sha256 "@SHA256_aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "@URL_x86_64-unknown-linux-musl@"
      sha256 "@SHA256_x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "layercake"
    generate_completions_from_executable(bin/"layercake", "completions")
    system bin/"layercake", "man", "--dir", man1
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/layercake --version")
    system bin/"layercake", "demo", testpath/"demo"
  end
end
