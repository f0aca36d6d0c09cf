// The signed comment of a release, and whether a release may replace this program.

/** `target` as in the name of the release's file: `linux-x64`, `linux-arm64-musl`. */
export type Release = { version: string; target: string }

const COMMENT =
  /^oncebox (\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?) ((?:linux|macos|windows)-(?:x64|arm64)|linux-(?:x64|arm64)-musl)$/

/** Parses a comment such as `oncebox 3.1.0 linux-x64`. Returns null for any other text. */
export function parseReleaseComment(comment: string): Release | null {
  const [, version, target] = COMMENT.exec(comment.trim()) ?? []
  return version === undefined || target === undefined ? null : { version, target }
}

/**
 * Returns why the release may not replace this program, as a sentence; null if it may. A pre-release is older
 * than its release.
 */
export function problemOfRelease(release: Release, own: Release): string | null {
  if (release.target !== own.target)
    return `It is built for ${release.target}, and this machine needs ${own.target}.`
  if (Bun.semver.order(release.version, own.version) >= 0) return null
  return `It is version ${release.version}, which is older than this ${own.version}. "oncebox upgrade --back" returns to the former one.`
}
