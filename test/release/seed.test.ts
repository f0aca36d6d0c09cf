// The data that `npm run dev` seeds.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ADMIN, seed } from '../../scripts/dev/seed.ts'
import { createTestClock, startInstance, type TestInstance } from '../support/instance.ts'

let instance: TestInstance
let token = ''
beforeAll(async () => {
  const empty = await startInstance()
  await empty.stop()
  const { dataDir } = empty
  await seed(dataDir)
  instance = await startInstance({ dataDir, clock: createTestClock(Date.now()) })
  token = (await instance.apiTokens().createApiToken({ email: ADMIN.email })).apiToken
}, 60_000)
afterAll(() => instance.close())

async function list(path: string) {
  return (await (await instance.fetch(path, { token })).json()) as Record<string, unknown>[]
}

test('an administrator has ten pushes in all their states, and what a request brought', async () => {
  expect((await list('/api/v2/pushes/active')).map(({ name, kind }) => `${name}: ${kind}`).sort()).toEqual([
    'A file with a passphrase: file',
    'A network: qr',
    'A text: text',
    'An address: url',
    'Locked by wrong passphrases: text',
    'Opened once of five times: text',
    'The password of the router: text',
  ])
  expect((await list('/api/v2/pushes/expired')).map(({ name }) => name).sort()).toEqual([
    'Ended by wrong passphrases',
    'Opened as often as allowed',
    'Revoked',
    'The time has passed',
  ])
})

test('the administrator has an open request with an answer', async () => {
  expect(await list('/api/oncebox/requests')).toMatchObject([
    { name: 'The password of the router', answers: 1, closed: false },
  ])
})
