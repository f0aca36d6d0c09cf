// How PostgreSQL plans every statement of the store on large tables: it scans none of them completely without
// a reason.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { $ } from 'bun'
import { sealedSize } from '../../../src/crypto/sealed-stream.ts'
import { LIST_TABS } from '../../../src/domain/listing.ts'
import { DAY } from '../../../src/domain/time.ts'
import type { OpenedStore } from '../../../src/store/opening/opened-store.ts'
import { LAST_ID } from '../../../src/store/steps.ts'
import { createTestClock, START, type TestClock } from '../../support/instance.ts'
import { makeNodeFolder, openTestNode } from '../../support/postgres-store.ts'
import { storePush, VISIT, view } from '../../support/store.ts'
import { usePostgres } from '../../support/use-postgres.ts'
import { WHOLE_READS } from '../../support/whole-reads.ts'

/** The server logs the plan of every statement as it was run. */
const LOG_PLANS = ['session_preload_libraries=auto_explain', 'auto_explain.log_min_duration=0'].concat(
  'auto_explain.log_format=json',
)
const ROWS = 20_000
/** The entries of one log, of account 103: too many to be removed at once. */
const LONG = 2_500
const SIZE = 5
const NAME = Buffer.from('name')

const CHILD = join(import.meta.dir, '../../support/statements-child.ts')

const postgres = usePostgres(LOG_PLANS.flatMap((setting) => ['-c', setting]))

/** Half of the pushes have ended; a fifth belong to one of a hundred accounts. */
const FILL = `
  INSERT INTO pushes (lookup, key_number, kind, owner_id, created_at, expires_at, expire_after_days, expire_after_views,
    deletable_by_viewer, retrieval_step, shows_sender, passphrase_required, expired_on, deleted, lost, files)
  SELECT decode(md5(n::text), 'hex'), 1, 'text', CASE WHEN n % 5 = 0 THEN 100 + n / 5 % 100 END, ${START} - n,
    ${START} + n * 1000, 1, 5, true, true, false, false, CASE WHEN n % 1000 < 500 THEN ${START} - n END, false, false, 0
  FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO push_state SELECT id, 0, 0, 0, 0, 0, 0, false, 2 * id, 2, 0, 0, 0, 0, 0, '' FROM pushes;
  INSERT INTO push_labels (push_id, url_token, seen_views, event_id)
    SELECT id, '\\x00', 0, repeat('x', 20) FROM pushes WHERE owner_id IS NOT NULL;
  INSERT INTO push_secrets SELECT id, id, '\\x00', NULL, '\\x00' FROM pushes WHERE expired_on IS NULL;
  INSERT INTO push_keys SELECT id, expired_on IS NOT NULL, decode(repeat('00', 62), 'hex') FROM pushes;
  SELECT setval('push_keys_slot_seq', ${ROWS});
  INSERT INTO audit_entries SELECT 2 * id - 1 + n, id, CASE n WHEN 1 THEN 2 * id - 1 END, 'view', 0, '', '', ''
    FROM pushes, generate_series(0, 1) AS n;
  INSERT INTO audit_entries SELECT ${2 * ROWS} + n, 15, CASE n WHEN 1 THEN 30 ELSE ${2 * ROWS} + n - 1 END, 'view', 0, '', '', ''
    FROM generate_series(1, ${LONG}) AS n;
  UPDATE push_state SET last_entry = ${2 * ROWS + LONG}, audit_entries = ${2 + LONG} WHERE push_id = 15;
  SELECT setval('audit_entries_id_seq', ${2 * ROWS + LONG});
  INSERT INTO push_files SELECT id, 0, 'kept' || id, 5, '\\x00', '\\x00' FROM pushes WHERE id % 10 = 3 AND expired_on IS NULL;
  INSERT INTO files_due SELECT 'due' || n, ${START} + n * 100000, NULL, NULL FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO live_shares SELECT id, decode(md5((id % 2000)::text), 'hex'), 1, expires_at FROM pushes WHERE expired_on IS NULL;
  INSERT INTO address_shares SELECT address, count(*), sum(bytes) FROM live_shares GROUP BY address;
  INSERT INTO idempotency_keys SELECT lookup || lookup, 1, expires_at, id, id FROM pushes WHERE expired_on IS NULL;
  INSERT INTO idempotency_answers SELECT id, expired_on IS NOT NULL, decode(repeat('00', 88), 'hex') FROM pushes;
  SELECT setval('idempotency_answers_slot_seq', ${ROWS});
  INSERT INTO imported SELECT lookup FROM pushes;
  ANALYZE`

