// Reaching PostgreSQL at the start: which failures are worth waiting for, and messages for the others.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseUrl } from '../../../../src/settings/database-parsers.ts'
import { connectTo } from '../../../../src/store/postgres/reaching/address.ts'
import { reachServer } from '../../../../src/store/postgres/reaching/reach.ts'
import { explainUnreachable } from '../../../../src/store/postgres/reaching/unreachable.ts'
import { testCertificate } from '../../../support/certificate.ts'
import {
  type DatabaseServer,
  type ServerDatabase,
  startDatabaseServer,
} from '../../../support/database-servers.ts'
import { startFaultProxy } from '../../../support/fault-proxy.ts'
import { freePort } from '../../../support/free-port.ts'
import { needs } from '../../../support/needs.ts'

type Options = { patience?: number; onWait?: (why: string) => void; abandoned?: AbortSignal }

function reach(url: string, { patience = 0, onWait = () => undefined, abandoned }: Options = {}) {
  const parsed = databaseUrl(url)
  if ('problem' in parsed) throw new Error(parsed.problem)
  const address = parsed.value
  return reachServer({ address, connect: connectTo(address), patience, onWait, abandoned })
}

describe('without a server', () => {
  test('the message says that nothing answers, and at which address', async () => {
    const port = freePort()
    const url = `postgres://a:s3cret@127.0.0.1:${port}/d?sslmode=disable`
    await expect(reach(url)).rejects.toThrow(`postgres://127.0.0.1:${port}/d: nothing answers there`)
  })

  test('waiting ends on request, and the reason is logged once', async () => {
    const told: string[] = []
    const controller = new AbortController()
    const onWait = (why: string) => {
      told.push(why)
      controller.abort()
    }
    const url = `postgres://a:s3cret@127.0.0.1:${freePort()}/d?sslmode=disable`
    const waiting = reach(url, { patience: 600_000, onWait, abandoned: controller.signal })
    await expect(waiting).rejects.toThrow('Stopped before')
    expect(told).toHaveLength(1)
    expect(told[0]).toStartWith('Waiting up to 600 s for PostgreSQL. ')
    expect(told[0]).not.toContain('s3cret')
  })

  test('a start does not wait for a server of another kind', async () => {
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('no') })
    const url = `postgres://a@127.0.0.1:${server.port}/d`
    await expect(reach(url, { patience: 600_000 })).rejects.toThrow('is no PostgreSQL')
    await server.stop(true)
  })

  test('a missing certificate file is named', () => {
    expect(() => reach('postgres://a@db/d?sslrootcert=/missing/ca.pem')).toThrow(
      '/missing/ca.pem, which the address names, cannot be read',
    )
  })
})

test('the remedy for an expired certificate is to renew it, not another authority', () => {
  const parsed = databaseUrl('postgres://a@db/d')
  if ('problem' in parsed) throw new Error(parsed.problem)
  const cause = Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' })
  const words = explainUnreachable(parsed.value, cause)?.error.message
  expect(words).toContain('Renew ssl_cert_file')
  expect(words).not.toContain('sslrootcert')
})

test.each([
  ['UNKNOWN_CA', 'TLSV1_ALERT_UNKNOWN_CA'],
  ['an expired one', 'SSLV3_ALERT_CERTIFICATE_EXPIRED'],
  ['none where one is required', 'TLSV13_ALERT_CERTIFICATE_REQUIRED'],
])('a server that refuses this machine’s certificate (%s) is explained', (_, alert) => {
  const parsed = databaseUrl('postgres://a@db/d?sslcert=/etc/node.pem&sslkey=/etc/node.key')
  if ('problem' in parsed) throw new Error(parsed.problem)
  const cause = Object.assign(new Error(`error:10000418:SSL routines:OPENSSL_internal:${alert}`), {
    code: 'EPROTO',
  })
  const words = explainUnreachable(parsed.value, cause)?.error.message
  expect(words).toStartWith(
    'postgres://db:5432/d: it refuses the certificate of this machine (/etc/node.pem)',
  )
  expect(words).toContain('ssl_ca_file')
})

