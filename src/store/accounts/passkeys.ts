// Passkeys: public keys of authenticators, and the changes of their use.

import { isCopied, MAX_PASSKEYS, type Passkey } from '../../domain/passkey.ts'
import type { NewPasskey, PasskeyUse, StoredPasskey } from '../accounts-contract.ts'
import { inactiveAccount } from '../refusals.ts'
import { insertUnlessThere, locked, type RowOf, select, statement } from '../statements.ts'
import { affected, all, first, type Parts, run, type Step } from '../steps.ts'
import { accounts, passkeys } from '../tables.ts'
import { lockAccount, presentAccount, presentCredentials } from './accounts.ts'
import { requireSession } from './sessions.ts'
import { addRecoveryCodes, removeRecoveryCodes } from './two-factor.ts'

const FIND = select(passkeys, 'WHERE credential_id = $1')
const ACCOUNT = select(accounts, 'WHERE id = $1')
const OF_ACCOUNT = select(passkeys, 'WHERE account_id = $1 ORDER BY id')
const LOCK = locked(select(passkeys, 'WHERE id = $1 AND account_id = $2'))
const insert = insertUnlessThere(passkeys)
const REMOVE = statement<{ id: number }>(
  'DELETE FROM passkeys WHERE id = $1 AND account_id = $2 RETURNING id',
)
const COUNT = statement('UPDATE accounts SET passkeys = $2 WHERE id = $1')
const USED = statement('UPDATE passkeys SET counter = $2, last_used_at = $3 WHERE id = $1')
const PROMOTE = statement('UPDATE passkeys SET signs_in = true WHERE id = $1')
const DEMOTE = statement('UPDATE passkeys SET signs_in = false')
const COPIED = statement('UPDATE passkeys SET copied_at = $2 WHERE id = $1')

const BY_HOST = statement<{ rpId: string; n: number }>(
  'SELECT rp_id AS "rpId", count(*) AS n FROM passkeys GROUP BY rp_id ORDER BY rp_id',
)

/** Counts the passkeys of each host name. */
export function countByHost(): Step<{ rpId: string; n: number }[]> {
  return all(BY_HOST)
}

/**
 * Makes every passkey a second factor. The database was restored, and may hold passkeys that were removed
 * after the backup.
 */
export function demotePasskeys(): Step<void> {
  return run(DEMOTE)
}

export function createPasskeys({ steps: { read, write }, now }: Pick<Parts, 'steps' | 'now'>) {
  function* add(added: NewPasskey): Step<'added' | 'first' | 'too_many' | 'known'> {
    const { accountId, session, recoveryHashes, ...key } = added
    const account = yield* lockAccount(accountId)
    if (account === null || account.disabledAt !== null) throw inactiveAccount()
    yield* requireSession(session)
    if (account.passkeys >= MAX_PASSKEYS) return 'too_many'
    const row = yield* insert({ ...key, accountId, signsIn: true, createdAt: now() })
    if (row === null) return 'known'
    yield* run(COUNT, accountId, account.passkeys + 1)
    if (presentAccount(account).hasTwoFactor) return 'added'
    yield* addRecoveryCodes(accountId, recoveryHashes)
    return 'first'
  }

  function* remove({ accountId, id }: { accountId: number; id: number }): Step<boolean> {
    const account = yield* lockAccount(accountId)
    if (account === null || !(yield* affected(REMOVE, id, accountId))) return false
    const left = account.passkeys - 1
    yield* run(COUNT, accountId, left)
    if (left === 0 && account.totpSecret === null) yield* removeRecoveryCodes(accountId)
    return true
  }

  function* use({ id, accountId, counter, beside }: PasskeyUse): Step<'used' | 'copied' | 'gone'> {
    const account = yield* lockAccount(accountId)
    const key = yield* first(LOCK, id, accountId)
    if (account === null || key === null) return 'gone'
    if (key.copiedAt !== null) return 'copied'
    if (isCopied({ stored: key.counter, given: counter })) {
      yield* run(COPIED, id, now())
      return 'copied'
    }
    yield* run(USED, id, counter, now())
    if (beside !== null && beside === account.passwordHash) yield* run(PROMOTE, id)
    return 'used'
  }

  async function find(credentialId: Uint8Array): Promise<StoredPasskey | null> {
    return read(function* () {
      const row = yield* first(FIND, credentialId)
      const account = row && (yield* first(ACCOUNT, row.accountId))
      if (row === null || account === null) return null
      return { ...present(row), publicKey: row.publicKey, owner: presentCredentials(account) }
    })
  }

  return {
    /** Finds a passkey with its owner. */
    find,
    listPasskeys: async (accountId: number): Promise<(Passkey & { credentialId: Uint8Array })[]> =>
      (await read(() => all(OF_ACCOUNT, accountId))).map((row) => ({
        ...present(row),
        credentialId: row.credentialId,
      })),
    /**
     * Adds a passkey, and the recovery codes if it is the first second factor. Throws `unauthenticated` when
     * the session has ended or the account is disabled.
     */
    add: (passkey: NewPasskey) => write(() => add(passkey), { grows: true }),
    /**
     * Removes a passkey; with the last second factor also the recovery codes. Returns false if the passkey is
     * gone.
     */
    remove: (passkey: { accountId: number; id: number }) => write(() => remove(passkey)),
    /** Records a use. If the counter went back, marks the passkey as copied, which disables it for good. */
    use: (asked: PasskeyUse) => write(() => use(asked)),
  }
}

function present({ id, name, rpId, signsIn, createdAt, lastUsedAt, copiedAt }: RowOf<typeof passkeys>) {
  return { id, name, rpId, signsIn, createdAt, lastUsedAt, copiedAt }
}
