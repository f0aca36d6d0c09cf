// Accounts as administrators see them: pages of search results, with the space that each account uses.

import { type ListedAccount, PEOPLE_PAGE_SIZE } from '../../domain/account.ts'
import type { PageOfPeople, Usage } from '../accounts-contract.ts'
import { select, statement } from '../statements.ts'
import { all, breathe, first, type Steps } from '../steps.ts'
import { accounts } from '../tables.ts'
import { type AccountRow, presentAccount } from './accounts.ts'

/** How many pushes one step measures, so that other requests run in between. */
const STEP = 500

/**
 * Matches any part of an address. No index can do that, so each page scans the index of addresses: some tens
 * of milliseconds for 100,000 accounts. Whole rows are read only for the page.
 */
const IS_FOUND = "email LIKE '%' || $1 || '%' ESCAPE '\\'"
const PAGE = select(
  accounts,
  `WHERE id IN (SELECT id FROM accounts WHERE ${IS_FOUND} ORDER BY email LIMIT $2 OFFSET $3) ORDER BY email`,
)
const COUNT = statement<{ total: number }>(`SELECT count(*) AS total FROM accounts WHERE ${IS_FOUND}`)

const UNPROTECTED = statement<{ n: number }>(
  'SELECT count(*) AS n FROM accounts WHERE is_admin AND disabled_at IS NULL AND totp_secret IS NULL AND passkeys = 0',
)

const MEASURE = statement<{ pushes: number; bytes: number; last: number | null }>(
  `SELECT count(*) AS pushes, CAST(coalesce(sum(bytes), 0) AS BIGINT) AS bytes, max(id) AS last FROM (
      SELECT id,
        coalesce((SELECT length(payload) FROM push_secrets WHERE push_id = pushes.id), 0) +
        coalesce((SELECT sum(size) FROM push_files WHERE push_id = pushes.id), 0) AS bytes
      FROM pushes WHERE owner_id = $1 AND expired_on IS NULL AND id > $2 ORDER BY id LIMIT ${STEP}
    ) AS step`,
)

export function createPeople({ read }: Steps) {
  /** Lists accounts whose address contains `search`, by address, 25 a page from page 1. */
  async function listPeople(asked: { search: string; pageNumber: number }): Promise<PageOfPeople> {
    const { search, pageNumber } = asked
    const part = search.trim().toLowerCase()
    // No address contains this character, and PostgreSQL does not accept it in text.
    if (part.includes('\0')) return { people: [], total: 0 }
    const pattern = part.replace(/[\\%_]/g, '\\$&')
    return read(function* () {
      const rows = yield* all(PAGE, pattern, PEOPLE_PAGE_SIZE, (pageNumber - 1) * PEOPLE_PAGE_SIZE)
      const counted = yield* first(COUNT, pattern)
      return { people: rows.map(presentListed), total: counted?.total ?? 0 }
    })
  }

  async function measureUsage(ownerId: number): Promise<Usage> {
    const usage = { pushes: 0, bytes: 0 }
    for (let after = 0; ; ) {
      const step = await read(() => first(MEASURE, ownerId, after))
      if (step === null || step.last === null) return usage
      usage.pushes += step.pushes
      usage.bytes += step.bytes
      after = step.last
      if (step.pushes < STEP) return usage
      await breathe()
    }
  }

  /** Counts the administrators who may sign in with a password alone. */
  const countUnprotectedAdmins = async () => (await read(() => first(UNPROTECTED)))?.n ?? 0

  return { listPeople, measureUsage, countUnprotectedAdmins }
}

function presentListed(row: AccountRow): ListedAccount {
  const { lastSignInAt } = row
  return { ...presentAccount(row), lastSignInAt: lastSignInAt === 0 ? null : lastSignInAt }
}
