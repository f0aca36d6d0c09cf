// Backups of a server under load, each restored and compared: each contains every change acknowledged before
// it began, and opens no push. ONCEBOX_BACKUP_ROUNDS sets the number of rounds.

import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseKeyFile } from '../../src/crypto/keyring.ts'
import { lookupOf } from '../../src/crypto/url-token.ts'
import { type BackupLoad, type Known, startLoad } from '../support/backup-load.ts'
import { createStage, runBinary, type Started } from '../support/binary.ts'
import { findNeedles, readFolder } from '../support/needles.ts'
import { createHarvest } from '../support/openings.ts'
import { untilTaken } from '../support/waiting.ts'

const ROUNDS = Number(process.env.ONCEBOX_BACKUP_ROUNDS ?? 3)
const WORKERS = 3
const ACCOUNTS_EVERY = 20
const MOST_RECENT = 1_000

const stage = createStage()
afterEach(stage.clear)

type Entries = Map<string, Map<string, number>>

/** Counts the log entries of each kind for each push, by its lookup. */
function entriesIn(dataDir: string): Entries {
  const database = new Database(join(dataDir, 'oncebox.db'), { readonly: true })
  const rows = database
    .query<{ lookup: string; kind: string; n: number }, []>(
      `SELECT hex(lookup) AS lookup, audit_entries.kind, count(*) AS n FROM pushes JOIN audit_entries ON push_id = pushes.id
       GROUP BY push_id, audit_entries.kind`,
    )
    .all()
  database.close()
  const found: Entries = new Map()
  for (const { lookup, kind, n } of rows) found.set(lookup, (found.get(lookup) ?? new Map()).set(kind, n))
  return found
}

type Listed = Map<string, { urlToken: string; note: string }>

/** Lists the account's pushes by name: each has a new link. */
async function listExpired(server: Started, token: string): Promise<Listed> {
  const found: Listed = new Map()
  for (let page = 1; ; page += 1) {
    const headers = { authorization: `Bearer ${token}` }
    const response = await server.ask(`/api/v2/pushes/expired?page=${page}`, { headers })
    const pushes: { url_token: string; name: string; note: string }[] = await response.json()
    for (const { url_token, name, note } of pushes) found.set(name, { urlToken: url_token, note })
    if (pushes.length < 50 || page === 200) return found
  }
}

type Logs = { listed: Listed; dataDir: string; entries: Entries }

function expectLogs(known: readonly Known[], { listed, dataDir, entries }: Logs): void {
  const { sealing } = parseKeyFile(readFileSync(join(dataDir, 'instance.key'), 'utf8'))
  const problems = known.flatMap(({ urlToken, name, views, asked, deleted, mostViews }) => {
    const link = listed.get(name)?.urlToken ?? urlToken
    const log = entries.get(lookupOf(link, sealing.lookup).toString('hex').toUpperCase())
    const count = (kind: string) => log?.get(kind) ?? 0
    const hasEnded = count('view') === mostViews || count('expire') === 1
    const isWhole = count('creation') === 1 && count('view') >= views && (!deleted || count('expire') === 1)
    return isWhole && hasEnded
      ? []
      : [{ urlToken, views, asked, deleted, log: log && Object.fromEntries(log) }]
  })
  expect(problems).toEqual([])
}

async function expectNothingOpens(server: Started, links: readonly Pick<Known, 'urlToken' | 'passphrase'>[]) {
  const opened: unknown[] = []
  for (let at = 0; at < links.length; at += 50) {
    await Promise.all(
      links.slice(at, at + 50).map(async ({ urlToken, passphrase }) => {
        const headers: Record<string, string> =
          passphrase === null ? {} : { 'x-push-passphrase': encodeURIComponent(passphrase) }
        const response = await untilTaken(() => server.retrieve(urlToken, { headers }))
        const body = await response.json()
        const isGone = response.status === 404 || (body.expired === true && body.payload === null)
        if (!isGone || (body.files ?? []).length > 0) opened.push({ urlToken, status: response.status, body })
      }),
    )
  }
  expect(opened).toEqual([])
}

