// The compiled binary moved from a folder to PostgreSQL and a bucket, and back: what was shared before opens afterwards, and a
// move that is killed at any moment goes on.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BINARY, createStage, runBinary, type Started } from '../support/binary.ts'
import { openTestBucket, type TestBucket } from '../support/bucket.ts'
import { type DatabaseServer, installedEngines, startDatabaseServer } from '../support/database-servers.ts'

const PASSWORD = 'correct horse battery'
const ANN = 'ann@example.org'

describe.skipIf(!installedEngines().includes('postgres'))('oncebox move', () => {
  const stage = createStage()
  let server: DatabaseServer
  let bucket: TestBucket
  let secrets: Record<string, string>
  beforeAll(async () => {
    server = await startDatabaseServer('postgres')
    bucket = await openTestBucket()
    secrets = {
      ONCEBOX_S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
      ONCEBOX_S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
    }
  })
  afterAll(async () => {
    await stage.clear()
    await bucket?.close()
    await server?.stop()
  })

  const newAddress = async () => `${(await server.newDatabase()).address}?sslmode=disable`
  const move = (...flags: string[]) => runBinary(['move', ...flags], { env: secrets })

  async function signUp({ command }: Started): Promise<string> {
    await command(['user', 'add', ANN, '--password-stdin'], `${PASSWORD}\n`)
    return `Bearer ${(await command(['token', 'create', ANN])).stdout.trim()}`
  }

  type Shared = { token: string; query: string; payload: string | null; file: string | null }

  async function share({ ask, create }: Started, authorization: string): Promise<Shared[]> {
    const tokenOf = async (response: Response) => {
      expect(response.status).toBe(201)
      return String((await response.json()).url_token)
    }
    const text = await tokenOf(await create({ payload: 'plain text', expire_after_views: 9 }))
    const locked = await tokenOf(
      await create({ payload: 'locked', passphrase: 'sesame', expire_after_views: 9 }),
    )
    const owned = await tokenOf(
      await create({ payload: 'https://a.example/', kind: 'url', name: 'mine' }, { authorization }),
    )
    const form = new FormData()
    form.set('push[payload]', 'with a file')
    form.set('push[expire_after_views]', '9')
    form.set('push[files][]', new File(['x'.repeat(6_000_000)], 'large.txt'))
    const filed = await tokenOf(
      await ask('/api/v2/pushes', { method: 'POST', body: form, headers: { authorization } }),
    )
    const spent = await tokenOf(await create({ payload: 'once', expire_after_views: 1 }))
    await ask(`/api/v2/pushes/${spent}`)
    return [
      { token: text, query: '', payload: 'plain text', file: null },
      { token: locked, query: '?passphrase=sesame', payload: 'locked', file: null },
      { token: owned, query: '', payload: 'https://a.example/', file: null },
      { token: filed, query: '', payload: 'with a file', file: 'x'.repeat(6_000_000) },
      { token: spent, query: '', payload: null, file: null },
    ]
  }

  async function requireAll(
    { ask }: Started,
    shared: readonly Shared[],
    authorization: string,
  ): Promise<void> {
    for (const { token, query, payload, file } of shared) {
      const answer = await (await ask(`/api/v2/pushes/${token}${query}`)).json()
      expect(answer.payload).toBe(payload)
      if (file === null) continue
      const { pathname } = new URL(answer.files[0].url)
      expect(await (await ask(pathname)).text()).toBe(file)
    }
    const active = await (await ask('/api/v2/pushes/active', { headers: { authorization } })).json()
    expect(active).toHaveLength(2)
    expect(active.map(({ name }: { name: string }) => name).toSorted()).toEqual(['', 'mine'])
  }

  /** Its id comes after all that were moved. */
  async function requireNew({ create, ask }: Started): Promise<void> {
    for (const payload of ['new one', 'new two']) {
      const { url_token } = await (await create({ payload })).json()
      expect((await (await ask(`/api/v2/pushes/${url_token}`)).json()).payload).toBe(payload)
    }
  }

  async function readLogs({ ask }: Started, shared: readonly Shared[], authorization: string) {
    const logs = shared.slice(2, 4).map(async ({ token }) => {
      const { logs: entries } = await (
        await ask(`/api/v2/pushes/${token}/audit`, { headers: { authorization } })
      ).json()
      return entries
    })
    return Promise.all(logs)
  }

  test('links, files, passphrases, tokens and logs go on in PostgreSQL and a bucket, and back in a folder', async () => {
    const [from, home, back] = [stage.folder(), stage.folder(), join(stage.folder(), 'back')]
    const keyFile = join(home, 'instance.key')
    const address = await newAddress()
    const first = await stage.start({ dataDir: from })
    const authorization = await signUp(first)
    const shared = await share(first, authorization)
    await requireAll(first, shared, authorization)
    const there = ['--from', from, '--to', address, '--files-url', bucket.url, '--key-file', keyFile]
    expect((await move(...there)).stderr).toContain('is already served by')
    await first.end()

    const dry = await move(...there, '--dry-run')
    expect(dry.stdout).toContain('5 pushes (4 live)')
    expect(dry.stdout).toContain('Nothing was changed.')
    const copied = await move(...there)
    expect(copied.stdout).toContain('Not confirmed yet')
    const env = {
      ...secrets,
      ...{ ONCEBOX_DATABASE_URL: address, ONCEBOX_FILES_URL: bucket.url, ONCEBOX_KEY_FILE: keyFile },
    }
    const early = await runBinary(['serve', '--port', '0', '--data-dir', join(home, 'node')], { env })
    expect(early.stderr).toContain('is not confirmed')
    expect((await move(...there, '--confirm')).stdout).toContain('Moved from')
    expect((await stage.serve(from)).stderr).toContain('was moved to postgres://')

    const second = await stage.start({ dataDir: join(home, 'node'), env })
    await requireAll(second, shared, authorization)
    await requireNew(second)
    const logs = await readLogs(second, shared, authorization)
    await second.end()

    const returning = [
      '--from',
      address,
      '--from-files-url',
      bucket.url,
      '--from-key-file',
      keyFile,
      '--to',
      back,
    ]
    const returned = await move(...returning, '--yes', '--destroy-source', '--json')
    expect(JSON.parse(returned.stdout)).toMatchObject({
      state: 'moved',
      isDestroyed: true,
      files: { count: 1 },
    })
    // The witness of the database is no file.
    expect(bucket.listKeys().filter((key) => !key.includes('/_witness-'))).toEqual([])
    const third = await stage.start({ dataDir: back })
    expect(await readLogs(third, shared, authorization)).toEqual(logs)
    await requireAll(third, shared, authorization)
    await requireNew(third)
    await third.end()
  }, 600_000)

  test('the files of PostgreSQL move alone, from the disk of its node into a bucket and to another disk', async () => {
    const [from, home] = [stage.folder(), stage.folder()]
    const [keyFile, node, other] = ['key', 'node', 'other'].map((name) => join(home, name)) as [
      string,
      string,
      string,
    ]
    const address = await newAddress()
    const first = await stage.start({ dataDir: from })
    const authorization = await signUp(first)
    const shared = await share(first, authorization)
    await first.end()
    const requireServed = async (dataDir: string, env: Record<string, string>) => {
      const place = { ONCEBOX_DATABASE_URL: address, ONCEBOX_KEY_FILE: keyFile }
      const started = await stage.start({ dataDir, env: { ...secrets, ...place, ...env } })
      await requireAll(started, shared, authorization)
      await started.end()
    }
    const requireMoved = async (...flags: string[]) =>
      expect((await move(...flags, '--to', address, '--key-file', keyFile, '--yes')).stdout).toContain(
        'Moved from',
      )
    await requireMoved('--from', from, '--data-dir', node)
    await requireServed(node, {})
    const same = ['--from', address, '--destroy-source']
    await requireMoved(...same, '--from-data-dir', node, '--files-url', bucket.url)
    await requireServed(node, { ONCEBOX_FILES_URL: bucket.url })
    await requireMoved(...same, '--from-files-url', bucket.url, '--data-dir', other)
    await requireServed(other, {})
  }, 600_000)

  test('a move that is killed at any moment goes on, and nothing is lost or served twice', async () => {
    const [from, home] = [stage.folder(), stage.folder()]
    const keyFile = join(home, 'instance.key')
    const address = await newAddress()
    const first = await stage.start({ dataDir: from })
    const authorization = await signUp(first)
    const shared = await share(first, authorization)
    await Promise.all(Array.from({ length: 200 }, (_, n) => first.create({ payload: `number ${n}` })))
    await first.end()
    const there = ['--from', from, '--to', address, '--files-url', bucket.url, '--key-file', keyFile, '--yes']
    let kills = 0
    for (let wait = 30; !existsSync(join(from, 'moved.json')); wait *= 1.25) {
      const child = Bun.spawn([BINARY, 'move', ...there], {
        env: { ...process.env, ...secrets },
        stdio: ['ignore', 'ignore', 'ignore'],
      })
      await Promise.race([child.exited, Bun.sleep(wait)])
      child.kill('SIGKILL')
      await child.exited
      kills += 1
    }
    expect(kills).toBeGreaterThan(1)
    // The last one may have been killed between leaving the source and opening the target.
    const last = await move(...there)
    expect(`${last.stdout}${last.stderr}`).toMatch(/Moved from|was moved to .* already/)
    expect(JSON.parse(readFileSync(join(from, 'moved.json'), 'utf8')).to).toContain('postgres://')
    const env = {
      ...secrets,
      ...{ ONCEBOX_DATABASE_URL: address, ONCEBOX_FILES_URL: bucket.url, ONCEBOX_KEY_FILE: keyFile },
    }
    const second = await stage.start({ dataDir: join(home, 'node'), env })
    await requireAll(second, shared, authorization)
    await second.end()
  }, 600_000)
})
