// A backup contains no key of a push: it opens nothing even with the link, the passphrase and the instance
// key. The same search finds every key in the database itself.

import type { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseKeyFile } from '../../src/crypto/keyring.ts'
import { createStage, runBinary, type Started } from '../support/binary.ts'
import { readFolder } from '../support/needles.ts'
import { findOpenings, type Link } from '../support/openings.ts'
import { edit } from '../support/packed-backup.ts'

const stage = createStage()
afterEach(stage.clear)

async function createLinks(server: Started): Promise<Link[]> {
  const added = await server.command(
    ['user', 'add', 'ann@example.org', '--password-stdin'],
    'correct horse battery',
  )
  expect(added.code).toBe(0)
  const token = (await server.command(['token', 'create', 'ann@example.org'])).stdout.trim()
  const auth = { authorization: `Bearer ${token}` }
  const create = async (push: Record<string, unknown>, headers = {}): Promise<Link> => {
    const response = await server.create(push, headers)
    expect(response.status).toBe(201)
    return { urlToken: (await response.json()).url_token, passphrase: String(push.passphrase ?? '') || null }
  }
  const file = { filename: 'a.txt', data: btoa('content') }
  return [
    await create({ payload: 'anonymous' }),
    await create({ payload: 'owned', name: 'name', note: 'note' }, auth),
    await create({ payload: 'guarded', passphrase: 'open sesame' }, auth),
    await create({ payload: 'with a file', files: [file] }, auth),
  ]
}

const instanceKeyIn = (dataDir: string) =>
  parseKeyFile(readFileSync(join(dataDir, 'instance.key'), 'utf8')).sealing

test('neither the bytes of a backup nor those of a restored folder can open a push', async () => {
  const server = await stage.start()
  const links = await createLinks(server)
  const [file, target] = [join(stage.folder(), 'backup.tar'), join(stage.folder(), 'new')]
  expect((await server.command(['backup', file])).code).toBe(0)
  expect((await runBinary(['restore', file, '--data-dir', target, '--keep-tokens'])).code).toBe(0)
  await server.end()
  const wish = { instanceKey: instanceKeyIn(server.dataDir), links }
  expect(await findOpenings(readFileSync(file), wish)).toEqual([])
  for (const { where, bytes } of readFolder(target))
    expect({ where, opens: await findOpenings(bytes, wish) }).toEqual({ where, opens: [] })

  // Control: the same search, with the keys put in on purpose.
  const filled = join(stage.folder(), 'filled.db')
  copyFileSync(join(target, 'oncebox.db'), filled)
  edit(filled, (database) => putKeysIn(database, join(server.dataDir, 'oncebox.db')))
  const found = await findOpenings(readFileSync(filled), wish)
  expect(found.sort()).toEqual(links.map(({ urlToken }) => urlToken).sort())
}, 600_000)

function putKeysIn(database: Database, source: string): void {
  database.run('ATTACH ? AS source', [source])
  for (const table of ['push_keys', 'push_secrets'])
    database.run(`INSERT INTO main.${table} SELECT * FROM source.${table}`)
}

test('a restored server opens no push even if its folder gets the keys again', async () => {
  const server = await stage.start()
  const links = await createLinks(server)
  const [file, target] = [join(stage.folder(), 'backup.tar'), join(stage.folder(), 'new')]
  expect((await server.command(['backup', file])).code).toBe(0)
  expect((await runBinary(['restore', file, '--data-dir', target, '--keep-tokens'])).code).toBe(0)
  await server.end()
  edit(join(target, 'oncebox.db'), (database) => putKeysIn(database, join(server.dataDir, 'oncebox.db')))
  const restored = await stage.start({ dataDir: target })
  for (const { urlToken, passphrase } of links) {
    const headers: Record<string, string> =
      passphrase === null ? {} : { 'x-push-passphrase': encodeURIComponent(passphrase) }
    const answer = await restored.retrieve(urlToken, { headers })
    // The push of an account has another link there.
    if (answer.status === 404) continue
    expect(await answer.json()).toMatchObject({ expired: true, payload: null, files: [] })
  }
}, 600_000)
