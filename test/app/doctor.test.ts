// The doctor: each thing that can be wrong is provoked once, is told with its remedy, and nothing is changed.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { examine, type Finding } from '../../src/app/doctor/doctor.ts'
import { examineDisk, examineLimits } from '../../src/app/doctor/machine.ts'
import { testCertificate, testKey } from '../support/certificate.ts'
import { configOf, START, startInstance } from '../support/instance.ts'

const DAY = 24 * 60 * 60 * 1000
let dataDir = ''
let outside = ''

beforeEach(async () => {
  const instance = await startInstance()
  dataDir = instance.dataDir
  await instance.fetch('/api/v2/pushes', { json: { push: { payload: 'x' } } })
  await instance.stop()
  outside = mkdtempSync(join(tmpdir(), 'oncebox-doctor-'))
})
afterEach(() => {
  for (const path of [dataDir, outside]) rmSync(path, { recursive: true, force: true })
})

type Options = {
  flags?: Record<string, string>
  now?: number
  unit?: string
  names?: Record<string, string[]>
}

async function look({ flags = {}, now = START, unit, names = {} }: Options = {}): Promise<Finding[]> {
  const unitPath = join(outside, 'oncebox.service')
  if (unit !== undefined) writeFileSync(unitPath, unit)
  const { config } = configOf({ 'data-dir': dataDir, 'min-free-space': '0', port: '0', ...flags })
  const lookUp = async (name: string) => names[name] ?? Promise.reject(new Error('unknown'))
  const network = { lookUp, listAddresses: () => [], hostName: () => 'box' }
  return examine({ config, version: '3.0.0', now: () => now, network, unitPlaces: [unitPath] })
}

const wrong = (findings: Finding[]) => findings.filter(({ state }) => state !== 'ok')

/** The only thing that is wrong, as `part: remedy`. */
async function theOnly(options: Options): Promise<string> {
  const found = wrong(await look(options)).map(
    ({ state, part, said, remedy }) => `${state} ${part}: ${said} → ${remedy}`,
  )
  expect(found).toEqual([expect.any(String)])
  return found[0] ?? ''
}

test('of an installation that is well, it says so part by part, and changes no file', async () => {
  const before = readdirSync(dataDir).sort()
  const stamps = before.map((name) => statSync(join(dataDir, name)).mtimeMs)
  const findings = await look({ flags: { 'log-file': join(outside, 'x.log') } })
  expect(wrong(findings)).toEqual([])
  const parts = new Set(findings.map(({ part }) => part))
  for (const part of [
    'version',
    'folder',
    'database',
    'key',
    'clock',
    'ports',
    'proxies',
    'disk',
    'inodes',
    'log',
  ])
    expect(parts).toContain(part)
  expect(readdirSync(dataDir).sort()).toEqual(before)
  expect(before.map((name) => statSync(join(dataDir, name)).mtimeMs)).toEqual(stamps)
  expect(JSON.stringify(findings)).not.toContain(
    readFileSync(join(dataDir, 'instance.key'), 'utf8').slice(-40, -1),
  )
})

test('a missing folder, a file in its place, and an empty one', async () => {
  expect(await theOnly({ flags: { 'data-dir': join(outside, 'none') } })).toContain(
    'Start "oncebox serve" once',
  )
  writeFileSync(join(outside, 'file'), '')
  expect(await theOnly({ flags: { 'data-dir': join(outside, 'file') } })).toContain('Name a folder')
  mkdirSync(join(outside, 'empty'), { mode: 0o700 })
  expect(await theOnly({ flags: { 'data-dir': join(outside, 'empty') } })).toContain('no data')
})

test('a folder and a key file that others can read', async () => {
  chmodSync(dataDir, 0o755)
  expect(await theOnly({})).toContain(`chmod 700 ${dataDir}`)
  chmodSync(dataDir, 0o700)
  chmodSync(join(dataDir, 'instance.key'), 0o644)
  expect(await theOnly({})).toContain('chmod 600')
})

test('a key file that is missing, broken, or of another database', async () => {
  const key = join(dataDir, 'instance.key')
  renameSync(key, join(outside, 'key'))
  expect(await theOnly({})).toContain('problem key: The key file')
  expect(wrong(await look({ flags: { 'key-file': join(outside, 'key') } }))).toEqual([])
  writeFileSync(key, 'nonsense', { mode: 0o600 })
  expect(await theOnly({})).toContain('line 1')
  writeFileSync(key, `1 ${'ab'.repeat(32)}\n`, { mode: 0o600 })
  expect(await theOnly({})).toContain('does not belong to this database')
})

test('a database that is gone, damaged, or of a newer version', async () => {
  const path = join(dataDir, 'oncebox.db')
  const database = new Database(path)
  const { user_version: version } = database.query('PRAGMA user_version').get() as { user_version: number }
  database.run(`PRAGMA user_version = ${version + 1}`)
  database.close()
  expect(await theOnly({})).toContain('Use the newer program')
  truncateSync(path, statSync(path).size - 4096)
  expect(wrong(await look()).map(({ part }) => part)).toContain('database')
  renameSync(path, join(outside, 'db'))
  expect(await theOnly({})).toContain('Restore the folder from a backup')
})

test('pages of the database that are damaged', async () => {
  const path = join(dataDir, 'oncebox.db')
  const bytes = readFileSync(path)
  bytes.fill(0xee, 3 * 4096, 5 * 4096)
  writeFileSync(path, bytes)
  const found = wrong(await look())
  expect(found[0]?.remedy).toContain('docs/damage.md')
})

