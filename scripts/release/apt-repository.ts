// A repository for apt: a folder for a stick or a web server, signed by the release key.

import { createHash } from 'node:crypto'
import { linkSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { OpenPgpSigner } from './openpgp.ts'
import { packed } from './package-files.ts'
import { architectureOf } from './parts.ts'
import type { ReleasedFile, ReleaseTable } from './table.ts'

const POOL = 'pool/main/o/oncebox'

type Making = { folder: string; table: ReleaseTable; signer: OpenPgpSigner | null }

/**
 * Writes the folder `apt` for the packages of the table, which are beside it. Without a key it is not signed,
 * and apt refuses it.
 */
export function writeAptRepository({ folder, table, signer }: Making): void {
  const packages = table.files.filter(({ part }) => part.startsWith('deb-'))
  if (packages.length === 0) throw new Error('it needs a Debian package')
  const root = join(folder, 'apt')
  const write = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  mkdirSync(join(root, POOL), { recursive: true })
  for (const { name } of packages) linkSync(join(folder, name), join(root, POOL, name))
  const indexes = packages.flatMap((file) => indexesOf(file, join(folder, file.name)))
  for (const { path, bytes } of indexes) write(`dists/stable/${path}`, bytes)
  const release = releaseText(table, packages, indexes)
  write('dists/stable/Release', release)
  if (signer === null) return
  write('dists/stable/InRelease', signer.clearsigned(release))
  write('dists/stable/Release.gpg', signer.armouredSignatureOf(Buffer.from(release)))
  write('oncebox.asc', signer.publicKey)
}

type Index = { path: string; bytes: Uint8Array }

/** Returns the list of the packages for one processor, and the same compressed. */
function indexesOf({ part, name, size, sha256 }: ReleasedFile, path: string): Index[] {
  const { success, stdout, stderr } = Bun.spawnSync(['dpkg-deb', '--field', path])
  if (!success) throw new Error(`dpkg-deb: ${stderr.toString().trim()}`)
  const place = [`Filename: ${POOL}/${name}`, `Size: ${size}`, `SHA256: ${sha256}`, '']
  const bytes = Buffer.from(stdout.toString() + place.join('\n'))
  const list = `main/binary-${architectureOf(part)}/Packages`
  return [
    { path: list, bytes },
    { path: `${list}.gz`, bytes: packed(bytes) },
  ]
}

function releaseText(
  { time }: ReleaseTable,
  packages: readonly ReleasedFile[],
  indexes: readonly Index[],
): string {
  const sums = indexes.map(({ path, bytes }) => {
    const sum = createHash('sha256').update(bytes).digest('hex')
    return ` ${sum} ${bytes.length} ${path}`
  })
  return [
    'Origin: Oncebox',
    'Label: Oncebox',
    'Suite: stable',
    'Codename: stable',
    `Date: ${new Date(time * 1000).toUTCString().replace('GMT', 'UTC')}`,
    `Architectures: ${packages.map(({ part }) => architectureOf(part)).join(' ')}`,
    'Components: main',
    'No-Support-for-Architecture-all: Packages',
    'Description: Shares secrets by links that open a limited number of times',
    'SHA256:',
    ...sums,
    '',
  ].join('\n')
}
