// Soon after a push has expired, nothing in the data folder opens it any more. Tests that move the timers
// show that this takes at most ten seconds.
//
// A push is opened by its wrapped data key. The tests search for that and for the sealed payload.

import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createStage, type Started } from '../support/binary.ts'
import { findNeedles, readFolder } from '../support/needles.ts'
import { sendRaw, thenLeave } from '../support/raw.ts'
import { untilTaken, waitUntil } from '../support/waiting.ts'

const stage = createStage()
afterEach(stage.clear)

/** Time until a push expires that was made to expire soon: enough to inspect it before. */
const SOON_MS = 5_000
/** Larger rows keep their sealed payload on overflow pages, which are wiped completely. */
const OWN_PAGES = 8_000
/** Length of format, key number and nonce, which precede the random bytes. */
const HEAD_BYTES = 14
const PIECE_BYTES = 24

type Sealed = { wrapped_key: Uint8Array; payload: Uint8Array }

type Stored = { urlToken: string; sealed: Sealed }

type Making = { push?: object; headers?: Record<string, string> }

/** Creates pushes of these sizes, and reads each one's wrapped key from the database. */
async function createPushes(
  server: Started,
  sizes: number[],
  { push, headers }: Making = {},
): Promise<Stored[]> {
  const urlTokens: string[] = []
  for (const size of sizes) {
    const response = await server.create(
      { payload: 'p'.repeat(size), expire_after_views: 1, ...push },
      headers,
    )
    urlTokens.push((await response.json()).url_token)
  }
  const database = new Database(join(server.dataDir, 'oncebox.db'), { readonly: true })
  const newest = `SELECT wrapped_key, payload FROM push_secrets JOIN push_keys ON slot = key_slot ORDER BY push_id DESC LIMIT ${sizes.length}`
  const sealed = database.query<Sealed, []>(newest).all().reverse()
  database.close()
  return urlTokens.map((urlToken, index) => ({ urlToken, sealed: sealed[index]! }))
}

/** Expires pushes by their last view and by deletion, in turn. */
async function expireAll(server: Started, doomed: Stored[]): Promise<void> {
  for (const [index, { urlToken }] of doomed.entries()) {
    const init = index % 2 === 0 ? {} : { method: 'DELETE' }
    const response = await untilTaken(() => server.retrieve(urlToken, init))
    expect(response.status).toBe(200)
  }
}

/** Returns the keys and payloads of the pushes that are still in the data folder, and where. */
function remnants(server: Started, pushes: Stored[]): string[] {
  const needles = pushes.flatMap(({ sealed: { wrapped_key, payload } }, index) => {
    const piece = (what: string, bytes: Uint8Array) => ({ name: `${what} of push ${index}`, bytes })
    const ends = [payload.slice(HEAD_BYTES, HEAD_BYTES + PIECE_BYTES), payload.slice(-PIECE_BYTES)]
    const middle = payload.slice(payload.length / 2, payload.length / 2 + PIECE_BYTES)
    const pieces = payload.length > OWN_PAGES ? [...ends.slice(1), middle] : []
    return [
      piece('the key', wrapped_key.slice(HEAD_BYTES)),
      ...pieces.map((bytes) => piece('the payload', bytes)),
    ]
  })
  return findNeedles(readFolder(server.dataDir), needles).map(({ name, where }) => `${name} in ${where}`)
}

const expectGone = (server: Started, doomed: Stored[]) =>
  waitUntil(() => remnants(server, doomed).length === 0, 500)

/** Searches twice, because a checkpoint between the reads of WAL and database hides bytes from both. */
const expectFound = (server: Started, pushes: Stored[]) =>
  waitUntil(() => remnants(server, pushes).length >= pushes.length)