async function expectPagesGone(server: Started, links: readonly Known[]): Promise<void> {
  for (const { urlToken } of links) {
    const page = await server.ask(`/p/${urlToken}`)
    expect({ urlToken, status: page.status }).toEqual({ urlToken, status: 404 })
    expect(await page.text()).toContain('This link no longer works')
  }
}

type Round = { server: Started; token: string; load: BackupLoad; accounts: string[]; room: string }

async function backUpAndRestore({ server, token, load, accounts, room }: Round, round: number) {
  const [file, target] = [join(room, `${round}.tar`), join(room, `restored-${round}`)]
  const [known, people] = [load.acknowledged(), [...accounts]]
  expect(await server.command(['backup', file])).toMatchObject({ code: 0 })
  expect(await runBinary(['backup', 'verify', file])).toMatchObject({ code: 0 })
  expect(await runBinary(['restore', file, '--data-dir', target, '--keep-tokens'])).toMatchObject({ code: 0 })
  const bytes = [{ where: file, bytes: readFileSync(file) }, ...readFolder(target)]
  expect(readdirSync(target).sort()).toEqual(['instance.key', 'oncebox.db'])
  const entries = entriesIn(target)
  const restored = await stage.start({ dataDir: target })
  const listed = await listExpired(restored, token)
  const owned = known.filter(({ isOwned }) => isOwned)
  expect(owned.filter(({ name, note }) => listed.get(name)?.note !== note)).toEqual([])
  expect(owned.filter(({ name, urlToken }) => listed.get(name)?.urlToken === urlToken)).toEqual([])
  expectLogs(known, { listed, dataDir: target, entries })
  const { stdout } = await restored.command(['user', 'list'])
  for (const email of people) expect(stdout).toContain(email)
  // Nothing opens, including pushes created during the backup.
  await expectNothingOpens(restored, sampleOf(load.acknowledged()))
  await expectPagesGone(restored, known.slice(-10))
  await restored.end()
  rmSync(target, { recursive: true })
  rmSync(file)
  return { bytes, compared: known.length }
}

/** Selects the latest pushes, which were live, and one in ten of the others. */
function sampleOf(all: readonly Known[]): Known[] {
  return all.filter((_, at) => at >= all.length - MOST_RECENT || at % 10 === 0)
}

test(`${ROUNDS} backups under load are restored and compared`, async () => {
  const room = stage.folder()
  const server = await stage.start()
  const accounts = ['ann@example.org']
  const addAccount = (email: string) =>
    server.command(['user', 'add', email, '--password-stdin'], 'correct horse battery')
  expect((await addAccount('ann@example.org')).code).toBe(0)
  const token = (await server.command(['token', 'create', 'ann@example.org'])).stdout.trim()
  const harvest = createHarvest(server.dataDir)
  const load = startLoad(server, { token, workers: WORKERS, onCreated: harvest.take })
  let compared = 0
  for (let round = 1; round <= ROUNDS; round += 1) {
    await Bun.sleep(500)
    if (round % ACCOUNTS_EVERY === 1) {
      const email = `person-${round}@example.org`
      expect((await addAccount(email)).code).toBe(0)
      accounts.push(email)
    }
    const { bytes, compared: some } = await backUpAndRestore({ server, token, load, accounts, room }, round)
    compared += some
    expect(findNeedles(bytes, harvest.needles)).toEqual([])
    if (round % 10 === 0)
      console.log(`round ${round}: ${load.links().length} pushes, ${harvest.needles.length} secrets`)
  }
  await load.stop()
  // Control: the same search in the server's own folder, which has the keys.
  const live = harvest.live()
  // A running server may checkpoint between the reads of the WAL and the database.
  await server.end('SIGKILL')
  const found = findNeedles(readFolder(server.dataDir), harvest.needles).map(({ name }) => name)
  expect(live.length).toBeGreaterThan(0)
  for (const id of live)
    for (const what of ['salt', 'payload', 'wrappedKey']) expect(found).toContain(`${what} of push ${id}`)
  harvest.close()
  console.log(`${ROUNDS} rounds, ${load.links().length} pushes, ${compared} comparisons`)
}, 3_600_000)
