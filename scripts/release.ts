// Makes the files of a release in dist/release/: `npm run release`, a part with `-- --only linux-x64,deb`.

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import password from '@inquirer/password'
import { compile, PROJECT, VERSION } from './compile.ts'
import { isDpkgHere, writeDebianPackage } from './release/debian-package.ts'
import { glibcFor, glibcLicence } from './release/glibc.ts'
import { imageOf } from './release/image.ts'
import { needsPassword, readSigningKey, type SigningKey, signFile } from './release/minisign.ts'
import {
  type Architecture,
  architectureOf,
  chooseParts,
  fileNameOf,
  partOf,
  systemOf,
} from './release/parts.ts'
import { runtimeFor } from './release/runtimes.ts'
import { writeSbom } from './sbom.ts'

const FOLDER = join(PROJECT, 'dist', 'release')
const CHECKSUMS = 'SHA256SUMS'

const OPTIONS = {
  only: { type: 'string' },
  'sign-key': { type: 'string' },
  'glibc-amd64': { type: 'string' },
  'glibc-arm64': { type: 'string' },
} as const

type Values = { [name in keyof typeof OPTIONS]?: string }
type Making = { values: Values; time: number }

const pathOf = (part: string) => join(FOLDER, fileNameOf(part, VERSION))

/** The time of all files in the release, in seconds: that of the last commit, for reproducible builds. */
function releaseTime(): number {
  const given = process.env.SOURCE_DATE_EPOCH
  if (given !== undefined && /^\d+$/.test(given)) return Number(given)
  const child = Bun.spawnSync(['git', 'log', '-1', '--format=%ct'], { cwd: PROJECT, stderr: 'ignore' })
  const time = Number.parseInt(child.stdout.toString(), 10)
  if (child.success && Number.isFinite(time)) return time
  throw new Error('this is no git repository: set SOURCE_DATE_EPOCH to the time of the release, in seconds')
}

async function make(part: string, { values, time }: Making): Promise<void> {
  if (part === 'sbom') return writeSbom(pathOf(part))
  const architecture = architectureOf(part)
  if (architecture === null) return makeBinary(part)
  const binary = pathOf(systemOf(part)?.name ?? '')
  await makeBinary(systemOf(part)?.name ?? '')
  if (part.startsWith('deb-')) {
    if (!isDpkgHere()) throw new Error('dpkg-deb is missing: install dpkg')
    await writeDebianPackage({ architecture, version: VERSION, binary, output: pathOf(part), time })
  } else await makeImage(architecture, { part, binary, values, time })
}

const compiled = new Set<string>()

/** Compiles each executable once, for itself and for the packages that contain it. */
async function makeBinary(name: string): Promise<void> {
  const system = systemOf(name)
  if (system === null || compiled.has(name)) return
  await compile({ output: pathOf(name), target: system.target, runtime: await runtimeFor(system) })
  compiled.add(name)
}

async function makeImage(
  architecture: Architecture,
  { part, binary, values, time }: Making & { part: string; binary: string },
): Promise<void> {
  const library = glibcFor(architecture, values[`glibc-${architecture}`])
  if ('missing' in library) throw new Error(library.missing)
  const glibc = glibcLicence()
  const licences = [
    { name: 'LICENSE', bytes: readFileSync(join(PROJECT, 'LICENSE')) },
    ...(glibc === null ? [] : [{ name: 'glibc-copyright', bytes: glibc }]),
  ]
  const content = { architecture, version: VERSION, library: library.files, licences, time }
  writeFileSync(pathOf(part), await imageOf({ ...content, binary: readFileSync(binary) }))
}

/** Builds the parts and prints how long each takes. Returns the parts that could not be built. */
async function makeAll(parts: readonly string[], making: Making): Promise<string[]> {
  const failed: string[] = []
  for (const [index, part] of parts.entries()) {
    const startedAt = performance.now()
    const start = `[${index + 1}/${parts.length}] ${part}`
    try {
      await make(part, making)
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
      const path = pathOf(part)
      console.log(`${start}: ${relative(PROJECT, path)}, ${megabytes(path)} MB, ${seconds} s`)
    } catch (cause) {
      rmSync(pathOf(part), { force: true })
      console.error(`${start}: not made: ${cause instanceof Error ? cause.message : cause}`)
      failed.push(part)
    }
  }
  return failed
}

function megabytes(path: string): string {
  return (statSync(path).size / 1e6).toFixed(1)
}

/** Writes the checksums of every file of this version in the folder, including those of earlier runs. */
function writeChecksums(): string[] {
  const names = readdirSync(FOLDER)
    .filter((name) => partOf(name, VERSION) !== null)
    .sort()
  const lines = names.map((name) => {
    const digest = createHash('sha256')
      .update(readFileSync(join(FOLDER, name)))
      .digest('hex')
    return `${digest}  ${name}\n`
  })
  writeFileSync(join(FOLDER, CHECKSUMS), lines.join(''))
  return [...names, CHECKSUMS]
}

async function openSigningKey(path: string | undefined): Promise<SigningKey | null> {
  if (path === undefined) return null
  const file = readFileSync(path, 'utf8')
  const entered = needsPassword(file)
    ? await password({ message: `Password of ${path}:`, toggleMask: false })
    : null
  return readSigningKey(file, entered)
}

/** Signs the file with a comment that names its version and system. */
function signAll(names: readonly string[], key: SigningKey): void {
  for (const name of names) {
    const part = partOf(name, VERSION) ?? 'checksums'
    const bytes = readFileSync(join(FOLDER, name))
    writeFileSync(join(FOLDER, `${name}.minisig`), signFile(bytes, key, `oncebox ${VERSION} ${part}`))
  }
}

async function release(values: Values): Promise<number> {
  const parts = chooseParts(values.only)
  const key = await openSigningKey(values['sign-key'])
  const time = releaseTime()
  if (values.only === undefined) rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  const failed = await makeAll(parts, { values, time })
  // Signatures and checksums of earlier files are obsolete.
  for (const name of readdirSync(FOLDER).filter((found) => partOf(found, VERSION) === null))
    rmSync(join(FOLDER, name), { recursive: true })
  const names = writeChecksums()
  if (key !== null) signAll(names, key)
  console.log(
    `${relative(PROJECT, FOLDER)}: ${names.length} files, ${key === null ? 'not signed (--sign-key FILE)' : 'signed'}`,
  )
  if (failed.length > 0) console.error(`Not made: ${failed.join(', ')}`)
  return failed.length > 0 ? 1 : 0
}

try {
  const { values } = parseArgs({ options: OPTIONS })
  process.exitCode = await release(values)
} catch (cause) {
  console.error(`The release failed: ${cause instanceof Error ? cause.message : cause}`)
  process.exitCode = 1
}
