// Imports in tests: the command's own way into a data folder, with a clock that is set.

import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Imported, type ImportWish, importCommand } from '../../src/app/import-command.ts'
import { wholeMilliseconds } from '../../src/domain/time.ts'
import { openTestStore, type TestStore } from './store.ts'

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'oncebox-import-'))
}

export type Wish = Partial<ImportWish> & Pick<ImportWish, 'database' | 'dataDir'>

/** The targets of the imports of a test, one for each data folder. */
export type Destination = {
  /** Returns the options of an import besides the data folder. */
  partsOf(dataDir: string): Promise<Partial<ImportWish>>
  /** Opens the target after an import. */
  open(dataDir: string): Promise<Pick<TestStore, 'store'>>
}

const FOLDERS: Destination = {
  partsOf: async () => ({}),
  open: (dataDir) => openTestStore({ dataDir }),
}

/** The command's own way into data folders, or into another place. */
export function importsInto({ partsOf, open }: Destination = FOLDERS) {
  async function runImport(wish: Wish, now: number, say: (line: string) => void = () => undefined) {
    return importCommand(
      {
        sourcePassword: null,
        storage: null,
        masterKeyFile: null,
        previousKeysFile: null,
        mode: 'import',
        keyFile: null,
        ...{ filesUrl: null, s3AccessKeyId: null, s3SecretAccessKey: null },
        ...{ databaseUrl: null, databasePassword: null, databaseConnections: 4 },
        minFreeSpace: 0,
        maxClockGap: Number.MAX_SAFE_INTEGER,
        ...(await partsOf(wish.dataDir)),
        ...wish,
      },
      {
        now: () => now,
        serverNow: () => now,
        uptime: () => wholeMilliseconds(0),
        readFile: (path) => readFileSync(path, 'utf8'),
        say,
        onProgress: () => undefined,
      },
    )
  }

  async function importReport(wish: Wish, now: number) {
    const imported: Imported = await runImport({ ...wish, mode: wish.mode ?? 'import' }, now)
    if (imported.mode === 'verify') throw new Error('not a report of an import')
    return imported.report
  }

  async function verification(wish: Wish, now: number) {
    const imported = await runImport({ ...wish, mode: 'verify' }, now)
    if (imported.mode !== 'verify') throw new Error('not a verification')
    return imported.report
  }

  return { runImport, importReport, verification, open }
}

export const { runImport, importReport, verification } = importsInto()