const LARGE = ['pushes', 'push_secrets', 'push_labels', 'push_files', 'audit_entries', 'files_due'].concat([
  ...['push_state', 'push_keys', 'idempotency_answers'],
  'live_shares',
  'address_shares',
  'idempotency_keys',
  'imported',
])

async function* sealed() {
  yield Buffer.alloc(sealedSize(SIZE), 3)
}

type Opened = { store: OpenedStore; clock: TestClock }

/** Uses each operation on pushes once. */
async function useEverything({ store, clock }: Opened): Promise<void> {
  const { pushes, lists, health, audit, expiry, files, idempotencyKeys, imports, accounts } = store
  const { id: ownerId } = await accounts.addAccount({
    email: 'a@b.example',
    passwordHash: 'x',
    isAdmin: false,
  })
  const labels = { urlToken: NAME, name: null, note: null, request: null }
  const idempotency = {
    lookup: Buffer.alloc(32, 9),
    lapsesAt: clock.now() + DAY,
    answer: Buffer.alloc(88, 3),
  }
  const limits = { pushes: 9, bytes: 0 }
  const share = { addresses: [Buffer.alloc(16, 1)] as [Buffer], bytes: 1, limits }
  await files.keepFile('aa1', sealed())
  const kept = [{ fileId: 'aa1', size: SIZE, filename: NAME, contentType: NAME }]
  const at = { store, clock }
  const plain = await storePush(at)
  const whole = await storePush(at, { expireAfterViews: 1 }, { files: kept, share, idempotency })
  const owned = await storePush(at, { ownerId }, { labels })
  const other = await storePush(at, { ownerId, deletableByViewer: false }, { labels })
  await idempotencyKeys.findKey(idempotency.lookup)
  const open = () => 'payload'
  await pushes.claimPlain({ lookup: plain.lookup, visit: VISIT, lookBy: null, open })
  await pushes.findSealedPush(whole.lookup)
  const last = await view(at, whole)
  await pushes.hasGrants(last?.push ?? whole)
  for (let n = 0; n < 4; n += 1) await pushes.refusePassphrase({ id: other.id, visit: VISIT, maxTries: 3 })
  await pushes.unlockPush({ id: other.id, visit: VISIT })
  const edit = { expireAfterDays: null, duration: null, expiresAt: null, expireAfterViews: 3 }
  await pushes.editPush({
    id: owned.id,
    ownerId,
    visit: VISIT,
    labels: { name: NAME },
    edit,
  })
  for (const expired of [false, true]) {
    const of = { ownerId: 103, expired, pageNumber: 2 }
    await lists.listPushes(of)
    await lists.listPushes({ ...of, beforeId: 9_000 })
    await Array.fromAsync(lists.readFacts(of))
  }
  for (const list of LIST_TABS)
    for (const until of [null, clock.now()])
      await lists.listTab({ ownerId: 103, list, pageNumber: 2, pageSize: 25, until })
  await lists.listAnswers({ id: 1, ownerId: 103 })
  await lists.listByIds({ ownerId, ids: [owned.id, other.id] })
  await lists.readTexts([owned.id, other.id])
  await lists.countUnseen(103)
  await lists.countOwned(103)
  await health.countPushes()
  await lists.markSeen({ ownerId, ids: [owned.id] })
  await lists.findLabels(owned.id)
  await audit.listPage({ id: other.id }, 1)
  await Array.fromAsync(audit.readAll({ id: other.id }))
  await pushes.expirePushes({ ids: [owned.id], ownerId, visit: VISIT })
  await pushes.expirePush({ id: whole.id, visit: VISIT })
  await files.removeDue()
  await files.findNextDue()
  await files.keepFile('aa2', sealed())
  await files.giveUpFile('aa2')
  await imports.importAll(async (step) => void (await step.isKnown([plain.lookup])))
  await imports.isKnown([plain.lookup])
  clock.advance(2 * DAY)
  await expiry.findNextLapse()
  await expiry.expireLapsed()
  await expiry.expireLapsedOf(103)
  await expiry.purgeExpired({ of: 'anonymous', until: clock.now() - 2 * DAY })
  await expiry.purgeExpired({ of: 'owned', until: clock.now() - 2 * DAY })
  await idempotencyKeys.removeLapsed()
  await accounts.removePushesOf(103)
  await accounts.removeAccount(ownerId)
}