test('a clock that is behind, far ahead, or in doubt', async () => {
  expect(await theOnly({ now: START - 2 * DAY })).toContain(
    'Set the clock right, or start once with --accept-clock',
  )
  expect(await theOnly({ now: START + 30 * DAY })).toContain('warning clock')
  const instance = await startInstance({ dataDir })
  instance.clock.set(START + 3 * DAY)
  await instance.fetch('/')
  await instance.stop()
  expect(await theOnly({ now: START + 3 * DAY })).toContain('problem clock')
})

test('too little space, and little space', async () => {
  expect(await theOnly({ flags: { 'min-free-space': '1024TiB' } })).toContain('problem disk')
  const [space] = examineDisk(dataDir, 0)
  const free = Number(/^(\d+) MiB/.exec(space?.said ?? '')?.[1])
  expect(await theOnly({ flags: { 'min-free-space': `${Math.floor(free * 0.7)}MiB` } })).toContain(
    'warning disk',
  )
  expect(wrong(examineDisk(join(outside, 'none'), 0))[0]?.remedy).toContain('Check the disk')
})

test('few open files', () => {
  const limits = join(outside, 'limits')
  writeFileSync(limits, 'Max open files            256                  4096                 files\n')
  expect(examineLimits(limits)[0]?.remedy).toContain('LimitNOFILE=65536')
})

test('a port that another program has', async () => {
  const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('') })
  const taken = String(other.port)
  expect(await theOnly({ flags: { port: taken } })).toContain('choose another --port')
  expect(await theOnly({ flags: { 'metrics-listen': `127.0.0.1:${taken}` } })).toContain('--metrics-listen')
  await other.stop(true)
  expect(
    await theOnly({
      flags: { host: '192.0.2.1', port: '5999', 'base-url': 'https://192.0.2.1' },
      names: { '192.0.2.1': ['192.0.2.1'] },
    }),
  ).toContain('correct --host')
})

test('names without an address', async () => {
  expect(await theOnly({ flags: { host: 'no.such.name' } })).toContain('Correct --host')
  const flags = { 'base-url': 'https://no.such.name', 'trusted-proxy': '127.0.0.1' }
  expect(await theOnly({ flags })).toContain('DNS')
})

test('proxies that are not declared, or everybody, and a network without TLS', async () => {
  const names = { 'once.example': ['192.0.2.1'] }
  const flags = { 'base-url': 'https://once.example' }
  expect(await theOnly({ flags, names })).toContain('--trusted-proxy 127.0.0.1')
  expect(await theOnly({ flags: { ...flags, 'trusted-proxy': '0.0.0.0/0' }, names })).toContain(
    'Name the addresses',
  )
  expect(await theOnly({ flags: { host: '0.0.0.0' } })).toContain('--lan or --tls')
})

test('a certificate that cannot be read', async () => {
  const flags = { tls: 'files', 'tls-cert': join(outside, 'no.pem'), 'tls-key': join(outside, 'no.key') }
  expect(await theOnly({ flags })).toContain('Correct --tls-cert')
})

test('a certificate that has lapsed, lapses soon, or is for another name', async () => {
  const [cert, key] = [join(outside, 'cert.pem'), join(outside, 'key.pem')]
  writeFileSync(cert, testCertificate)
  writeFileSync(key, testKey, { mode: 0o600 })
  const flags = { tls: 'files', 'tls-cert': cert, 'tls-key': key }
  const valid =
    (await look({ flags, now: START + 5 * DAY })).find(({ part }) => part === 'certificate')?.said ?? ''
  const until = Date.parse(/until ([\d-]+)/.exec(valid)?.[1] ?? '')
  const opened = await startInstance({ dataDir })
  opened.clock.set(until - 5 * DAY)
  await opened.acceptClock()
  await opened.stop()
  expect(await theOnly({ flags, now: until - 5 * DAY })).toContain('warning certificate')
  expect(await theOnly({ flags, now: until + DAY })).toContain('problem certificate')
  const named = { ...flags, 'base-url': 'https://once.example', 'trusted-proxy': '127.0.0.1' }
  const found = wrong(
    await look({ flags: named, now: until - 100 * DAY, names: { 'once.example': ['192.0.2.1'] } }),
  )
  expect(found.map(({ remedy }) => remedy).join()).toContain('Get one for that name')
})

test.skipIf(process.geteuid?.() !== 0)('a log file of another user', async () => {
  const path = join(outside, 'x.log')
  writeFileSync(path, '')
  chownSync(path, 65534, 65534)
  expect(await theOnly({ flags: { 'log-file': path } })).toContain(`The log file ${path} belongs to`)
})

test('a log file that cannot be written', async () => {
  expect(await theOnly({ flags: { 'log-file': '/no/such/folder/x.log' } })).toContain('--log-file')
})

test.each([
  ['MemoryDenyWriteExecute=yes', 'Remove MemoryDenyWriteExecute='],
  ['ExecStart=/bin/sh serve --accept-clock', 'Remove --accept-clock'],
  ['ExecStart=/bin/sh serve --accept-move', 'Remove --accept-move'],
  ['Environment=ONCEBOX_PORT=1 ONCEBOX_ACCEPT_MOVE=true', 'ONCEBOX_ACCEPT_MOVE'],
  ['ExecStart=/no/such/oncebox serve', 'Correct ExecStart='],
  ['ExecStart=/bin/sh serve --data-dir /elsewhere', 'Give --data-dir /elsewhere'],
])('a unit with %s', async (line, remedy) => {
  const start = line.startsWith('ExecStart') ? '' : 'ExecStart=/bin/sh serve\n'
  expect(await theOnly({ unit: `[Service]\n# MemoryDenyWriteExecute=yes\n${start}${line}\n` })).toContain(
    remedy,
  )
})
