// Walks through another server's accounts and pushes, decides about each, and hands on what comes.

import type { Account } from '../domain/account.ts'
import { type IncomingPush, type IncomingSource, isUnreadable } from '../domain/incoming.ts'
import { emptyReport, type ImportReport, placeOfAccount, placeOfPush } from './import-report.ts'
import { differentRights, type PlannedAccount, planAccount } from './plan-account.ts'
import { type PlannedPush, planPush } from './plan-push.ts'

/** What is here already, and where things go. A dry run has places that keep nothing. */
export type Destination = {
  isKnownPush(urlToken: string): Promise<boolean>
  isKnownAccount(email: string): Promise<boolean>
  isKnownToken(apiToken: string): Promise<boolean>
  findAccount(email: string): Promise<Pick<Account, 'id' | 'isAdmin'> | null>
  addAccount(account: PlannedAccount): Promise<number>
  /** There is one already, to which the incoming one belongs from now on. */
  joinAccount(email: string): Promise<void>
  addApiToken(accountId: number, apiToken: string): Promise<void>
  /** Returns why the push cannot come, or null. */
  addPush(planned: PlannedPush, incoming: IncomingPush): Promise<string | null>
}

export type OnProgress = (done: number, total: number) => void

export type WalkOptions = { now: number; to: Destination; onProgress: OnProgress }

/** The owner's account here, 'gone' when it was removed here, null when nobody owns the push. */
type Owners = Map<number, number | 'gone'>

export async function walkSource(source: IncomingSource, options: WalkOptions): Promise<ImportReport> {
  const report = emptyReport()
  const owners = await walkAccounts(source, options, report)
  await walkPushes(source, { ...options, owners }, report)
  return report
}

async function walkAccounts(
  source: IncomingSource,
  { to }: WalkOptions,
  report: ImportReport,
): Promise<Owners> {
  const owners: Owners = new Map()
  for await (const incoming of source.readAccounts()) {
    const planned = planAccount(incoming)
    if ('problem' in planned) {
      report.failures.push({ place: placeOfAccount(incoming), what: planned.problem })
      continue
    }
    const id = await enterAccount(planned, to, report)
    owners.set(incoming.id, id ?? 'gone')
    if (id !== null) await enterToken(planned, { id, to, report })
  }
  return owners
}

/** Null for an account that came before and was removed here. One that exists keeps its password. */
async function enterAccount(
  planned: PlannedAccount,
  to: Destination,
  report: ImportReport,
): Promise<number | null> {
  const { email, notes, isDisabled, totp } = planned
  const here = await to.findAccount(email)
  const place = placeOfAccount({ id: 0 }, email)
  if (here === null && !(await to.isKnownAccount(email))) {
    report.accounts.came += 1
    if (isDisabled) report.accounts.disabled += 1
    if (totp !== null) report.secondFactors += 1
    for (const what of notes) report.notes.push({ place, what })
    return to.addAccount(planned)
  }
  report.accounts.known += 1
  if (here === null) report.notes.push({ place, what: 'it was removed here, and does not come back' })
  else if (!(await to.isKnownAccount(email))) {
    report.notes.push({ place, what: 'there is one here already, which keeps its password' })
    await to.joinAccount(email)
  }
  for (const what of differentRights(planned, here ?? planned)) report.notes.push({ place, what })
  return here?.id ?? null
}

async function enterToken(
  { apiToken }: PlannedAccount,
  { id, to, report }: { id: number; to: Destination; report: ImportReport },
): Promise<void> {
  if (apiToken === null || (await to.isKnownToken(apiToken))) return
  await to.addApiToken(id, apiToken)
  report.apiTokens += 1
}

async function walkPushes(
  source: IncomingSource,
  { now, to, onProgress, owners }: WalkOptions & { owners: Owners },
  report: ImportReport,
): Promise<void> {
  let done = 0
  for await (const incoming of source.readPushes()) {
    done += 1
    onProgress(done, source.counts.pushes)
    const fail = (what: string) => report.failures.push({ place: placeOfPush(incoming), what })
    if (isUnreadable(incoming)) fail(incoming.problem)
    else if (await to.isKnownPush(incoming.urlToken)) report.pushes.known += 1
    else {
      // An owner that the other server has removed leaves an anonymous push.
      const owner = incoming.ownerId === null ? null : (owners.get(incoming.ownerId) ?? null)
      const planned = owner === 'gone' ? OWNER_GONE : planPush(incoming, now)
      const problem =
        'problem' in planned ? planned.problem : await to.addPush(ownedBy(planned, owner), incoming)
      if (problem !== null || 'problem' in planned) fail(problem ?? '')
      else countPush(planned, incoming, report)
    }
  }
}

const OWNER_GONE = { problem: "its owner's account was removed here" }

function ownedBy(planned: PlannedPush, owner: number | 'gone' | null): PlannedPush {
  return typeof owner === 'number' ? { ...planned, push: { ...planned.push, ownerId: owner } } : planned
}

function countPush({ live, notes }: PlannedPush, incoming: IncomingPush, report: ImportReport): void {
  for (const what of notes) report.notes.push({ place: placeOfPush(incoming), what })
  if (live === null) {
    report.pushes.expired += 1
    return
  }
  report.pushes.live += 1
  report.files.count += incoming.files.length
  report.files.bytes += incoming.files.reduce((sum, { size }) => sum + size, 0)
}
