// Declares the programs and rights that a test needs beside Bun. If one is missing, the test is skipped, and
// its name says what is missing.

import { describe, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isInstalled, type Program } from '../../scripts/programs.ts'

type Need = Program | 'root'

export type Needing = {
  isMet: boolean
  describe(name: string, body: () => void | Promise<void>): void
  test(name: string, body: () => unknown, timeout?: number): void
}

/** Returns `describe` and `test` that need all of these. `mount` means that the system allows mounts. */
export function needs(...all: readonly Need[]): Needing {
  const missing = all.filter((need) => !isMet(need))
  if (missing.length === 0) return { isMet: true, describe, test }
  // `npm test` collects these marks in a table.
  const named = (name: string) => `${name} [needs ${missing.join(', ')}]`
  return {
    isMet: false,
    describe: (name, body) => describe.skip(named(name), body),
    test: (name) => test.skip(named(name), () => undefined),
  }
}

const known = new Map<Need, boolean>()

function isMet(need: Need): boolean {
  const met = known.get(need) ?? look(need)
  known.set(need, met)
  return met
}

function look(need: Need): boolean {
  if (need === 'root') return process.geteuid?.() === 0
  return isInstalled(need) && (need !== 'mount' || canMount())
}

/** Root may not mount in most containers. */
function canMount(): boolean {
  if (process.geteuid?.() !== 0) return false
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-mount-'))
  const { success } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder])
  if (success) Bun.spawnSync(['umount', '-l', folder])
  rmSync(folder, { recursive: true })
  return success
}
