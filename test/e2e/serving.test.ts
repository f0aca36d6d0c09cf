// Starting, stopping and being alone: what a sysadmin sees of the binary.

import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, removeFolder, runBinary, type Started, startBinary } from '../support/binary.ts'

const folders: string[] = []
const servers: Started[] = []

function folder(): string {
  const path = makeFolder()
  folders.push(path)
  return path
}

async function start(options: Parameters<typeof startBinary>[0] = {}): Promise<Started> {
  const server = await startBinary({ dataDir: folder(), ...options })
  servers.push(server)
  return server
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.end('SIGKILL')))
  for (const path of folders.splice(0)) removeFolder(path)
})

test('ready is one line on standard output with the real port and the data folder', async () => {
  const server = await start()
  expect(server.port).toBeGreaterThan(0)
  expect(server.stdout().trim().split('\n')).toHaveLength(1)
  expect(server.stdout()).toContain(server.dataDir)
  expect((await fetch(`${server.url}/up`)).status).toBe(200)
})

test('what lies in the folder it is started in has no effect', async () => {
  const cwd = folder()
  writeFileSync(
    join(cwd, '.env'),
    'ONCEBOX_ANONYMOUS_ACCESS=false\nONCEBOX_HOST=0.0.0.0\nNODE_ENV=development\n',
  )
  writeFileSync(join(cwd, 'bunfig.toml'), 'preload = ["./evil.ts"]\n')
  writeFileSync(join(cwd, 'evil.ts'), `require('fs').writeFileSync('${join(cwd, 'ran')}', '')`)
  const server = await start({ cwd })
  expect(server.url).toStartWith('http://127.0.0.1:')
  expect((await server.create({ payload: 'x' })).status).toBe(201)
  expect(existsSync(join(cwd, 'ran'))).toBe(false)
})

test('the data folder and all in it are closed to other users', async () => {
  const server = await start()
  await server.create({ payload: 'x' })
  expect(statSync(server.dataDir).mode & 0o777).toBe(0o700)
  for (const name of readdirSync(server.dataDir))
    expect(statSync(join(server.dataDir, name)).mode & 0o077).toBe(0)
})

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s lets a running request finish, empties the log and exits 0',
  async (signal) => {
    const server = await start()
    const { promise: rest, resolve: sendRest } = Promise.withResolvers<void>()
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode('{"push":{"payload":'))
        await rest
        controller.enqueue(new TextEncoder().encode('"slow"}}'))
        controller.close()
      },
    })
    const headers = { 'content-type': 'application/json' }
    const running = fetch(`${server.url}/api/v2/pushes`, { method: 'POST', headers, body })
    await Bun.sleep(200)
    const exit = server.end(signal)
    await Bun.sleep(100)
    sendRest()
    expect((await running).status).toBe(201)
    expect(await exit).toBe(0)
    expect(
      readdirSync(server.dataDir).filter((name) => name.endsWith('-wal') || name === 'serve.holder'),
    ).toEqual([])
  },
)

test('idle connections do not hold up the end', async () => {
  const server = await start()
  for (let i = 0; i < 3; i += 1) await fetch(`${server.url}/up`)
  const started = performance.now()
  expect(await server.end('SIGTERM')).toBe(0)
  expect(performance.now() - started).toBeLessThan(3_000)
})

test('a second server on a data folder is refused and told who holds it', async () => {
  const server = await start()
  const second = await runBinary(['serve', '--data-dir', server.dataDir, '--port', '0'])
  expect(second.code).toBe(1)
  expect(second.stderr).toContain(`process ${server.pid}`)
  expect(second.stderr).toContain('--data-dir')
})

test('after kill -9 the next start works at once', async () => {
  const first = await start()
  const { url_token } = await (await first.create({ payload: 'kept' })).json()
  await first.end('SIGKILL')
  const second = await start({ dataDir: first.dataDir })
  expect((await (await second.retrieve(url_token)).json()).payload).toBe('kept')
})

test('every problem with flags and environment is told at once, with exit code 2 and no stack trace', async () => {
  const args = [
    'serve',
    '--port',
    '99999',
    '--nonsense',
    '--expire-after-days-min',
    '9',
    '--expire-after-days-default',
    '8',
  ]
  const { code, stderr } = await runBinary(args, { env: { ONCEBOX_MAX_FILES: 'many', ONCEBOX_WEIRD: '1' } })
  expect(code).toBe(2)
  for (const word of [
    '--port',
    '99999',
    '--nonsense',
    '--expire-after-days-min',
    'ONCEBOX_MAX_FILES',
    'many',
  ]) {
    expect(stderr).toContain(word)
  }
  expect(stderr).toContain('ONCEBOX_WEIRD is not a setting')
  expect(stderr).not.toMatch(/^\s+at /m)
})

test('a port in use is told with its flag', async () => {
  const server = await start()
  const { code, stderr } = await runBinary(['serve', '--data-dir', folder(), '--port', String(server.port)])
  expect(code).toBe(1)
  expect(stderr).toContain('--port')
})

