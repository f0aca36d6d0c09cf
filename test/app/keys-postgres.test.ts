// Rotates the instance key of two nodes of one PostgreSQL database.

import { afterEach, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rotateKey, showKeys } from '../../src/app/keys.ts'
import { newKeyFile, parseKeyFile } from '../../src/crypto/keyring.ts'
import { parseDatabaseAddress } from '../../src/domain/database-address.ts'
import { openTestBucket } from '../support/bucket.ts'
import { type Init, startInstance, type TestInstance } from '../support/instance.ts'
import { usePostgres } from '../support/use-postgres.ts'

const ANN = 'ann@example.org'
const KEY = 'a-key-that-somebody-made-up'
const room = mkdtempSync(join(tmpdir(), 'oncebox-keys-of-nodes-'))
afterEach(() => rmSync(room, { recursive: true, force: true }))

const postgres = usePostgres()
postgres.describe('two nodes', () => {
  test('get a new key while both are stopped, after which each opens everything', async () => {
    const [database, bucket] = [await postgres.newEmptyDatabase(), await openTestBucket()]
    const address = parseDatabaseAddress(database.address, 'disable')
    if (address === null || 'problem' in address) throw new Error('no address')
    const keyFiles = [join(room, '0.key'), join(room, '1.key')] as const
    const [own, other] = keyFiles
    writeFileSync(own, newKeyFile(), { mode: 0o600 })
    cpSync(own, other)
    const { accessKeyId, secretAccessKey } = bucket.credentials
    const env = { ONCEBOX_S3_ACCESS_KEY_ID: accessKeyId, ONCEBOX_S3_SECRET_ACCESS_KEY: secretAccessKey }
    const start = (node: 0 | 1) => {
      const flags = {
        'database-url': `${database.address}?sslmode=disable`,
        ...{ 'key-file': keyFiles[node], 'files-url': bucket.url },
      }
      return startInstance({ dataDir: join(room, `${node}`), flags, env })
    }
    const startBoth = async (): Promise<[TestInstance, TestInstance]> => [await start(0), await start(1)]
    const post = async (node: TestInstance, push: object, init: Init = {}) => {
      const answer = await node.fetch('/api/v2/pushes', { json: { push }, ...init })
      return String((await answer.json()).url_token)
    }
    const place = { dataDir: join(room, '0'), keyFile: own, address }

    const before = await startBoth()
    const token = await before[0].addAccount(ANN)
    const owned = await post(before[0], { payload: 'x', name: 'invoice' }, { token })
    const anonymous = await post(before[1], { payload: 'x' })
    const repeat: Init = { headers: { 'idempotency-key': KEY } }
    const repeated = await post(before[0], { payload: 'y' }, repeat)
    await expect(rotateKey(place)).rejects.toThrow('Nodes serve the database')
    for (const node of before) await node.stop()

    const { keys } = await rotateKey(place)
    expect(keys.map(({ number }) => number)).toEqual([2, 1])
    expect(await showKeys(place)).toMatchObject({ keys })
    await expect(start(1)).rejects.toThrow(/Key 2 .*is missing from the key file/)
    await expect(showKeys({ ...place, keyFile: other })).rejects.toThrow(/Key 2 .*is missing/)
    cpSync(own, other)

    const after = await startBoth()
    for (const node of after) {
      const active = await (await node.fetch('/api/v2/pushes/active', { token })).json()
      expect(active).toMatchObject([{ url_token: owned, name: 'invoice' }])
      for (const urlToken of [owned, anonymous])
        expect(await (await node.fetch(`/api/v2/pushes/${urlToken}`)).json()).toMatchObject({ payload: 'x' })
    }
    expect(await post(after[1], { payload: 'y' }, repeat)).toBe(repeated)
    for (const node of after) await node.stop()
    expect(parseKeyFile(readFileSync(own, 'utf8')).keys).toHaveLength(2)
    await database.close()
    await bucket.close()
  }, 120_000)
})
