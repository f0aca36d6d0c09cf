// Compares the imported data with the other server's, value by value. Read-only: counts no views.

import { isBcrypt } from '../accounts/passwords.ts'
import { openForAccount } from '../crypto/sealed-field.ts'
import { hashToken } from '../crypto/tokens.ts'
import { type IncomingSource, isUnreadable } from './incoming.ts'
import { createMarks } from './marks.ts'
import { differentRights, type PlannedAccount, planAccount } from './plan-account.ts'
import { createComparePush, type PushComparison, type VerifyOptions } from './verify-push.ts'
import type { ImportFinding } from './walk.ts'

type VerifyReport = {
  accounts: number
  /** Live here and there: every value was compared. */
  live: number
  /** Expired here or there: the remaining values were compared. */
  expired: number
  /** Imported, but removed here afterwards. */
  gone: number
  /** Unreadable on the other server, so not compared. */
  failures: ImportFinding[]
  differences: ImportFinding[]
}

export async function verifySource(source: IncomingSource, options: VerifyOptions): Promise<VerifyReport> {
  const report: VerifyReport = { accounts: 0, live: 0, expired: 0, gone: 0, failures: [], differences: [] }
  const emails = await verifyAccounts(source, options, report)
  const compare = createComparePush({ ...options, emails })
  let done = 0
  for await (const incoming of source.readPushes()) {
    done += 1
    options.onProgress(done, source.pushes)
    const place = `push ${incoming.id}`
    const compared: PushComparison = isUnreadable(incoming)
      ? { state: 'failure', what: [incoming.problem] }
      : await compare(incoming)
    if (compared.state === 'failure') report.failures.push(...compared.what.map((what) => ({ place, what })))
    else {
      report[compared.state] += 1
      report.differences.push(...compared.what.map((what) => ({ place, what })))
    }
  }
  return report
}

/** The addresses by the other server's ids. */
async function verifyAccounts(source: IncomingSource, options: VerifyOptions, report: VerifyReport) {
  const emails = new Map<number, string>()
  for await (const incoming of source.readAccounts()) {
    const planned = planAccount(incoming)
    if ('problem' in planned) {
      report.failures.push({ place: `account ${incoming.id}`, what: planned.problem })
      continue
    }
    emails.set(incoming.id, planned.email)
    report.accounts += 1
    const place = `account ${planned.email}`
    const differences = await compareAccount(planned, options)
    report.differences.push(...differences.map((what) => ({ place, what })))
  }
  return emails
}

/** Compares an account, except a password that was rehashed at a sign-in. */
async function compareAccount(planned: PlannedAccount, { store, keyring }: VerifyOptions): Promise<string[]> {
  const { email, totp, apiToken } = planned
  const found = await store.accounts.findCredentials(email)
  const wasHere = await store.imports.isKnown(createMarks(keyring).account.all(email))
  if (found === null) return wasHere ? [] : ['it is not here']
  const { account, passwordHash, totpSecret, totpStep } = found
  const secret = totpSecret && openForAccount(totpSecret, { accountId: account.id, field: 'totp', keyring })
  const token = apiToken === null ? null : await store.apiTokens.findByHash(hashToken(apiToken))
  const isOwnToken = apiToken === null || account.disabledAt !== null || token?.account.id === account.id
  return [
    ...(isBcrypt(passwordHash) && passwordHash !== planned.passwordHash ? ['its password differs'] : []),
    ...differentRights(planned, account),
    ...(planned.isDisabled && account.disabledAt === null ? ['it is enabled here'] : []),
    ...(secret === (totp?.secret ?? null) ? [] : ['its second factor differs']),
    ...((totp?.lastStep ?? 0) > (totpStep ?? 0) ? ['a code that was used there works again here'] : []),
    ...(isOwnToken ? [] : ['its API token does not work here']),
  ]
}