test('a wrong key is refused with both fingerprints, a missing one is not replaced', async () => {
  const server = await start()
  await server.end()
  const key = join(server.dataDir, 'instance.key')
  const right = readFileSync(key, 'utf8')
  writeFileSync(key, `1 ${'ab'.repeat(32)}\n`)
  const wrong = await runBinary(['serve', '--data-dir', server.dataDir, '--port', '0'])
  expect(wrong.code).toBe(1)
  expect(new Set(wrong.stderr.match(/[0-9a-f]{4}(-[0-9a-f]{4}){3}/g)).size).toBe(2)
  writeFileSync(key, right)
  Bun.file(key).delete()
  await Bun.sleep(50)
  const missing = await runBinary(['serve', '--data-dir', server.dataDir, '--port', '0'])
  expect(missing.code).toBe(1)
  expect(missing.stderr).toContain('--key-file')
  expect(existsSync(key)).toBe(false)
})

test('the key may live elsewhere', async () => {
  const keyFile = join(folder(), 'the.key')
  const first = await start({ flags: ['--key-file', keyFile] })
  const { url_token } = await (await first.create({ payload: 'x' })).json()
  await first.end()
  expect(existsSync(join(first.dataDir, 'instance.key'))).toBe(false)
  const second = await start({ dataDir: first.dataDir, flags: ['--key-file', keyFile] })
  expect((await (await second.retrieve(url_token)).json()).payload).toBe('x')
})

test('a clock far behind is refused unless it is accepted', async () => {
  const server = await start()
  await server.end()
  const database = new Database(join(server.dataDir, 'oncebox.db'))
  database.run('UPDATE instance SET clock_mark = ?', [Date.now() + 5 * 86_400_000])
  database.close()
  const refused = await runBinary(['serve', '--data-dir', server.dataDir, '--port', '0'])
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('--accept-clock')
  const accepted = await start({ dataDir: server.dataDir, flags: ['--accept-clock'] })
  const { created_at } = await (await accepted.create({ payload: 'x' })).json()
  expect(Math.abs(Date.parse(created_at) - Date.now())).toBeLessThan(60_000)
})

test('a folder with other files in it is refused and left alone', async () => {
  const path = folder()
  writeFileSync(join(path, 'thesis.txt'), 'mine')
  chmodSync(path, 0o755)
  const { code, stderr } = await runBinary(['serve', '--data-dir', path, '--port', '0'])
  expect(code).toBe(1)
  expect(stderr).toContain('thesis.txt')
  expect(readdirSync(path)).toEqual(['thesis.txt'])
  expect(statSync(path).mode & 0o777).toBe(0o755)
})

test('a database of a newer Oncebox is refused', async () => {
  const server = await start()
  await server.end()
  const database = new Database(join(server.dataDir, 'oncebox.db'))
  database.run('PRAGMA user_version = 999')
  database.close()
  const { code, stderr } = await runBinary(['serve', '--data-dir', server.dataDir, '--port', '0'])
  expect(code).toBe(1)
  expect(stderr).toContain('newer')
})

test('account commands take effect at once while the server runs', async () => {
  const server = await start()
  const run = (args: string[], input?: string) =>
    runBinary([...args, '--data-dir', server.dataDir], input === undefined ? {} : { input })
  const email = 'ann@example.org'
  expect((await run(['user', 'add', email, '--password-stdin'], 'short')).code).toBe(1)
  expect((await run(['user', 'add', email, '--password-stdin'], 'long enough password\n')).code).toBe(0)
  const { stdout } = await run(['token', 'create', email, '--name', 'laptop'])
  expect(stdout).toMatch(/^obx_[0-9a-z]{32}\n$/)
  const headers = { authorization: `Bearer ${stdout.trim()}` }
  const status = async () => (await fetch(`${server.url}/api/v2/pushes/active`, { headers })).status
  expect(await status()).toBe(200)
  await run(['user', 'disable', email])
  expect(await status()).toBe(401)
  await run(['user', 'enable', email])
  expect(await status()).toBe(200)
  const { url_token } = await (await server.create({ payload: 'x', name: 'n' }, headers)).json()
  expect((await run(['token', 'list', email])).stdout).toContain('laptop')
  expect((await run(['token', 'revoke', email, 'laptop'])).code).toBe(0)
  expect(await status()).toBe(401)
  expect((await run(['user', 'remove', email, '--yes'])).code).toBe(0)
  expect((await server.retrieve(url_token)).status).toBe(404)
  expect((await run(['user', 'list'])).stdout).not.toContain(email)
})

test('account commands refuse a folder that no server has made', async () => {
  const path = join(folder(), 'missing')
  const { code, stderr } = await runBinary(['user', 'list', '--data-dir', path])
  expect(code).toBe(1)
  expect(stderr).toContain(path)
  expect(existsSync(path)).toBe(false)
  mkdirSync(path)
  expect((await runBinary(['user', 'list', '--data-dir', path])).code).toBe(1)
  expect(readdirSync(path)).toEqual([])
})
