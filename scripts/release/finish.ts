// The last steps of a release, which need all of its files: writes the table, the files derived from it,
// checksums and signatures.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { writeAptRepository } from './apt-repository.ts'
import { type SigningKey, signFile } from './minisign.ts'
import { createOpenPgpSigner, type OpenPgpSigner } from './openpgp.ts'
import { signRpmPackage } from './rpm-package.ts'
import { type ReleaseTable, readTable, sumOf } from './table.ts'
import { RECIPES, writeRecipe } from './templates.ts'

const CHECKSUMS = 'SHA256SUMS'
/** The release key as apt and rpm read it. */
const PUBLIC_KEY = 'oncebox.asc'

type Finishing = Omit<ReleaseTable, 'files'> & { folder: string; key: SigningKey | null }

/** Returns the number of files, without their signatures, and what was left out with its reason. */
export async function finishRelease({ folder, key, ...described }: Finishing) {
  const signer = key === null ? null : createOpenPgpSigner(key, described.time)
  if (signer !== null) await signPackages(folder, described, signer)
  const table = readTable(folder, described)
  const left: { name: string; reason: string }[] = []
  const attempt = (name: string, write: () => void) => {
    try {
      write()
    } catch (cause) {
      left.push({ name, reason: cause instanceof Error ? cause.message : String(cause) })
    }
  }
  attempt('apt', () => writeAptRepository({ folder, table, signer }))
  for (const recipe of RECIPES) attempt(recipe, () => writeRecipe(recipe, folder, table))
  const paths = [...new Glob('**/*').scanSync({ cwd: folder, dot: true })].sort()
  writeFileSync(
    join(folder, CHECKSUMS),
    paths.map((path) => `${sumOf(join(folder, path))}  ${path}\n`).join(''),
  )
  if (key !== null) signFiles(folder, table, key)
  return { files: paths.length + 1, left }
}

async function signPackages(
  folder: string,
  described: Omit<ReleaseTable, 'files'>,
  signer: OpenPgpSigner,
): Promise<void> {
  writeFileSync(join(folder, PUBLIC_KEY), signer.publicKey)
  const { files } = readTable(folder, described)
  for (const { name } of files.filter(({ part }) => part.startsWith('rpm-')))
    await signRpmPackage(join(folder, name), signer, described.time)
}

/** Signs each file with a comment that names its version and system. The checksums include the recipes. */
function signFiles(folder: string, { version, files }: ReleaseTable, key: SigningKey): void {
  for (const { part, name } of [...files, { part: 'checksums', name: CHECKSUMS }]) {
    const bytes = readFileSync(join(folder, name))
    writeFileSync(join(folder, `${name}.minisig`), signFile(bytes, key, `oncebox ${version} ${part}`))
  }
}
