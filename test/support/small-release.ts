// A release whose executables are scripts of a few lines, made by the functions of a real release.

import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDpkgHere, writeDebianPackage } from '../../scripts/release/debian-package.ts'
import { finishRelease } from '../../scripts/release/finish.ts'
import { imageOf } from '../../scripts/release/image.ts'
import type { SigningKey } from '../../scripts/release/minisign.ts'
import { createOpenPgpSigner } from '../../scripts/release/openpgp.ts'
import {
  ARCHITECTURES,
  type Architecture,
  architectureOf,
  BOTH_IMAGES,
  fileNameOf,
  PARTS,
  SYSTEMS,
} from '../../scripts/release/parts.ts'
import { isRpmbuildHere, writeRpmPackage } from '../../scripts/release/rpm-package.ts'
import { readTable } from '../../scripts/release/table.ts'

export const RELEASED = { version: '3.1.0', time: 1_790_000_000, base: 'https://once.example/files' }

export function createReleaseKey(): SigningKey {
  return { id: Buffer.from('a key id'), key: generateKeyPairSync('ed25519').privateKey }
}

export type SmallRelease = Awaited<ReturnType<typeof makeSmallRelease>>

type Kind = 'deb' | 'rpm' | 'image'

/**
 * Makes the executables, the parts of these kinds for which this machine has the tools, and all files that
 * are derived from them.
 */
export async function makeSmallRelease(
  folder: string,
  { key, kinds = ['deb', 'rpm', 'image'] }: { key: SigningKey | null; kinds?: readonly Kind[] },
) {
  const { version, time } = RELEASED
  const described = { version, time, base: RELEASED.base }
  const isWanted = (part: string) => kinds.some((kind) => part.startsWith(`${kind}-`))
  mkdirSync(folder, { recursive: true })
  const pathOf = (part: string) => join(folder, fileNameOf(part, version))
  for (const { name } of SYSTEMS) writeFileSync(pathOf(name), programOf(name), { mode: 0o755 })
  for (const part of PARTS.filter(isWanted)) {
    const architecture = architectureOf(part)
    if (architecture === null) continue
    const binary = pathOf(ARCHITECTURES[architecture])
    const given = { architecture, version, binary, output: pathOf(part), time }
    if (part.startsWith('deb-') && isDpkgHere()) await writeDebianPackage(given)
    if (part.startsWith('rpm-') && isRpmbuildHere()) await writeRpmPackage(given)
    if (part.startsWith('image-'))
      writeFileSync(pathOf(part), await imageOf([contentOf(architecture, binary)]))
  }
  if (isWanted(BOTH_IMAGES)) {
    const both = (['amd64', 'arm64'] as const).map((name) => contentOf(name, pathOf(ARCHITECTURES[name])))
    writeFileSync(pathOf(BOTH_IMAGES), await imageOf(both))
  }
  const { left } = await finishRelease({ folder, key, ...described })
  const table = readTable(folder, described)
  const signer = key === null ? null : createOpenPgpSigner(key, time)
  return { folder, left, table, pathOf, fingerprint: signer?.fingerprint ?? null }
}

function contentOf(architecture: Architecture, binary: string) {
  const { version, time } = RELEASED
  const licences = [{ name: 'LICENSE', bytes: Buffer.from('a licence') }]
  return {
    ...{ architecture, version, revision: 'c0ffee', time, licences },
    ...{ binary: readFileSync(binary), library: [] },
  }
}

/** Answers as an executable that installs its service once, and notes its arguments. */
function programOf(name: string): string {
  return `#!/bin/sh
# ${name}
echo "$@" >> "$0.calls"
case "$1" in
  --version) echo ${RELEASED.version} ;;
  service) [ -e "$0.installed" ] || echo "copy $0 to /usr/local/bin/oncebox (0755)"; touch "$0.installed" ;;
  *) echo ok ;;
esac
`
}
