// Walks through another server's accounts and pushes, and stores those that can be imported, sealed as if
// they had been created here.

import type { Keyring } from '../crypto/keyring.ts'
import { newDataKey, sealSecrets } from '../crypto/push-secrets.ts'
import { sealForAccount } from '../crypto/sealed-field.ts'
import { hashToken } from '../crypto/tokens.ts'
import { lookupOf } from '../crypto/url-token.ts'
import { sealFile } from '../pushes/content.ts'
import { sealLabels } from '../pushes/labels.ts'
import type { Import, PushToImport } from '../store/pushes/imports.ts'
import { type IncomingPush, type IncomingSource, isUnreadable } from './incoming.ts'
import { createMarks } from './marks.ts'
import { differentRights, type PlannedAccount, planAccount } from './plan-account.ts'
import { type PlannedPush, planPush } from './plan-push.ts'
import { NOTHING_PREPARED, type Prepared, type Ready } from './prepare.ts'

/** `place` names an account or a push of the other server, never its link. */
export type ImportFinding = { place: string; what: string }

export type ImportReport = ReturnType<typeof emptyReport>

export function emptyReport() {
  return {
    accounts: { came: 0, disabled: 0, known: 0 },
    apiTokens: 0,
    secondFactors: 0,
    pushes: { live: 0, expired: 0, known: 0 },
    files: { count: 0, bytes: 0 },
    /** Records that were imported with a difference. */
    notes: [] as ImportFinding[],
    /** Records that were not imported. */
    failures: [] as ImportFinding[],
  }
}

export type OnProgress = (done: number, total: number) => void

type WalkOptions = {
  now: number
  /** The import's transaction. That of a dry run stores nothing. */
  step: Import
  keyring: Keyring
  prepare: (incoming: IncomingPush) => Promise<Prepared>
  onProgress: OnProgress
}

const TOKEN_NAME = 'Password Pusher'

export async function walkSource(source: IncomingSource, options: WalkOptions): Promise<ImportReport> {
  const { now, step, keyring, onProgress } = options
  const marks = createMarks(keyring)
  const report = emptyReport()
  /** The account here for each id of the other server; 'gone' for one that was removed here. */
  const owners = new Map<number, number | 'gone'>()

  async function walkAccounts(): Promise<void> {
    for await (const incoming of source.readAccounts()) {
      const planned = planAccount(incoming)
      if ('problem' in planned) {
        report.failures.push({ place: `account ${incoming.id}`, what: planned.problem })
        continue
      }
      const id = await enterAccount(planned)
      owners.set(incoming.id, id ?? 'gone')
      if (id !== null) await enterToken(planned.apiToken, id)
    }
  }

  /**
   * Returns the id of the new or existing account. An existing account keeps its password. Returns null for
   * an account that an earlier import created and that was removed here afterwards.
   */
  async function enterAccount(planned: PlannedAccount): Promise<number | null> {
    const { email } = planned
    const here = await step.findAccount(email)
    const hasCome = await step.isKnown(marks.account.all(email))
    const note = (what: string) => report.notes.push({ place: `account ${email}`, what })
    if (here === null && !hasCome) {
      planned.notes.forEach(note)
      return addAccount(planned)
    }
    report.accounts.known += 1
    if (here === null) note('it was removed here, and does not come back')
    else if (!hasCome) {
      note('there is one here already, which keeps its password')
      await step.remember(marks.account.one(email))
    }
    differentRights(planned, here ?? planned).forEach(note)
    return here?.id ?? null
  }

  async function addAccount({ isDisabled, totp, notes, apiToken, language, ...planned }: PlannedAccount) {
    const disabledAt = isDisabled ? now : null
    const accountId = await step.addAccount({ ...planned, disabledAt, totpStep: null })
    await step.remember(marks.account.one(planned.email))
    report.accounts.came += 1
    if (isDisabled) report.accounts.disabled += 1
    if (language !== null) await step.setLanguage({ accountId, language })
    if (totp === null) return accountId
    const sealedSecret = sealForAccount(totp.secret, { accountId, field: 'totp', keyring })
    await step.setTotpSecret({ accountId, sealedSecret, step: totp.lastStep })
    report.secondFactors += 1
    return accountId
  }

  async function enterToken(apiToken: string | null, accountId: number): Promise<void> {
    if (apiToken === null || (await step.isKnown(marks.apiToken.all(apiToken)))) return
    await step.addApiToken({ accountId, name: TOKEN_NAME, hash: hashToken(apiToken) })
    await step.remember(marks.apiToken.one(apiToken))
    report.apiTokens += 1
  }

  /** Imports a push. Returns the reason if it cannot be imported, or null. */
  async function enterPush(incoming: IncomingPush): Promise<string | null> {
    // A push whose owner was removed on the other server becomes anonymous.
    const ownerId = incoming.ownerId === null ? null : (owners.get(incoming.ownerId) ?? null)
    if (ownerId === 'gone') return "its owner's account was removed here"
    const planned = planPush(incoming, now)
    if ('problem' in planned) return planned.problem
    const prepared = planned.live === null ? NOTHING_PREPARED : await options.prepare(incoming)
    if ('problem' in prepared) return prepared.problem
    const sealed = seal({ ...planned, push: { ...planned.push, ownerId } }, { incoming, prepared, keyring })
    await step.addPush(sealed)
    await step.remember(sealed.lookup)
    countPush(planned, incoming, report)
    return null
  }

  await walkAccounts()
  let done = 0
  for await (const incoming of source.readPushes()) {
    done += 1
    onProgress(done, source.pushes)
    const fail = (what: string) => report.failures.push({ place: `push ${incoming.id}`, what })
    if (isUnreadable(incoming)) fail(incoming.problem)
    else if (await step.isKnown(marks.push.all(incoming.urlToken))) report.pushes.known += 1
    else {
      const problem = await enterPush(incoming)
      if (problem !== null) fail(problem)
    }
  }
  return report
}

function countPush({ live, notes }: PlannedPush, incoming: IncomingPush, report: ImportReport): void {
  for (const what of notes) report.notes.push({ place: `push ${incoming.id}`, what })
  report.pushes[live === null ? 'expired' : 'live'] += 1
  if (live === null) return
  report.files.count += incoming.files.length
  report.files.bytes += incoming.files.reduce((sum, { size }) => sum + size, 0)
}

type SealInput = { incoming: IncomingPush; prepared: Ready; keyring: Keyring }

/** Returns the push as stored. An expired push keeps only the labels of its owner. */
function seal({ push, live, name, note }: PlannedPush, given: SealInput): PushToImport {
  const { incoming, prepared, keyring } = given
  const { urlToken, entries } = incoming
  const { sealing: instanceKey } = keyring
  const { number: keyNumber } = instanceKey
  const lookup = lookupOf(urlToken, instanceKey.lookup)
  const { ownerId } = push
  const labels =
    ownerId === null
      ? null
      : sealLabels({ urlToken, name, note, request: null }, { keyring, pushId: lookup, ownerId })
  const common = { push, lookup, keyNumber, labels, entries }
  if (live === null) return { ...common, secrets: null, files: [] }
  const { dataKey = newDataKey(), passphrase, files } = prepared
  const opener = { instanceKey, pushId: lookup, urlToken, passphraseKey: passphrase?.key ?? null }
  return {
    ...common,
    secrets: {
      ...sealSecrets({ payload: live.payload, dataKey }, opener),
      passphraseSalt: passphrase?.salt ?? null,
    },
    files: files.map((file) => sealFile(file, { pushId: lookup, dataKey, keyNumber })),
  }
}
