// What the signed comment of a release says, and whether a release may replace this program.

/** The system that a program is built for; `musl` tells a Linux with another C library from the usual one. */
export type Target = { system: 'linux' | 'macos' | 'windows'; machine: 'x64' | 'arm64'; isMusl: boolean }

export type Release = { version: string; target: Target }

const COMMENT = /^oncebox (\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?) ([a-z0-9-]+)$/

/** Parses a comment such as `oncebox 3.1.0 linux-x64`. Null for any other text. */
export function parseReleaseComment(comment: string): Release | null {
  const [, version, words] = COMMENT.exec(comment.trim()) ?? []
  const target = parseTarget(words ?? '')
  return version === undefined || target === null ? null : { version, target }
}

const SYSTEMS: Record<string, Target['system']> = {
  linux: 'linux',
  darwin: 'macos',
  macos: 'macos',
  windows: 'windows',
}

function parseTarget(text: string): Target | null {
  const [first = '', ...rest] = text.split('-')
  const system = Object.hasOwn(SYSTEMS, first) ? SYSTEMS[first] : undefined
  const machine = rest.find((word) => word === 'x64' || word === 'arm64')
  const others = rest.filter((word) => word !== machine)
  const isMusl = others[0] === 'musl'
  if (system === undefined || machine === undefined || others.length > (isMusl ? 1 : 0)) return null
  return isMusl && system !== 'linux' ? null : { system, machine, isMusl }
}

export function presentTarget({ system, machine, isMusl }: Target): string {
  return [system, machine, ...(isMusl ? ['musl'] : [])].join('-')
}

/** Why the release may not replace this program, as a sentence; null when it may. */
export function problemOfRelease(release: Release, own: Release): string | null {
  const [wanted, found] = [presentTarget(own.target), presentTarget(release.target)]
  if (wanted !== found) return `It is built for ${found}, and this machine needs ${wanted}.`
  if (compareVersions(release.version, own.version) >= 0) return null
  return `It is version ${release.version}, which is older than this ${own.version}. "oncebox upgrade --back" returns to the former one.`
}

/** By the rules of semver 2.0: a pre-release comes before its release. */
export function compareVersions(one: string, other: string): number {
  const [first = '', firstPre = ''] = splitPre(one)
  const [second = '', secondPre = ''] = splitPre(other)
  const byNumbers = compareParts(first.split('.'), second.split('.'))
  if (byNumbers !== 0 || firstPre === secondPre) return byNumbers
  if (firstPre === '' || secondPre === '') return firstPre === '' ? 1 : -1
  return compareParts(firstPre.split('.'), secondPre.split('.'))
}

function splitPre(version: string): string[] {
  const at = version.indexOf('-')
  return at === -1 ? [version] : [version.slice(0, at), version.slice(at + 1)]
}

function compareParts(one: string[], other: string[]): number {
  for (const [index, part] of one.entries()) {
    const against = other[index]
    if (against === undefined) return 1
    const order = comparePart(part, against)
    if (order !== 0) return order
  }
  return one.length < other.length ? -1 : 0
}

/** Numbers come before words. */
function comparePart(one: string, other: string): number {
  const isNumber = (text: string) => /^\d+$/.test(text)
  if (isNumber(one) && isNumber(other)) return Math.sign(Number(one) - Number(other))
  if (isNumber(one) !== isNumber(other)) return isNumber(one) ? -1 : 1
  return one === other ? 0 : one < other ? -1 : 1
}
