// Imports in tests: the command's own way into a data folder, with a clock that is set.

import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Imported, type ImportWish, importCommand } from '../../src/app/import-command.ts'

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'oncebox-import-'))
}

export type Wish = Partial<ImportWish> & Pick<ImportWish, 'database' | 'dataDir'>

export async function runImport(wish: Wish, now: number, say: (line: string) => void = () => undefined) {
  return importCommand(
    {
      databasePassword: null,
      storage: null,
      masterKeyFile: null,
      previousKeysFile: null,
      mode: 'import',
      keyFile: null,
      server: null,
      minFreeSpace: 0,
      bucket: null,
      maxClockGap: Number.MAX_SAFE_INTEGER,
      ...wish,
    },
    {
      now: () => now,
      uptime: () => 0,
      readFile: (path) => readFileSync(path, 'utf8'),
      say,
      onProgress: () => undefined,
    },
  )
}

export async function importReport(wish: Wish, now: number) {
  const imported: Imported = await runImport({ ...wish, mode: wish.mode ?? 'import' }, now)
  if (imported.mode === 'verify') throw new Error('not a report of an import')
  return imported.report
}

export async function verification(wish: Wish, now: number) {
  const imported = await runImport({ ...wish, mode: 'verify' }, now)
  if (imported.mode !== 'verify') throw new Error('not a verification')
  return imported.report
}
