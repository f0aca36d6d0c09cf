// TLS of the compiled binary: its own authority, files that change under load, and a start that is killed at any moment.

import { afterEach, expect, test } from 'bun:test'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { readCertificate } from '../../src/crypto/certificate-facts.ts'
import { makeAuthority, makeLeaf } from '../../src/crypto/certificates.ts'
import { createStage, runBinary, startBinary } from '../support/binary.ts'
import { waitUntil } from '../support/waiting.ts'

const stage = createStage()
afterEach(stage.clear)

const DAY = 24 * 60 * 60 * 1000
const validity = { from: Date.now() - DAY, until: Date.now() + 30 * DAY }
const authority = await makeAuthority({ commonName: 'test', names: ['localhost'], validity })
const newLeaf = () => makeLeaf(authority, { names: ['localhost'], addresses: ['127.0.0.1'], validity })

test('--lan serves https by an authority that is closed to others, and the next start keeps it', async () => {
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

test('an authority may lie elsewhere, and a cut one is refused without touching it', async () => {
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

test('a renewed certificate is served under load without a failed request on a kept connection', async () => {
  const first = await newLeaf()
  const second = await newLeaf()
  const files = writePair(first)
  const server = await stage.start({ flags: ['--host', '127.0.0.1', ...files.flags] })
  const stop = new AbortController()
  const loads = Array.from({ length: 8 }, () => keepAsking(server.port, stop.signal))
  await Bun.sleep(500)
  writeFileSync(files.cert, 'half written')
  process.kill(server.pid, 'SIGHUP')
  await server.untilLogged('not reloaded')
  expect(await servedBy(server.port)).toBe(readCertificate(first.certificate).fingerprint)
  writePair(second, files)
  process.kill(server.pid, 'SIGHUP')
  // The old socket goes on for the time in which a kept connection may stay idle, and then for a moment more.
  await Bun.sleep(36_000)
  await waitUntil(
    async () => (await servedBy(server.port)) === readCertificate(second.certificate).fingerprint,
  )
  stop.abort()
  const counts = await Promise.all(loads)
  expect(counts.every(({ failed }) => failed === 0)).toBe(true)
  expect(counts.every(({ asked }) => asked > 20)).toBe(true)
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

function open(port: number): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', ca: authority.certificate })
    socket.once('secureConnect', () => resolve(socket))
    socket.once('error', reject)
  })
}

async function servedBy(port: number): Promise<string> {
  const socket = await open(port)
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}

/** Asks on one connection, and on another only after an answer that ended the first one. */
async function keepAsking(port: number, signal: AbortSignal): Promise<{ asked: number; failed: number }> {
  const counts = { asked: 0, failed: 0 }
  let socket = await open(port)
  while (!signal.aborted) {
    counts.asked += 1
    const answer = await askOn(socket)
    if (answer === null) counts.failed += 1
    if (answer === null || /^connection: close/im.test(answer)) {
      socket.destroy()
      socket = await open(port)
    }
    await Bun.sleep(20)
  }
  socket.destroy()
  return counts
}

/** Null when the connection ends without a whole answer. */
function askOn(socket: TLSSocket): Promise<string | null> {
  return new Promise((resolve) => {
    let text = ''
    const take = (bytes: Buffer) => {
      text += bytes.toString()
      if (text.endsWith('{"up":true}')) finish(text)
    }
    const lost = () => finish(null)
    function finish(answer: string | null): void {
      socket.off('data', take).off('close', lost).off('error', lost)
      resolve(answer)
    }
    socket.on('data', take).once('close', lost).once('error', lost)
    socket.write('GET /up HTTP/1.1\r\nHost: localhost\r\n\r\n')
  })
}
