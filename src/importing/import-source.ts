// Imports what another server gives up: prepares it, then stores all of it in one step, sealed as if created here.

import { sealTotpSecret } from '../accounts/two-factor.ts'
import { hashApiToken } from '../crypto/api-token.ts'
import type { Keyring } from '../crypto/keyring.ts'
import { newDataKey, type Opener, sealSecrets } from '../crypto/push-secrets.ts'
import { lookupOf } from '../crypto/url-token.ts'
import type { IncomingPush, IncomingSource } from '../domain/incoming.ts'
import type { Now } from '../domain/time.ts'
import { sealFile } from '../pushes/file-names.ts'
import { sealLabels } from '../pushes/labels.ts'
import type { Store } from '../store/face.ts'
import type { Import } from '../store/import-face.ts'
import { emptyReport, type ImportReport } from './import-report.ts'
import { createMarks } from './marks.ts'
import type { PlannedAccount } from './plan-account.ts'
import type { PlannedPush } from './plan-push.ts'
import { type Prepared, type PrepareOptions, preparePushes } from './prepare.ts'
import { type Destination, walkSource } from './walk.ts'

export type ImportStep = 'preparing' | 'storing'

export type ImportOptions = Pick<PrepareOptions, 'uploads' | 'argon2Cost' | 'lanes'> & {
  store: Pick<Store, 'imports'>
  keyring: Keyring
  now: Now
  onProgress: (step: ImportStep, done: number, total: number) => void
}

const TOKEN_NAME = 'Password Pusher'

/** Either everything comes that can, or nothing does. */
export async function importSource(source: IncomingSource, options: ImportOptions): Promise<ImportReport> {
  const { store, keyring, onProgress } = options
  const now = options.now()
  const marks = createMarks(keyring)
  // Is refused while a server serves, before files are sealed for a long time.
  await store.imports.importAll(async () => undefined)
  const prepared = await preparePushes(source, {
    ...options,
    now,
    isKnown: (urlToken) => store.imports.isKnown(marks.push.all(urlToken)),
    onProgress: (done, total) => onProgress('preparing', done, total),
  })
  let report = emptyReport()
  await store.imports.importAll(async (step) => {
    const to = createDestination(step, { keyring, prepared, now })
    report = await walkSource(source, {
      now,
      to,
      onProgress: (done, total) => onProgress('storing', done, total),
    })
  })
  return report
}

type Context = { keyring: Keyring; prepared: ReadonlyMap<number, Prepared>; now: number }

function createDestination(step: Import, { keyring, prepared, now }: Context): Destination {
  const marks = createMarks(keyring)

  async function addAccount(planned: PlannedAccount): Promise<number> {
    const { email, passwordHash, isAdmin, createdAt, totp } = planned
    const disabledAt = planned.isDisabled ? now : null
    const accountId = await step.addAccount({
      email,
      passwordHash,
      isAdmin,
      createdAt,
      disabledAt,
      totpStep: null,
    })
    await step.remember(marks.account.one(email))
    if (totp === null) return accountId
    const sealedSecret = sealTotpSecret(totp.secret, { accountId, keyring })
    await step.setTotpSecret({ accountId, sealedSecret, step: totp.lastStep })
    return accountId
  }

  async function addPush(
    planned: PlannedPush,
    { id, urlToken, entries }: IncomingPush,
  ): Promise<string | null> {
    const ready = prepared.get(id) ?? { passphrase: null, dataKey: newDataKey(), files: [] }
    if ('problem' in ready) return ready.problem
    const { sealing: instanceKey } = keyring
    const { number: keyNumber } = instanceKey
    const lookup = lookupOf(urlToken, instanceKey.lookup)
    const { push, live, name, note } = planned
    const place = { pushId: lookup, dataKey: ready.dataKey, keyNumber }
    await step.addPush({
      push,
      lookup,
      keyNumber,
      secrets: live === null ? null : sealLive(live, ready, { instanceKey, pushId: lookup, urlToken }),
      labels:
        push.ownerId === null
          ? null
          : sealLabels({ urlToken, name, note }, { keyring, pushId: lookup, ownerId: push.ownerId }),
      files: live === null ? [] : ready.files.map((file) => sealFile(file, place)),
      entries,
    })
    await step.remember({ mark: lookup, keyNumber })
    return null
  }

  return {
    isKnownPush: (urlToken) => step.isKnown(marks.push.all(urlToken)),
    isKnownAccount: (email) => step.isKnown(marks.account.all(email)),
    isKnownToken: (apiToken) => step.isKnown(marks.apiToken.all(apiToken)),
    findAccount: step.findAccount,
    addAccount,
    joinAccount: (email) => step.remember(marks.account.one(email)),
    addApiToken: async (accountId, apiToken) => {
      await step.addApiToken({ accountId, name: TOKEN_NAME, hash: hashApiToken(apiToken) })
      await step.remember(marks.apiToken.one(apiToken))
    },
    addPush,
  }
}

type Ready = Exclude<Prepared, { problem: string }>

function sealLive(
  { payload }: { payload: string },
  { dataKey, passphrase }: Ready,
  opener: Omit<Opener, 'passphraseKey'>,
) {
  const sealed = sealSecrets({ payload, dataKey }, { ...opener, passphraseKey: passphrase?.key ?? null })
  return { ...sealed, passphraseSalt: passphrase?.salt ?? null }
}
