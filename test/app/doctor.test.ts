// The doctor: every fault is provoked once and reported with its remedy, and nothing is changed.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  cpSync,
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
import { findKeysProblem } from '../../src/install/release-keys.ts'
import { writeBackupNote } from '../../src/store/folder/notes.ts'
import { testCertificate, testKey } from '../support/certificate.ts'
import { alterDatabase } from '../support/damage.ts'
import { configOf, START, startInstance } from '../support/instance.ts'
import { startMailServer } from '../support/mail-server.ts'
import { needs } from '../support/needs.ts'
import { mountSmallDisk } from '../support/tmpfs.ts'

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
  isDeep?: boolean
  now?: number
  names?: Record<string, string[]>
}

async function look({
  flags = {},
  now = START,
  names = {},
  isDeep = false,
}: Options = {}): Promise<Finding[]> {
  const { config } = configOf({ 'data-dir': dataDir, 'min-free-space': '0', port: '0', ...flags })
  const lookUp = async (name: string) => names[name] ?? Promise.reject(new Error('unknown'))
  const network = { lookUp, listAddresses: () => [], hostName: () => 'box' }
  return examine({ config, version: '3.0.0', now: () => now, network, isDeep })
}

const wrong = (findings: Finding[]) => findings.filter(({ state }) => state !== 'ok')

/** Returns the only problem, as `part: remedy`. */
async function theOnly(options: Options): Promise<string> {
  const found = wrong(await look(options)).map(
    ({ state, part, said, remedy }) => `${state} ${part}: ${said} → ${remedy}`,
  )
  expect(found).toEqual([expect.any(String)])
  return found[0] ?? ''
}

test('reports a build without release keys beside the version', async () => {
  const told = (await look()).find(({ part }) => part === 'version')
  expect(told?.said).toStartWith('Oncebox 3.0.0 on ')
  expect(told?.said).toEndWith(findKeysProblem() ?? '.')
})

