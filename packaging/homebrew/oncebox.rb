# brew tap-new you/oncebox, then copy this file to its folder Formula: brew install you/oncebox/oncebox
class Oncebox < Formula
  desc "Share secrets by links that open a limited number of times"
  homepage "@DOWNLOAD_BASE@"
  version "@version@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "@DOWNLOAD_BASE@/@file:macos-arm64@"
      sha256 "@sha256:macos-arm64@"
    end
    on_intel do
      url "@DOWNLOAD_BASE@/@file:macos-x64@"
      sha256 "@sha256:macos-x64@"
    end
  end

  on_linux do
    on_arm do
      url "@DOWNLOAD_BASE@/@file:linux-arm64@"
      sha256 "@sha256:linux-arm64@"
    end
    on_intel do
      url "@DOWNLOAD_BASE@/@file:linux-x64@"
      sha256 "@sha256:linux-x64@"
    end
  end

  def install
    bin.install Dir["oncebox-*"].first => "oncebox"
    chmod 0755, bin/"oncebox"
    generate_completions_from_executable(bin/"oncebox", "completion", shells: [:bash, :zsh, :fish])
  end

  service do
    run [opt_bin/"oncebox", "serve"]
    keep_alive true
    log_path var/"log/oncebox.log"
    error_log_path var/"log/oncebox.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/oncebox --version")
  end
end
