// The parts of a release: their names, their files, and their dependencies.

/** A system that the executable is compiled for. */
export type System = {
  name: string
  /** The npm package with Bun for the system. */
  runtime: string
  /** Bun's name of the system. */
  target: string
  extension: string
}

export const SYSTEMS: readonly System[] = [
  system('linux-x64', '@oven/bun-linux-x64', 'bun-linux-x64'),
  system('linux-arm64', '@oven/bun-linux-aarch64', 'bun-linux-arm64'),
  system('linux-x64-musl', '@oven/bun-linux-x64-musl', 'bun-linux-x64-musl'),
  system('linux-arm64-musl', '@oven/bun-linux-aarch64-musl', 'bun-linux-arm64-musl'),
  system('windows-x64', '@oven/bun-windows-x64', 'bun-windows-x64', '.exe'),
  system('macos-arm64', '@oven/bun-darwin-aarch64', 'bun-darwin-arm64'),
  system('macos-x64', '@oven/bun-darwin-x64', 'bun-darwin-x64'),
]

function system(name: string, runtime: string, target: string, extension = ''): System {
  return { name, runtime, target, extension }
}

/** Maps Debian's processor names to the system whose executable goes into packages and images. */
export const ARCHITECTURES = { amd64: 'linux-x64', arm64: 'linux-arm64' } as const

export type Architecture = keyof typeof ARCHITECTURES

const BINARIES = SYSTEMS.map(({ name }) => name)
const DEBS = ['deb-amd64', 'deb-arm64']
const RPMS = ['rpm-amd64', 'rpm-arm64']
/** The image of both processors, under one name. */
export const BOTH_IMAGES = 'image-all'
const IMAGES = ['image-amd64', 'image-arm64', BOTH_IMAGES]

/** The parts in build order. The folders of package managers, checksums and signatures come after them. */
export const PARTS: readonly string[] = [...BINARIES, ...DEBS, ...RPMS, ...IMAGES, 'sbom']

/** Names for groups of parts. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  binaries: BINARIES,
  deb: DEBS,
  rpm: RPMS,
  image: IMAGES,
}

/** The names of processors in packages of Red Hat and others. */
export const RPM_PROCESSORS: Readonly<Record<Architecture, string>> = { amd64: 'x86_64', arm64: 'aarch64' }

/** Returns the parts that `--only` names, or all parts without it. Throws for an unknown name. */
export function chooseParts(only: string | undefined): string[] {
  if (only === undefined) return [...PARTS]
  const words = only.split(',').map((word) => word.trim())
  const unknown = words.find((word) => !PARTS.includes(word) && !Object.hasOwn(GROUPS, word))
  if (unknown !== undefined) {
    const known = [...PARTS, ...Object.keys(GROUPS)].join(', ')
    throw new Error(`--only: there is no part ${JSON.stringify(unknown)}; the parts are ${known}`)
  }
  const chosen = new Set(words.flatMap((word) => GROUPS[word] ?? [word]))
  return PARTS.filter((part) => chosen.has(part))
}

/** Returns the processor of a package or an image; null for any other part. */
export function architectureOf(part: string): Architecture | null {
  const [kind = '', name] = part.split('-')
  if (!['deb', 'rpm', 'image'].includes(kind)) return null
  return name === 'amd64' || name === 'arm64' ? name : null
}

/** Returns the system of the executable in a part; null for a part without an executable. */
export function systemOf(part: string): System | null {
  const architecture = architectureOf(part)
  const name = architecture === null ? part : ARCHITECTURES[architecture]
  return SYSTEMS.find((known) => known.name === name) ?? null
}

export function fileNameOf(part: string, version: string): string {
  if (part === 'sbom') return `oncebox-${version}.cdx.json`
  if (part === BOTH_IMAGES) return `oncebox-${version}-image.tar`
  const architecture = architectureOf(part)
  // The names of packages follow the rules of their systems.
  if (part.startsWith('deb-')) return `oncebox_${version}_${architecture}.deb`
  if (architecture !== null && part.startsWith('rpm-'))
    return `oncebox-${version}-1.${RPM_PROCESSORS[architecture]}.rpm`
  if (architecture !== null) return `oncebox-${version}-image-${architecture}.tar`
  return `oncebox-${version}-${part}${systemOf(part)?.extension ?? ''}`
}

/** Returns the part whose file has this name; null for any other file. */
export function partOf(fileName: string, version: string): string | null {
  return PARTS.find((part) => fileNameOf(part, version) === fileName) ?? null
}
