// A dry run: what an import would bring, without storing anything.

import type { Keyring } from '../crypto/keyring.ts'
import type { IncomingSource } from '../domain/incoming.ts'
import type { Import } from '../store/import-face.ts'
import { findDamage } from './damaged-files.ts'
import type { ImportReport } from './import-report.ts'
import { createMarks } from './marks.ts'
import { type Destination, type OnProgress, walkSource } from './walk.ts'

/** `here` is the folder that the import would go to; null when there is none yet. */
export type SurveyOptions = {
  now: number
  here: (Pick<Import, 'isKnown' | 'findAccount'> & { keyring: Keyring }) | null
  onProgress: OnProgress
}

export async function surveySource(
  source: IncomingSource,
  { here, ...options }: SurveyOptions,
): Promise<ImportReport> {
  return walkSource(source, { ...options, to: createNowhere(here) })
}

function createNowhere(here: SurveyOptions['here']): Destination {
  const marks = here === null ? null : createMarks(here.keyring)
  const isKnown = async (all: Uint8Array[] | undefined) =>
    all !== undefined && (await here?.isKnown(all)) === true
  let accounts = 0
  return {
    isKnownPush: (urlToken) => isKnown(marks?.push.all(urlToken)),
    isKnownAccount: (email) => isKnown(marks?.account.all(email)),
    isKnownToken: (apiToken) => isKnown(marks?.apiToken.all(apiToken)),
    findAccount: async (email) => (await here?.findAccount(email)) ?? null,
    addAccount: async () => {
      accounts -= 1
      return accounts
    },
    joinAccount: async () => undefined,
    addApiToken: async () => undefined,
    addPush: async ({ live }, { files }) => (live === null ? null : findDamage(files)),
  }
}