type Plan = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Plans?: Plan[]
}

/** Scans of a whole large table, or of a whole index unless only its beginning is wanted. */
function wholeScans(plan: Plan, isLimited = false): string[] {
  const { 'Node Type': type, 'Relation Name': table, 'Index Name': index, Plans: parts = [] } = plan
  // This index holds only uploads and removals in progress.
  const isSmall = index === 'files_due_node'
  const isFound = isSmall || 'Index Cond' in plan || (isLimited && type.startsWith('Index'))
  const isWhole = /Scan/.test(type) && table !== undefined && LARGE.includes(table) && !isFound
  const own = isWhole && type !== 'Bitmap Heap Scan' ? [`${type} of ${index ?? table}`] : []
  const limits = isLimited || type === 'Limit'
  return [...own, ...parts.flatMap((part) => wholeScans(part, limits))]
}

function readPlans(log: string): { statement: string; plan: Plan }[] {
  return log.split(/^(?=\d{4}-\d\d-\d\d )/m).flatMap((entry) => {
    const [, json] = entry.split('plan:\n')
    if (json === undefined) return []
    const { 'Query Text': statement, Plan: plan } = JSON.parse(json)
    return [{ statement, plan }]
  })
}

postgres.describe('the plans of PostgreSQL', () => {
  test('scan no large table when each operation runs with real values', async () => {
    const database = await postgres.newDatabase()
    const sql = database.connect(1)
    await sql.unsafe(FILL).simple()
    const filled = (await Bun.file(postgres.server.log).text()).length
    const folder = makeNodeFolder()
    const clock = createTestClock()
    const store = await openTestNode({ dataDir: folder.dataDir, connect: database.connect, clock })
    await useEverything({ store, clock })
    expect(await sql`SELECT id FROM audit_entries WHERE id > ${2 * ROWS} AND push_id = 15`).toHaveLength(0)
    await store.close()
    await sql.close({ timeout: 0 })
    await database.close()
    folder.remove()
    const plans = readPlans((await Bun.file(postgres.server.log).text()).slice(filled))
    const used = new Set(plans.map(({ statement }) => statement))
    expect(used.size).toBeGreaterThan(60)
    const wrong = plans.flatMap(({ statement, plan }) =>
      wholeScans(plan).map((scan) => `${scan}: ${statement.slice(0, 300)}`),
    )
    expect([...new Set(wrong)]).toEqual([])
  }, 300_000)

  test('scan no large table for any statement that the store can make, without a reason', async () => {
    const { stdout } = await $`${process.execPath} ${CHILD} postgres`.quiet()
    const all: string[] = JSON.parse(stdout.toString())
    const texts = all.map((text) => text.replaceAll(LAST_ID, 'lastval()'))
    const database = await postgres.newDatabase()
    const sql = database.connect(1)
    await sql.unsafe(FILL).simple()
    await sql.unsafe('SET plan_cache_mode = force_generic_plan').simple()
    const wrong: string[] = []
    for (const text of texts) {
      const most = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)))
      const values = most === 0 ? '' : `(${Array(most).fill('NULL').join(', ')})`
      await sql.unsafe(`PREPARE planned AS ${text}`).simple()
      const [row] = await sql.unsafe(`EXPLAIN (FORMAT JSON) EXECUTE planned${values}`).simple()
      await sql.unsafe('DEALLOCATE planned').simple()
      const scans = wholeScans(row['QUERY PLAN'][0].Plan)
      const isAllowed = WHOLE_READS.some(([part]) => text.replace(/\s+/g, ' ').includes(part))
      if (scans.length > 0 && !isAllowed) wrong.push(`${scans.join(', ')}: ${text.slice(0, 300)}`)
    }
    await sql.close({ timeout: 0 })
    await database.close()
    expect(texts.length).toBeGreaterThan(250)
    expect(wrong).toEqual([])
  }, 300_000)
})