test('reports each part of an intact installation as ok, and changes no file', async () => {
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

test('reports a missing folder, a file in its place, and an empty folder', async () => {
  expect(await theOnly({ flags: { 'data-dir': join(outside, 'none') } })).toContain(
    'Start "oncebox serve" once',
  )
  writeFileSync(join(outside, 'file'), '')
  expect(await theOnly({ flags: { 'data-dir': join(outside, 'file') } })).toContain('Name a folder')
  mkdirSync(join(outside, 'empty'), { mode: 0o700 })
  expect(await theOnly({ flags: { 'data-dir': join(outside, 'empty') } })).toContain('no data')
})

test('reports a folder and a key file that others can read', async () => {
  chmodSync(dataDir, 0o755)
  expect(await theOnly({})).toContain(`chmod 700 ${dataDir}`)
  chmodSync(dataDir, 0o700)
  chmodSync(join(dataDir, 'instance.key'), 0o644)
  expect(await theOnly({})).toContain('chmod 600')
})

test('reports a key file that is missing, broken, or of another database', async () => {
  const key = join(dataDir, 'instance.key')
  renameSync(key, join(outside, 'key'))
  expect(await theOnly({})).toContain('problem key: The key file')
  expect(wrong(await look({ flags: { 'key-file': join(outside, 'key') } }))).toEqual([])
  writeFileSync(key, 'nonsense', { mode: 0o600 })
  expect(await theOnly({})).toContain('line 1')
  writeFileSync(key, `1 ${'ab'.repeat(32)}\n`, { mode: 0o600 })
  expect(await theOnly({})).toContain('does not belong to this database')
})

test('reports a database that is missing, damaged, or of a newer version', async () => {
  const path = join(dataDir, 'oncebox.db')
  const database = new Database(path)
  const { user_version: version } = database.query('PRAGMA user_version').get() as { user_version: number }
  database.run(`PRAGMA user_version = ${version + 1}`)
  database.close()
  expect(await theOnly({})).toContain('was written by a newer Oncebox')
  truncateSync(path, statSync(path).size - 4096)
  expect(wrong(await look()).map(({ part }) => part)).toContain('database')
  renameSync(path, join(outside, 'db'))
  expect(await theOnly({})).toContain('Restore the folder from a backup')
})

test('tries the address, certificate and login of a mail server without sending a mail', async () => {
  const server = await startMailServer({ login: { user: 'once', pass: 'right' } })
  const flagsOf = (url: string) => ({
    ...{ 'smtp-url': url, 'mail-from': 'once@example.org', 'base-url': 'https://once.example' },
  })
  const mailOf = async (url: string) => {
    const found = (await look({ flags: flagsOf(url) })).find(({ part }) => part === 'mail')
    return `${found?.state} ${found?.said}`
  }
  const name = `127.0.0.1:${server.port}`
  expect(await mailOf(server.url)).toBe(`ok Mail goes to ${name}.`)
  expect(await mailOf(server.urlOfStranger)).toContain(
    `warning The mail server ${name} has no TLS, or a cert`,
  )
  expect(await mailOf(server.url.replace('right', 'wrong'))).toContain('refuses the user and the password')
  expect(server.mails).toEqual([])
  await server.stop()
  expect((await look()).some(({ part }) => part === 'mail')).toBe(false)
})

test('tries the address, port and certificate of each webhook host without sending a message', async () => {
  let asked = 0
  const options = { hostname: '127.0.0.1', port: 0, fetch: () => new Response(String(++asked)) }
  const plain = Bun.serve(options)
  const closed = Bun.serve(options)
  const gone = `127.0.0.1:${closed.port}`
  closed.stop(true)
  const webhooksOf = async (hosts: string) =>
    (await look({ flags: { 'webhook-hosts': hosts } })).find(({ part }) => part === 'webhook hosts')
  const well = `127.0.0.1:${plain.port}`
  expect(await webhooksOf(well)).toMatchObject({ state: 'ok', said: `Webhooks reach ${well}.` })
  const found = await webhooksOf(`${well},${gone},no-such-host.invalid,localhost:1`)
  expect(found?.state).toBe('warning')
  expect(found?.said).toBe(
    `${gone} cannot be reached, or ends the connection; no-such-host.invalid has a name that nobody knows; ` +
      'localhost:1 has an address that the settings do not allow.',
  )
  expect(asked).toBe(0)
  plain.stop(true)
  expect((await look()).some(({ part }) => part === 'webhook hosts')).toBe(false)
})

test('reports damaged pages of the database', async () => {
  const path = join(dataDir, 'oncebox.db')
  const bytes = readFileSync(path)
  bytes.fill(0xee, 3 * 4096, 5 * 4096)
  writeFileSync(path, bytes)
  const found = wrong(await look())
  expect(found[0]?.said).toContain(`The database ${path} is damaged (`)
})

test('reports a clock that is behind, far ahead, or in doubt', async () => {
  expect(await theOnly({ now: START - 2 * DAY })).toContain(
    'Set the clock right, or accept its time with --accept-clock',
  )
  expect(await theOnly({ now: START + 30 * DAY })).toContain('warning clock')
  const instance = await startInstance({ dataDir })
  instance.clock.set(START + 3 * DAY)
  await instance.fetch('/')
  await instance.stop()
  expect(await theOnly({ now: START + 3 * DAY })).toContain('warning clock')
})

test('reports too little free space', async () => {
  expect(await theOnly({ flags: { 'min-free-space': '1024TiB' } })).toContain('problem disk')
})

test('reports a port that another program uses', async () => {
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
  ).toContain('choose another --host')
})

test('reports a name without an address', async () => {
  const [ports] = wrong(await look({ flags: { host: 'no.such.name' } }))
  expect(ports?.said).toContain('The name no.such.name has no address here')
  const flags = { 'base-url': 'https://no.such.name', 'trusted-proxy': '127.0.0.1' }
  expect(await theOnly({ flags })).toContain('DNS')
})

test('reports undeclared proxies, proxies of any address, and a network without TLS', async () => {
  const names = { 'once.example': ['192.0.2.1'] }
  const flags = { 'base-url': 'https://once.example' }
  expect(await theOnly({ flags, names })).toContain('--trusted-proxy 127.0.0.1')
  expect(await theOnly({ flags: { ...flags, 'trusted-proxy': '0.0.0.0/0' }, names })).toContain(
    'Name the addresses',
  )
  expect(await theOnly({ flags: { host: '0.0.0.0' } })).toContain('--lan or --tls')
})

test('reports a certificate that cannot be read', async () => {
  const flags = { tls: 'files', 'tls-cert': join(outside, 'no.pem'), 'tls-key': join(outside, 'no.key') }
  expect(await theOnly({ flags })).toContain('--tls-cert')
})

test('reports a certificate that has expired, expires soon, or is for another name', async () => {
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

test('reports a copied folder, which the next start refuses', async () => {
  const copy = join(outside, 'copy')
  cpSync(dataDir, copy, { recursive: true })
  chmodSync(copy, 0o700)
  const found = await theOnly({ flags: { 'data-dir': copy } })
  expect(found).toContain(`problem database: ${copy} looks like a copy`)
  for (const words of [`as ${dataDir}`, 'oncebox restore', '--accept-move']) expect(found).toContain(words)
  expect(wrong(await look())).toEqual([])
})

needs('root').test('reports a log file of another user', async () => {
  const path = join(outside, 'x.log')
  writeFileSync(path, '')
  chownSync(path, 65534, 65534)
  expect(await theOnly({ flags: { 'log-file': path } })).toContain(`The log file ${path} belongs to`)
})

test('reports a log file that cannot be written', async () => {
  expect(await theOnly({ flags: { 'log-file': '/no/such/folder/x.log' } })).toContain('--log-file')
})

needs('mount').test('reports a disk that is writable but takes no byte', async () => {
  const disk = mountSmallDisk('4m')
  const [data, backups] = ['data', 'backups'].map((name) => join(disk.path, name)) as [string, string]
  cpSync(dataDir, data, { recursive: true, filter: (path) => !path.endsWith('reserve') })
  mkdirSync(backups)
  const flags = { 'data-dir': data, 'backup-dir': backups, 'log-file': join(disk.path, 'x.log') }
  const toldOf = async () => {
    const found = await look({ flags })
    return ['folder', 'backup', 'log'].map((name) => found.find(({ part }) => part === name)?.said)
  }
  const [, , log] = await toldOf()
  expect(log).toContain('The log goes to')
  expect(() => writeFileSync(join(disk.path, 'rest'), Buffer.alloc(8 * 1024 * 1024))).toThrow()
  expect(await toldOf()).toEqual([
    `Nothing can be written to ${data}: the disk is full.`,
    `${backups} cannot take backups: the disk is full.`,
    `The log file ${flags['log-file']} cannot be written: the disk is full.`,
  ])
  expect(readdirSync(disk.path).sort()).toEqual(['backups', 'data', 'rest'])
  expect([data, backups].flatMap((path) => readdirSync(path)).filter((name) => /trial/.test(name))).toEqual(
    [],
  )
  disk.remove()
})

test('reports a backup folder that cannot be used or is on the same disk, and an overdue backup', async () => {
  const folder = join(outside, 'b')
  const told = (now = START) => theOnly({ flags: { 'backup-dir': folder }, now })
  expect(await told()).toContain(`warning backup: There is no ${folder} yet. → Start the server`)
  expect(statSync(folder, { throwIfNoEntry: false })).toBeUndefined()
  writeFileSync(folder, '')
  expect(await told()).toStartWith(
    `problem backup: ${folder} cannot take backups: a part of its path is not a folder. → Name a folder.`,
  )
  rmSync(folder)
  mkdirSync(folder)
  expect(await told()).toContain(`warning backup: There is no backup in ${folder} yet.`)
  const made = { name: 'a.tar', at: START - DAY / 24, bytes: 3, durationMs: 5, kept: 1, isSameDisk: true }
  await writeBackupNote(dataDir, { mark: 'abcdef', last: { folder, ...made, isSameDisk: false } })
  expect(await told()).toContain(
    `${folder} is now on the disk of the data, but the last backup went to another disk. → Mount its disk, or name`,
  )
  await writeBackupNote(dataDir, { mark: 'abcdef', last: { folder, ...made } })
  expect(await told(START + 2 * DAY)).toContain(
    `The backup in ${folder} is overdue. The last good backup is of 2026-11-20T11:00:00.000Z.`,
  )
})

test('counts the passkeys that stop working under the host name of --base-url', async () => {
  const find = async (base: string | null) => {
    const found = await look(base === null ? {} : { flags: { 'base-url': base } })
    const { state, said } = found.find(({ part }) => part === 'passkeys') ?? {}
    return [state, said]
  }
  expect(await find('https://once.example')).toEqual([undefined, undefined])
  const database = new Database(join(dataDir, 'oncebox.db'))
  database.run(
    "INSERT INTO accounts (id, email, password_hash, is_admin, created_at, last_sign_in_at, passkeys) VALUES (1, 'ann@example.org', 'x', 0, 1, 1, 3)",
  )
  for (const [n, host] of ['old.example', 'once.example', 'once.example'].entries())
    database.run(
      `INSERT INTO passkeys (account_id, credential_id, public_key, counter, rp_id, name, signs_in, created_at) VALUES (1, x'0${n}', x'00', 0, '${host}', '', 1, 1)`,
    )
  database.close()
  expect(await find('https://once.example:8443/at')).toEqual([
    'warning',
    expect.stringContaining('Lost passkeys: 1 of old.example.'),
  ])
  expect(await find('https://new.example')).toEqual([
    'warning',
    expect.stringContaining('Lost passkeys: 1 of old.example, 2 of once.example.'),
  ])
  for (const base of [null, 'https://192.0.2.7', 'http://once.example'])
    expect(await find(base)).toEqual(['warning', expect.stringContaining('lets browsers use none')])
  alterDatabase(dataDir, "DELETE FROM passkeys WHERE rp_id = 'old.example'")
  expect(await find('https://once.example')).toEqual(['ok', 'Passkeys: 2, all of once.example.'])
})

describe('the deep check', () => {
  let file = ''
  beforeEach(async () => {
    const instance = await startInstance({ dataDir })
    const token = await instance.addAccount('ann@example.org')
    const body = new FormData()
    body.set('push[payload]', 'with a file')
    body.set('push[name]', 'a name')
    body.append('push[files][]', new File([Buffer.alloc(2_500_000, 'once')], 'a.txt'))
    const answer = await instance.fetch('/api/v2/pushes', { method: 'POST', body, token })
    expect(answer.status).toBe(201)
    await instance.stop()
    const files = join(dataDir, 'files')
    const [sub = ''] = readdirSync(files)
    file = join(files, sub, readdirSync(join(files, sub))[0] ?? '')
  })
  const deep = () => look({ isDeep: true })
  const said = (findings: Finding[], part: string) =>
    findings
      .filter((found) => found.part === part)
      .map((found) => `${found.state}: ${found.said}`)
      .join()

  test('reads every file, opens what the instance key opens, and names what it cannot check', async () => {
    const findings = await deep()
    expect(wrong(findings)).toEqual([])
    expect(said(findings, 'sealed files')).toBe(
      'ok: Files of live pushes: 1, with 3 MiB. Each is there, has its length, and can be read to its end.',
    )
    expect(said(findings, 'sealed rows')).toBe(
      'ok: Pushes of accounts, and second factors: 1. Each opens with the instance key.',
    )
    expect(said(findings, 'unchecked')).toStartWith('ok: Not checked: payloads (2)')
    expect((await look()).map(({ part }) => part)).not.toContain('sealed files')
  })

  test('reports a missing or truncated file, and continues', async () => {
    truncateSync(file, 1_000)
    const cut = await deep()
    expect(said(cut, 'sealed files')).toMatch(
      /^problem: .* Damaged: 1. File 1 of push 2 \(\w+\) has 1000 bytes in place of \d+\.$/,
    )
    rmSync(file)
    const gone = await deep()
    expect(said(gone, 'sealed files')).toMatch(/File 1 of push 2 \(\w+\) is missing\.$/)
    expect(said(gone, 'sealed rows')).toStartWith('ok: ')
  })

  test('reports an altered row that the key seals', async () => {
    const database = new Database(join(dataDir, 'oncebox.db'))
    database.run('UPDATE push_labels SET name = zeroblob(40)')
    database.close()
    expect(said(await deep(), 'sealed rows')).toBe(
      'problem: Pushes of accounts, and second factors: 1. Not opened by the instance key: 1. The link, name or note of push 2.',
    )
  })

  test('reports that nothing sealed was read when the database cannot be read', async () => {
    truncateSync(join(dataDir, 'oncebox.db'), 8192)
    const findings = await deep()
    expect(said(findings, 'unchecked')).toStartWith('warning: Nothing that is sealed was read')
  })
})
