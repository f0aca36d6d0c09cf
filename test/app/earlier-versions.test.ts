// Folders and backups of earlier versions: everything in them is still there after the update.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { restoreBackup } from '../../src/backup/restore.ts'
import { readPath } from '../../src/backup/streams.ts'
import { startApi } from '../support/api.ts'
import { unpackEarlier } from '../support/earlier-versions.ts'

test('a folder of 3.0.0 opens with all its pushes, names, requests and accounts', async () => {
  const earlier = await unpackEarlier('3.0.0')
  const { dataDir, clock, tokens } = earlier
  const api = await startApi({ dataDir, clock, flags: { 'accept-move': 'true' } })
  const token = tokens.apiToken
  const payloadOf = async (urlToken: string, init = {}) => (await api.retrieve(urlToken, init)).body.payload
  expect(await payloadOf(tokens.named)).toBe('of 3.0.0')
  expect(await payloadOf(tokens.anonymous)).toBe('anonymous')
  expect(await payloadOf(tokens.received)).toBe('router: Kx9')
  const passphrase = { headers: { 'X-Push-Passphrase': 'open%20sesame' } }
  expect(await payloadOf(tokens.locked, passphrase)).toBe('with a passphrase')
  const [file] = (await api.retrieve(tokens.file)).body.files as { url: string }[]
  expect(await (await api.fetch(new URL(file?.url ?? '').pathname)).text()).toBe('a file of 3.0.0')
  const listed = await api.list('active', token)
  expect(listed.map(({ url_token }) => url_token).sort()).toEqual(
    [tokens.named, tokens.locked, tokens.file, tokens.received].sort(),
  )
  expect(listed.find(({ url_token }) => url_token === tokens.named)).toMatchObject({
    name: 'VPN for Bob',
    note: 'a note',
    views_remaining: 1,
  })
  const { body: asked } = await api.call(`/api/oncebox/requests/${tokens.request}`, { token })
  expect(asked).toMatchObject({ name: 'Router', answers: 1, closed: false })
  expect((await api.create({ payload: 'new' }, { token })).expired).toBe(false)
  await api.stop()
  earlier.remove()
})

test('a backup of 3.0.0 is restored with its lists, and its pushes have ended', async () => {
  const earlier = await unpackEarlier('3.0.0')
  const { room, backup: file, clock, tokens } = earlier
  const dataDir = join(room, 'restored')
  const noCredentials = {
    identities: [],
    passphrase: null,
    askPassphrase: () => Promise.reject(new Error('asked')),
  }
  await restoreBackup(
    { file, open: () => readPath(file), dataDir, keyFile: null },
    {
      now: clock.now,
      credentials: noCredentials,
      onProgress: () => undefined,
      decide: async () => ({ apiTokens: 'keep' }),
    },
  )
  const api = await startApi({ dataDir, clock })
  const expired = await api.list('expired', tokens.apiToken)
  expect(expired).toHaveLength(4)
  expect(expired.map(({ name }) => name)).toContain('VPN for Bob')
  expect((await api.retrieve(tokens.named)).status).toBe(404)
  await api.stop()
  earlier.remove()
})
