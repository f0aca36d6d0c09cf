// Accounts as administrators see them: pages of a search, and the space that each one uses.

import { asc, count, inArray, type SQL, sql } from 'drizzle-orm'
import { type ListedAccount, PEOPLE_PAGE_SIZE } from '../../../domain/account.ts'
import type { PageOfPeople, PeopleStore, Usage } from '../../accounts-face.ts'
import type { Read } from '../engine/database.ts'
import { accounts } from '../schema/schema.ts'
import { type AccountRow, presentAccount } from './account-rows.ts'

/** Pushes that are measured in one step, so that no query runs long for an account with very many. */
const STEP = 2_000

type Measured = { pushes: number; bytes: number; last: number | null }

const MEASURE = `
  SELECT count(*)::float8 AS pushes, coalesce(sum(bytes), 0)::float8 AS bytes, max(id)::float8 AS last FROM (
    SELECT id,
      coalesce((SELECT octet_length(payload) FROM push_secrets WHERE push_id = pushes.id), 0) +
      coalesce((SELECT sum(size) FROM push_files WHERE push_id = pushes.id), 0) AS bytes
    FROM pushes WHERE owner_id = $1 AND expired_on IS NULL AND id > $2
    ORDER BY id LIMIT ${STEP}
  ) AS step`

export function createPeople({ read }: { read: Read }): PeopleStore {
  /**
   * No index finds a part of an address, so each page reads the index of addresses once: 100,000 accounts take some tens of
   * milliseconds. Whole rows are read only for the page.
   */
  async function listPeople({
    search,
    pageNumber,
  }: Parameters<PeopleStore['listPeople']>[0]): Promise<PageOfPeople> {
    const part = search.trim().toLowerCase()
    // PostgreSQL takes no such character as text, and no address contains one.
    if (part.includes('\0')) return { people: [], total: 0 }
    const isFound: SQL | undefined = part === '' ? undefined : sql`strpos(${accounts.email}, ${part}) > 0`
    return read(async ({ orm }) => {
      const ids = orm
        .select({ id: accounts.id })
        .from(accounts)
        .where(isFound)
        .orderBy(asc(accounts.email))
        .limit(PEOPLE_PAGE_SIZE)
        .offset((pageNumber - 1) * PEOPLE_PAGE_SIZE)
      const rows = await orm
        .select()
        .from(accounts)
        .where(inArray(accounts.id, ids))
        .orderBy(asc(accounts.email))
      const [counted] = await orm.select({ total: count() }).from(accounts).where(isFound)
      return { people: rows.map(presentListed), total: counted?.total ?? 0 }
    })
  }

  async function measureUsage(ownerId: number): Promise<Usage> {
    const usage = { pushes: 0, bytes: 0 }
    for (let after = 0; ; ) {
      const [step] = await read((session) => session.query<Measured>(MEASURE, [ownerId, after]))
      if (step === undefined || step.last === null) return usage
      usage.pushes += step.pushes
      usage.bytes += step.bytes
      after = step.last
      if (step.pushes < STEP) return usage
    }
  }

  return { listPeople, measureUsage }
}

function presentListed(row: AccountRow): ListedAccount {
  const { lastSignInAt } = row
  return { ...presentAccount(row), lastSignInAt: lastSignInAt === 0 ? null : lastSignInAt }
}
