// Compares two runs of a release byte by byte.

import { expect } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileNameOf, PARTS } from '../../../scripts/release/parts.ts'
import { needs } from '../../support/needs.ts'
import { createReleaseKey, makeSmallRelease, RELEASED } from '../../support/small-release.ts'

needs('dpkg-deb', 'rpmbuild').test(
  'a second run in another folder gives the same files, signatures included; without a key nothing is signed',
  async () => {
    const work = mkdtempSync(join(tmpdir(), 'oncebox-same-bytes-'))
    const key = createReleaseKey()
    const releases = [
      await makeSmallRelease(join(work, 'first'), { key }),
      await makeSmallRelease(join(work, 'second'), { key }),
    ]
    const [first = '', second] = releases.map(({ folder }) =>
      readFileSync(join(folder, 'SHA256SUMS'), 'utf8'),
    )
    expect(first).toBe(second ?? '')
    const parts = PARTS.filter((part) => part !== 'sbom').map((part) => fileNameOf(part, RELEASED.version))
    for (const path of [...parts, 'apt/dists/stable/InRelease', 'homebrew/oncebox.rb', 'oncebox.asc'])
      expect(first).toContain(`  ${path}\n`)
    expect(releases.map(({ left }) => left)).toEqual([[], []])
    const unsigned = await makeSmallRelease(join(work, 'unsigned'), { key: null })
    for (const path of ['oncebox.asc', 'apt/oncebox.asc', 'apt/dists/stable/InRelease', 'SHA256SUMS.minisig'])
      expect([path, existsSync(join(unsigned.folder, path))]).toEqual([path, false])
    rmSync(work, { recursive: true })
  },
)