function shuffled<T>(list: T[]): T[] {
  return list
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

test('pushes of all sizes that expire in any order vanish, and the others remain', async () => {
  const server = await stage.start()
  const sizes = [10, 200, 900, 3_000, 5_000, 20_000, 200_000]
  const pushes = await createPushes(
    server,
    Array.from({ length: 420 }, (_, n) => sizes[n % 7]! + (n % 13)),
  )
  const doomed = shuffled(pushes).slice(0, 350)
  const kept = pushes.filter((push) => !doomed.includes(push))
  // Check that the search finds what is there.
  await expectFound(server, pushes)
  await expireAll(server, doomed)
  await expectGone(server, doomed)
  await expectFound(server, kept)
  for (const { urlToken } of kept) {
    expect((await (await server.retrieve(urlToken)).json()).payload).toStartWith('p')
  }
})

// SQLite merges emptying pages with their neighbours: the copied bytes must be wiped as well.
test('neighbours that expire a few at a time leave no copies behind', async () => {
  const server = await stage.start()
  const pushes = await createPushes(
    server,
    Array.from({ length: 2_000 }, (_, n) => (n % 15 < 5 ? 60 : 900)),
  )
  const groups = Array.from({ length: pushes.length / 5 }, (_, n) => pushes.slice(n * 5, n * 5 + 5))
  const doomed = shuffled(groups)
    .slice(0, groups.length * 0.7)
    .flat()
  await expireAll(server, doomed)
  await expectGone(server, doomed)
})

/**
 * Moves the expiry of pushes in the database and returns it, because the shortest duration of the API is a
 * quarter of an hour.
 */
function endSoon(server: Started, statement: string): number {
  const end = Date.now() + SOON_MS
  const database = new Database(join(server.dataDir, 'oncebox.db'))
  database.run('PRAGMA busy_timeout = 60000')
  database.run(statement, [end])
  database.close()
  return end
}

test('pushes that expired by time vanish soon, however rare sweeps are', async () => {
  const server = await stage.start({ flags: ['--sweep-every', '1h'] })
  const push = { expire_after_duration: 0, expire_after_views: 5 }
  const open = await createPushes(server, [100, 10_000], { push })
  const withPassphrase = await createPushes(server, [100, 10_000], {
    push: { ...push, passphrase: 'open sesame' },
  })
  // Ignore what the first sweep may have removed.
  await Bun.sleep(1_500)
  const all = [...open, ...withPassphrase]
  await expectFound(server, all)
  const end = endSoon(server, 'UPDATE pushes SET expires_at = ?')
  const { expired } = await (await server.retrieve(open[0]!.urlToken)).json()
  // A busy machine may answer after the push has expired.
  if (Date.now() < end) expect(expired).toBe(false)
  await expectGone(server, all)
  await waitUntil(() => Bun.file(join(server.dataDir, 'oncebox.db-wal')).size === 0)
  expect((await (await server.retrieve(open[0]!.urlToken)).json()).expired).toBe(true)
}, 600_000)

test('files vanish when their push expires by time, and when the grants of a last view end', async () => {
  const server = await stage.start({ flags: ['--sweep-every', '1h'] })
  const email = 'ann@example.org'
  await server.command(['user', 'add', email, '--password-stdin'], 'long enough password')
  const { stdout } = await server.command(['token', 'create', email])
  const headers = { authorization: `Bearer ${stdout.trim()}` }
  const files = [{ filename: 'a.txt', data: Buffer.from('content').toString('base64') }]
  const stored = () => readFolder(join(server.dataDir, 'files'))
  await server.create({ files, expire_after_duration: 0 }, headers)
  const seen = await (await server.create({ files, expire_after_views: 1 }, headers)).json()
  const { files: granted } = await (await server.retrieve(seen.url_token)).json()
  expect((await fetch(granted[0].url)).status).toBe(200)
  await Bun.sleep(1_500)
  expect(stored()).toHaveLength(2)
  endSoon(server, 'UPDATE pushes SET expires_at = ? WHERE expired_on IS NULL')
  endSoon(server, 'UPDATE files_due SET at = ?')
  await waitUntil(() => stored().length === 0)
}, 600_000)

test('the pushes of an account vanish when a command removes it', async () => {
  const server = await stage.start()
  const email = 'ann@example.org'
  await server.command(['user', 'add', email, '--password-stdin'], 'long enough password')
  const { stdout } = await server.command(['token', 'create', email])
  const headers = { authorization: `Bearer ${stdout.trim()}` }
  const owned = await createPushes(server, [10, 500, 20_000], { headers })
  expect((await server.command(['user', 'remove', email, '--yes'])).code).toBe(0)
  await expectGone(server, owned)
})

test('files of a deleted push and of an interrupted upload vanish', async () => {
  const server = await stage.start()
  const email = 'ann@example.org'
  await server.command(['user', 'add', email, '--password-stdin'], 'long enough password')
  const { stdout } = await server.command(['token', 'create', email])
  const headers = { authorization: `Bearer ${stdout.trim()}` }
  const form = new FormData()
  form.append('push[files][]', new Blob(['content'.repeat(100_000)]), 'a.bin')
  form.append('push[files][]', new Blob(['content']), 'b.bin')
  const created = await server.ask('/api/v2/pushes', { method: 'POST', body: form, headers })
  const { url_token } = await created.json()
  const files = () => readFolder(join(server.dataDir, 'files'))
  expect(files()).toHaveLength(2)
  const part = '--x\r\nContent-Disposition: form-data; name="push[files][]"; filename="c"\r\n\r\n'
  const brokenOff = [
    'POST /api/v2/pushes HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n',
    `Authorization: ${headers.authorization}\r\nContent-Length: 9999999\r\n\r\n${part}${'x'.repeat(900_000)}`,
    300,
  ]
  await sendRaw(server.port, brokenOff, thenLeave(100))
  await server.retrieve(url_token, { method: 'DELETE', headers })
  await waitUntil(() => files().length === 0)
})
