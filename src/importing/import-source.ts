// Imports the data of another server: prepares it, then stores all of it in one step. A dry run stores
// nothing.

import { type Keyring, newKeyFile, parseKeyFile } from '../crypto/keyring.ts'
import type { Now } from '../domain/time.ts'
import type { Store } from '../store/contract.ts'
import type { Import, ImportLook } from '../store/pushes/imports.ts'
import type { IncomingSource } from './incoming.ts'
import { createMarks } from './marks.ts'
import { lookAtFiles, NOTHING_PREPARED, type PrepareOptions, preparePushes } from './prepare.ts'
import { emptyReport, type ImportReport, type OnProgress, walkSource } from './walk.ts'

type ImportOptions = Pick<PrepareOptions, 'uploads' | 'argon2Cost' | 'lanes'> & {
  store: Pick<Store, 'imports'>
  keyring: Keyring
  now: Now
  onProgress: (step: 'preparing' | 'storing', done: number, total: number) => void
}

/** Imports everything that can be imported, or nothing. */
export async function importSource(source: IncomingSource, options: ImportOptions): Promise<ImportReport> {
  const { store, keyring, onProgress } = options
  const now = options.now()
  const marks = createMarks(keyring)
  // Throws at once while a server serves, before files are sealed for a long time.
  await store.imports.importAll(async () => undefined)
  const prepared = await preparePushes(source, {
    ...options,
    now,
    isKnown: (urlToken) => store.imports.isKnown(marks.push.all(urlToken)),
    onProgress: (done, total) => onProgress('preparing', done, total),
  })
  let report = emptyReport()
  await store.imports.importAll(async (step) => {
    report = await walkSource(source, {
      ...{ step, keyring, now },
      prepare: async ({ id }) => prepared.get(id) ?? NOTHING_PREPARED,
      onProgress: (done, total) => onProgress('storing', done, total),
    })
  })
  return report
}

/** `here`: the target of the import; null if it does not exist yet. */
export type SurveyOptions = {
  now: number
  here: (ImportLook & { keyring: Keyring }) | null
  onProgress: OnProgress
}

/** Makes a dry run: reports what an import would add. */
export function surveySource(
  source: IncomingSource,
  { here, ...options }: SurveyOptions,
): Promise<ImportReport> {
  const nothing = async () => undefined
  // Use ids that no account here has.
  let nextId = Number.MAX_SAFE_INTEGER
  const step: Import = {
    isKnown: async (marks) => (await here?.isKnown(marks)) === true,
    findAccount: async (email) => (await here?.findAccount(email)) ?? null,
    addAccount: async () => {
      nextId -= 1
      return nextId
    },
    ...{ remember: nothing, setLanguage: nothing, setTotpSecret: nothing },
    ...{ addApiToken: nothing, addPush: nothing },
  }
  const keyring = here?.keyring ?? parseKeyFile(newKeyFile())
  return walkSource(source, { ...options, step, keyring, prepare: lookAtFiles })
}