test.each([
  ['57P05', 'idle_session_timeout'],
  ['25P03', 'idle_in_transaction_session_timeout'],
])('the setting that ends connections before their first statements is named (%s)', (errno, setting) => {
  const parsed = databaseUrl('postgres://a@db/d')
  if ('problem' in parsed) throw new Error(parsed.problem)
  const cause = Object.assign(new Error('terminating connection'), {
    code: 'ERR_POSTGRES_SERVER_ERROR',
    errno,
  })
  const { error, mayPass } = explainUnreachable(parsed.value, cause) ?? {}
  expect(error?.message).toContain('it ends a new connection before its first statements')
  expect(error?.message).toContain(setting)
  expect(mayPass).toBe(true)
})

test('a database that was emptied under its nodes is reported in plain words', () => {
  const parsed = databaseUrl('postgres://a@db/d')
  if ('problem' in parsed) throw new Error(parsed.problem)
  const words = { code: 'ERR_POSTGRES_SERVER_ERROR', errno: '42P01' }
  const cause = Object.assign(new Error('relation "instance" does not exist'), words)
  const { error, mayPass } = explainUnreachable(parsed.value, cause) ?? {}
  expect(error?.message).toContain('it has no tables of Oncebox any more')
  expect(mayPass).toBe(true)
})

test('an unknown TLS failure still names the server', () => {
  const parsed = databaseUrl('postgres://a@db/d')
  if ('problem' in parsed) throw new Error(parsed.problem)
  const cause = Object.assign(new Error('WRONG_VERSION_NUMBER'), { code: 'EPROTO' })
  const words = explainUnreachable(parsed.value, cause)?.error.message
  expect(words).toBe('postgres://db:5432/d: it cannot be used (WRONG_VERSION_NUMBER).')
})

test('a file without certificate, or with the key of another one, is named', () => {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-pem-'))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const cert = file('cert.pem', testCertificate)
  const rubbish = file('rubbish.pem', 'no certificate')
  const tryFiles = (query: string) => () => reach(`postgres://a@db/d?${query}`)
  expect(tryFiles(`sslrootcert=${rubbish}`)).toThrow(`${rubbish}: needed are certificates in PEM`)
  expect(tryFiles(`sslcert=${cert}&sslkey=${rubbish}`)).toThrow(`${cert}, ${rubbish}: needed are`)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = file('key.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
  expect(tryFiles(`sslcert=${cert}&sslkey=${key}`)).toThrow(`${cert}, ${key}: needed are`)
  rmSync(folder, { recursive: true })
})

needs('postgres').describe('with a server', () => {
  let server: DatabaseServer
  let database: ServerDatabase
  beforeAll(async () => {
    server = await startDatabaseServer('postgres')
    database = await server.newDatabase()
  })
  afterAll(async () => {
    await database?.close()
    await server?.stop()
  })

  const url = (query: string) => `${database.address}?${query}`

  test('TLS is verified unless the address says otherwise', async () => {
    await expect(reach(database.address, { patience: 600_000 })).rejects.toThrow('certificate is not trusted')
    await reach(url(`sslrootcert=${server.authority}`))
    await reach(url('sslmode=require'))
    await reach(url('sslmode=disable'))
  })

  test('a name that is not in the certificate is refused', async () => {
    const other = url(`sslrootcert=${server.authority}`).replace('127.0.0.1', 'localhost')
    await expect(reach(other)).rejects.toThrow('a name that is in the certificate (here localhost)')
  })

  test('a wrong password and a missing database are reported at once, with the remedy', async () => {
    const patience = 600_000
    const wrong = `postgres://pwpush:guess@127.0.0.1:${server.port}/${database.name}?sslmode=disable`
    await expect(reach(wrong, { patience })).rejects.toThrow('it refuses the user "pwpush" or the password')
    const missing = url('sslmode=disable').replace(`/${database.name}`, '/missing')
    await expect(reach(missing, { patience })).rejects.toThrow('CREATE DATABASE "missing" OWNER "pwpush"')
  })

  test('a start waits for a server that starts later', async () => {
    const proxy = await startFaultProxy(server.port)
    proxy.set('reset')
    const told: string[] = []
    const onWait = (why: string) => {
      told.push(why)
      proxy.set('pass')
    }
    const later = url('sslmode=disable').replace(`:${server.port}/`, `:${proxy.port}/`)
    await reach(later, { patience: 600_000, onWait })
    await proxy.close()
    expect(told).toHaveLength(1)
  })
})
