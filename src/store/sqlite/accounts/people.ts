// Accounts as administrators see them: pages of a search, and the space that each one uses.

import { asc, inArray, type SQL, sql } from 'drizzle-orm'
import { type ListedAccount, PEOPLE_PAGE_SIZE } from '../../../domain/account.ts'
import type { PageOfPeople, PeopleStore, Usage } from '../../accounts-face.ts'
import type { Damage } from '../../every-engine/damage.ts'
import type { Connection } from '../engine/database.ts'
import { accounts } from '../engine/schema.ts'
import { type AccountRow, presentAccount } from './account-rows.ts'

/** Pushes that are measured in one step, so that no request waits long for an account with very many. */
const STEP = 500

type Measured = { pushes: number; bytes: number; last: number | null }

export function createPeople({
  connection: { orm, database },
  damage,
}: {
  connection: Connection
  damage: Pick<Damage, 'presentIntact'>
}): PeopleStore {
  const measure = database.prepare<Measured, { ownerId: number; after: number }>(`
    SELECT count(*) AS pushes, coalesce(sum(bytes), 0) AS bytes, max(id) AS last FROM (
      SELECT id,
        coalesce((SELECT length(payload) FROM push_secrets WHERE push_id = pushes.id), 0) +
        coalesce((SELECT sum(size) FROM push_files WHERE push_id = pushes.id), 0) AS bytes
      FROM pushes WHERE owner_id = $ownerId AND (expired_on IS NOT NULL) = 0 AND id > $after
      ORDER BY id LIMIT ${STEP}
    )`)

  /** The inner query walks the index of addresses alone. */
  async function listPeople({
    search,
    pageNumber,
  }: Parameters<PeopleStore['listPeople']>[0]): Promise<PageOfPeople> {
    const isFound: SQL = sql`instr(${accounts.email}, ${search.trim().toLowerCase()}) > 0`
    const ids = orm
      .select({ id: accounts.id })
      .from(accounts)
      .where(isFound)
      .orderBy(asc(accounts.email))
      .limit(PEOPLE_PAGE_SIZE)
      .offset((pageNumber - 1) * PEOPLE_PAGE_SIZE)
    const rows = orm
      .select()
      .from(accounts)
      .where(inArray(accounts.id, ids))
      .orderBy(asc(accounts.email))
      .all()
    const total = orm.$count(orm.select({ id: accounts.id }).from(accounts).where(isFound))
    return { people: damage.presentIntact(rows, presentListed), total: await total }
  }

  async function measureUsage(ownerId: number): Promise<Usage> {
    const usage = { pushes: 0, bytes: 0 }
    for (let after = 0; ; ) {
      const step = measure.get({ ownerId, after })
      if (step === null || step.last === null) return usage
      usage.pushes += step.pushes
      usage.bytes += step.bytes
      after = step.last
      if (step.pushes < STEP) return usage
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  return { listPeople, measureUsage }
}

function presentListed(row: AccountRow): ListedAccount {
  const { lastSignInAt } = row
  return { ...presentAccount(row), lastSignInAt: lastSignInAt === 0 ? null : lastSignInAt }
}
