// TLS of the compiled binary: its own authority, files that change under load, and a start that is killed at
// any moment.

import { afterEach, expect, test } from 'bun:test'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { readCertificate } from '../../src/crypto/certificate-facts.ts'
import { makeAuthority, makeLeaf } from '../../src/crypto/certificates.ts'
import { keepAsking } from '../support/asking-client.ts'
import { createStage, runBinary, startBinary } from '../support/binary.ts'
import { multicast } from '../support/multicast.ts'
import { waitUntil } from '../support/waiting.ts'

const stage = createStage()
afterEach(stage.clear)

const DAY = 24 * 60 * 60 * 1000
const validity = { from: Date.now() - DAY, until: Date.now() + 30 * DAY }
const authority = await makeAuthority({ commonName: 'test', names: ['localhost'], validity })
const newLeaf = () => makeLeaf(authority, { names: ['localhost'], addresses: ['127.0.0.1'], validity })

test('--lan serves https with an authority whose key others cannot read, and the next start keeps it', async () => {
  const dataDir = stage.folder()
  const flags = ['--lan', '--http-port', '0', '--mdns', 'off', '--host', '127.0.0.1']
  const server = await stage.start({ dataDir, flags })
  const path = join(dataDir, 'tls-authority.pem')
  const ca = readFileSync(path, 'utf8')
  expect(server.url).toStartWith('https://127.0.0.1:')
  expect((await server.ask('/up', { tls: { ca } })).status).toBe(200)
  await expect(server.ask('/up')).rejects.toThrow()
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(server.stdout()).toContain(readCertificate(ca).fingerprint)
  await server.end()
  const again = await stage.start({ dataDir, flags })
  expect((await again.ask('/up', { tls: { ca } })).status).toBe(200)
})

test.if(multicast !== null)(
  'the start lines show the name on the network only while it is ours',
  async () => {
    const name = `t-${crypto.randomUUID().slice(0, 8)}`
    const flags = ['--lan', '--http-port', '0', '--mdns', name]
    const first = await stage.start({ flags })
    expect(first.stdout()).toContain(`https://${name}.local:${first.port}`)
    const second = await stage.start({ flags })
    expect(second.stdout()).not.toContain('.local')
    await second.untilLogged(`name="${name}.local" claimant=`)
    // Stopping releases the name.
    expect(await first.end()).toBe(0)
  },
)

test('the authority’s file may be elsewhere; a truncated one is refused and not changed', async () => {
  const path = join(stage.folder(), 'authority.pem')
  const flags = ['--tls', 'auto', '--tls-authority-key', path]
  const server = await stage.start({ flags })
  expect(existsSync(join(server.dataDir, 'tls-authority.pem'))).toBe(false)
  await server.end()
  chmodSync(path, 0o644)
  const open = await stage.start({ dataDir: server.dataDir, flags })
  await open.untilLogged(`others on this machine can read the authority ${path}`)
  await open.end()
  writeFileSync(path, readFileSync(path, 'utf8').slice(0, 100))
  const refused = await runBinary(['serve', '--data-dir', server.dataDir, '--port', '0', ...flags])
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain(`${path} does not hold an authority and its key`)
  expect(readFileSync(path, 'utf8')).toHaveLength(100)
})

test('a start that is killed at any moment leaves an authority that the next start can use', async () => {
  const dataDir = stage.folder()
  for (const wait of [5, 20, 40, 60, 80, 100, 130, 160, 200]) {
    const child = Bun.spawn(
      [
        join(import.meta.dir, '../../dist/oncebox'),
        'serve',
        '--data-dir',
        dataDir,
        '--port',
        '0',
        '--tls',
        'auto',
      ],
      { stdout: 'ignore', stderr: 'ignore' },
    )
    await Bun.sleep(wait)
    child.kill('SIGKILL')
    await child.exited
  }
  const server = await startBinary({ dataDir, flags: ['--tls', 'auto'] })
  const ca = readFileSync(join(dataDir, 'tls-authority.pem'), 'utf8')
  expect((await server.ask('/up', { tls: { ca } })).status).toBe(200)
  await server.end()
})

test.each([
  ['another key', async () => ({ ...(await newLeaf()), key: (await newLeaf()).key }), 'does not belong to'],
  [
    'a lapsed certificate',
    () =>
      makeLeaf(authority, {
        names: ['localhost'],
        addresses: [],
        validity: { from: Date.now() - 2 * DAY, until: Date.now() - DAY },
      }),
    'lapsed on',
  ],
])('%s is refused at the start', async (_, make, reason) => {
  const { flags } = writePair(await make())
  const refused = await runBinary(['serve', '--data-dir', stage.folder(), '--port', '0', ...flags])
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain(reason)
})

test('under load, a broken certificate is refused and a renewed one served at once, without a lost request', async () => {
  const first = await newLeaf()
  const files = writePair(first)
  const server = await stage.start({ flags: ['--host', '127.0.0.1', ...files.flags] })
  let isOver = false
  const tls = { ca: authority.certificate }
  const asking = { port: server.port, path: '/up', end: '{"up":true}', tls, isOver: () => isOver }
  const loads = Array.from({ length: 8 }, () => keepAsking(asking))
  writeFileSync(files.cert, 'half written')
  process.kill(server.pid, 'SIGHUP')
  await server.untilLogged(`not reloaded: Cannot serve TLS: --tls-cert ${files.cert}`)
  expect(await servedBy(server.port)).toBe(readCertificate(first.certificate).fingerprint)
  for (let round = 1; round <= 6; round += 1) {
    const next = await newLeaf()
    writePair(next, files)
    process.kill(server.pid, 'SIGHUP')
    const isServed = () => server.stderr().split('serving a new certificate').length > round
    await waitUntil(isServed)
    const served = await Promise.all(Array.from({ length: 40 }, () => servedBy(server.port)))
    expect([...new Set(served)]).toEqual([readCertificate(next.certificate).fingerprint])
  }
  isOver = true
  for (const { answered, ending, lost } of await Promise.all(loads)) {
    expect([ending, lost]).toEqual([6, 0])
    expect(answered).toBeGreaterThan(12)
  }
})

type Files = { cert: string; key: string; flags: string[] }

function writePair(pair: { certificate: string; key: string }, into?: Files): Files {
  const folder = into === undefined ? stage.folder() : ''
  const cert = into?.cert ?? join(folder, 'cert.pem')
  const key = into?.key ?? join(folder, 'key.pem')
  writeFileSync(cert, `${pair.certificate}\n${authority.certificate}`)
  writeFileSync(key, pair.key)
  return { cert, key, flags: ['--tls', 'files', '--tls-cert', cert, '--tls-key', key] }
}

function servedBy(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', ca: authority.certificate }, () => {
      resolve(socket.getPeerCertificate().fingerprint256)
      socket.destroy()
    }).once('error', reject)
  })
}
