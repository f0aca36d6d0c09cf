// Makes the files of a release in dist/release/: `npm run release`, a part with `-- --only linux-x64,deb`.

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import password from '@inquirer/password'
import { compile, PROJECT, VERSION } from './compile.ts'
import { isDpkgHere, writeDebianPackage } from './release/debian-package.ts'
import { finishRelease } from './release/finish.ts'
import { glibcFor, glibcLicence } from './release/glibc.ts'
import { type ImageContent, imageOf } from './release/image.ts'
import { needsPassword, readSigningKey, type SigningKey } from './release/minisign.ts'
import {
  ARCHITECTURES,
  type Architecture,
  architectureOf,
  BOTH_IMAGES,
  chooseParts,
  fileNameOf,
  partOf,
  systemOf,
} from './release/parts.ts'
import { isRpmbuildHere, writeRpmPackage } from './release/rpm-package.ts'
import { runtimeFor } from './release/runtimes.ts'
import { NO_BASE, parseDownloadBase } from './release/table.ts'
import { writeSbom } from './sbom.ts'

const FOLDER = join(PROJECT, 'dist', 'release')

const OPTIONS = {
  only: { type: 'string' },
  'sign-key': { type: 'string' },
  'glibc-amd64': { type: 'string' },
  'glibc-arm64': { type: 'string' },
} as const

type Values = { [name in keyof typeof OPTIONS]?: string }
type Making = { values: Values; time: number; revision: string | null }

const pathOf = (part: string) => join(FOLDER, fileNameOf(part, VERSION))

/**
 * Returns the time of all files in the release, in seconds, and the commit. SOURCE_DATE_EPOCH overrides the
 * time of the commit.
 */
function readCommit(): { time: number; revision: string | null } {
  const child = Bun.spawnSync(['git', 'log', '-1', '--format=%ct %H'], { cwd: PROJECT, stderr: 'ignore' })
  const [, seconds, revision = null] = /^(\d+) ([0-9a-f]+)$/m.exec(child.stdout.toString()) ?? []
  const given = process.env.SOURCE_DATE_EPOCH ?? ''
  const time = Number(/^\d+$/.test(given) ? given : (seconds ?? Number.NaN))
  if (!Number.isNaN(time)) return { time, revision }
  throw new Error('this is no git repository: set SOURCE_DATE_EPOCH to the time of the release, in seconds')
}

async function make(part: string, making: Making): Promise<void> {
  const architecture = architectureOf(part)
  if (part === 'sbom') return writeSbom(pathOf(part))
  if (part === BOTH_IMAGES) return makeImage(part, ['amd64', 'arm64'], making)
  if (architecture === null) return makeBinary(part)
  if (part.startsWith('image-')) return makeImage(part, [architecture], making)
  const system = ARCHITECTURES[architecture]
  await makeBinary(system)
  const given = { binary: pathOf(system), output: pathOf(part), time: making.time }
  const described = { architecture, version: VERSION, ...given }
  if (part.startsWith('rpm-')) {
    if (!isRpmbuildHere()) throw new Error('rpmbuild is missing: install rpm')
    return writeRpmPackage(described)
  }
  if (!isDpkgHere()) throw new Error('dpkg-deb is missing: install dpkg')
  return writeDebianPackage(described)
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
  part: string,
  architectures: readonly Architecture[],
  making: Making,
): Promise<void> {
  for (const architecture of architectures) await makeBinary(ARCHITECTURES[architecture])
  const contents = architectures.map((architecture) => contentOf(architecture, making))
  writeFileSync(pathOf(part), await imageOf(contents))
}

function contentOf(architecture: Architecture, { values, time, revision }: Making): ImageContent {
  const library = glibcFor(architecture, values[`glibc-${architecture}`])
  if ('missing' in library) throw new Error(library.missing)
  const glibc = glibcLicence()
  const licences = [
    { name: 'LICENSE', bytes: readFileSync(join(PROJECT, 'LICENSE')) },
    ...(glibc === null ? [] : [{ name: 'glibc-copyright', bytes: glibc }]),
  ]
  const binary = readFileSync(pathOf(ARCHITECTURES[architecture]))
  return { architecture, version: VERSION, revision, binary, library: library.files, licences, time }
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

async function openSigningKey(path: string | undefined): Promise<SigningKey | null> {
  if (path === undefined) return null
  const file = readFileSync(path, 'utf8')
  const entered = needsPassword(file)
    ? await password({ message: `Password of ${path}:`, toggleMask: false })
    : null
  return readSigningKey(file, entered)
}

async function release(values: Values): Promise<number> {
  const parts = chooseParts(values.only)
  const base = parseDownloadBase(process.env.DOWNLOAD_BASE)
  const key = await openSigningKey(values['sign-key'])
  const commit = readCommit()
  if (values.only === undefined) rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  const failed = await makeAll(parts, { values, ...commit })
  // Signatures, checksums and recipes of earlier files are obsolete.
  for (const name of readdirSync(FOLDER).filter((found) => partOf(found, VERSION) === null))
    rmSync(join(FOLDER, name), { recursive: true })
  const { files, left } = await finishRelease({
    folder: FOLDER,
    key,
    ...{ version: VERSION, time: commit.time, base },
  })
  for (const { name, reason } of left) console.log(`${name}: left out: ${reason}`)
  if (base === NO_BASE) console.log(`DOWNLOAD_BASE is not set: the recipes name ${NO_BASE}`)
  console.log(
    `${relative(PROJECT, FOLDER)}: ${files} files, ${key === null ? 'not signed (--sign-key FILE)' : 'signed'}`,
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
