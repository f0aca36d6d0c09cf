import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type DatabaseAddress,
  parseDatabaseAddress,
  pathOfSqlite,
  presentDatabaseAddress,
} from '../../src/domain/database-address.ts'

function parse(text: string): DatabaseAddress {
  const address = parseDatabaseAddress(text)
  if (address === null || 'problem' in address) throw new Error(`${text}: ${address?.problem}`)
  return address
}

const problemOf = (text: string) => {
  const address = parseDatabaseAddress(text)
  return address !== null && 'problem' in address ? address.problem : null
}

test('a path is no address', () => {
  for (const path of [
    'production.sqlite3',
    '/opt/storage/db',
    './a:b',
    'C:\\db.sqlite3',
    'a@b/c',
    'file:///db',
  ])
    expect(parseDatabaseAddress(path)).toBeNull()
})

test('a file may be named in the notation of Rails', () => {
  for (const [text, path] of [
    ['db/x.sqlite3', 'db/x.sqlite3'],
    ['sqlite3:db/x.sqlite3', 'db/x.sqlite3'],
    ['sqlite3://db/x.sqlite3?pool=5', 'db/x.sqlite3'],
    ['sqlite3:///opt/x.sqlite3', '/opt/x.sqlite3'],
  ] as const) {
    expect(parseDatabaseAddress(text)).toBeNull()
    expect(pathOfSqlite(text)).toBe(path)
  }
})

test.each([
  ['postgres', 'postgres', 5432],
  ['postgresql', 'postgres', 5432],
  ['POSTGRES', 'postgres', 5432],
  ['mysql', 'mysql', 3306],
  ['mysql2', 'mysql', 3306],
  ['mariadb', 'mysql', 3306],
  ['trilogy', 'mysql', 3306],
])('%s:// is %s, on port %i unless it says otherwise', (scheme, engine, port) => {
  const plain = { host: 'db', user: 'u', password: 'p', database: 'd', socket: null }
  expect(parse(`${scheme}://u:p@db/d`)).toMatchObject({ ...plain, engine: engine as 'mysql', port })
  expect(parse(`${scheme}://u:p@db:99/d?pool=5&encoding=unicode`)).toMatchObject({ ...plain, port: 99 })
})

test('user, password and database survive any escaping (property)', () => {
  const word = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }).map((text) => text.toWellFormed())
  fc.assert(
    fc.property(word, word, word, (user, password, database) => {
      const [u, p, d] = [user, password, database].map(encodeURIComponent)
      expect(parse(`postgres://${u}:${p}@[::1]:5433/${d}`)).toMatchObject({
        ...{ user, password, database, host: '::1', port: 5433 },
      })
    }),
  )
})

test('an unescaped password is taken literally', () => {
  expect(parse('mysql2://root:p@ss:w/rd#1%@db:3306/pwpush')).toMatchObject({
    ...{ user: 'root', password: 'p@ss:w/rd#1%', host: 'db', database: 'pwpush' },
  })
})

test('a socket may be named in the notation of libpq, Rails and MySQL', () => {
  expect(parse('postgres:///pwpush')).toMatchObject({
    socket: '/var/run/postgresql',
    user: null,
    password: null,
  })
  expect(parse('postgres:///pwpush?host=/tmp/s&port=6000')).toMatchObject({ socket: '/tmp/s', port: 6000 })
  expect(parse('postgresql://u@%2Ftmp%2Fs/pwpush')).toMatchObject({ socket: '/tmp/s', user: 'u' })
  expect(parse('mysql2://u:p@/pwpush?socket=/run/my.sock')).toMatchObject({
    socket: '/run/my.sock',
    user: 'u',
  })
  expect(parse('mysql2:///pwpush')).toMatchObject({ socket: '/run/mysqld/mysqld.sock' })
})

test.each([
  ['', { mode: 'prefer', ca: null }],
  ['sslmode=require', { mode: 'require', ca: null }],
  ['sslmode=disable', { mode: 'disable' }],
  [
    'sslmode=verify-full&sslrootcert=/ca.pem&sslcert=/c.pem&sslkey=/k.pem',
    { mode: 'verify-full', ca: '/ca.pem', cert: '/c.pem', key: '/k.pem' },
  ],
  ['sslmode=require&sslrootcert=/ca.pem', { mode: 'verify-ca', ca: '/ca.pem' }],
  ['sslrootcert=system', { mode: 'verify-full', ca: null }],
  ['ssl_mode=VERIFY_IDENTITY&sslca=/ca.pem', { mode: 'verify-full', ca: '/ca.pem' }],
  ['ssl-mode=verify_ca&ssl-ca=/ca.pem', { mode: 'verify-ca', ca: '/ca.pem' }],
  ['ssl_mode=REQUIRED', { mode: 'require' }],
  ['ssl_mode=preferred', { mode: 'prefer' }],
  ['sslca=/ca.pem', { mode: 'verify-full', ca: '/ca.pem' }],
  ['sslverify=true', { mode: 'verify-full' }],
  ['ssl=true', { mode: 'require' }],
])('reads the TLS options %s', (query, expected) => {
  expect(parse(`mysql://u:p@db/d?${query}`).tls).toMatchObject(expected as DatabaseAddress['tls'])
})

test.each([
  ['ssl=true', 'verify-full'],
  ['ssl=1', 'verify-full'],
  ['tls=true', 'verify-full'],
  ['sslmode=require', 'require'],
])('if TLS is verified by default, %s means %s', (query, mode) => {
  expect(parseDatabaseAddress(`postgres://u@db/d?${query}`, 'verify-full')).toMatchObject({ tls: { mode } })
})

test('the schemas may be named in the notation of Rails, PostgreSQL or libpq', () => {
  const pathOf = (query: string) => parse(`postgres://u@db/d?${query}`).searchPath
  expect(pathOf('schema_search_path=pw,public')).toBe('pw,public')
  expect(pathOf('search_path=pw')).toBe('pw')
  expect(pathOf('options=-c%20statement_timeout%3D5s%20-csearch_path%3Dpw')).toBe('pw')
  expect(pathOf('pool=5')).toBeNull()
})

test('an invalid address is refused without repeating its password', () => {
  expect(problemOf('oracle://u:secret@db/d')).toContain('oracle:// is not known')
  expect(problemOf('postgres://u:secret@db')).toContain('names no database')
  expect(problemOf('postgres://u:secret@db/')).toContain('names no database')
  expect(problemOf('postgres://u:secret@db:port/d')).toContain('postgres://USER@HOST:PORT/DATABASE')
  expect(problemOf('postgres://u:secret@db/d?sslmode=maybe')).toContain('must be one of disable')
  for (const text of ['oracle://u:secret@db/d', 'postgres://u:secret@db', 'postgres://u:secret@db:x/d'])
    expect(problemOf(text)).not.toContain('secret')
})

test.each([
  'postgres://u:secret@h1:1,h2:2/d',
  'postgres://u:secret@[::1]:1,h2/d',
  'postgres://u:secret@/d?host=h1,h2',
  'postgres://u:secret@h1/d?port=1,2',
  'mysql://u:secret@h1,h2/d',
])('a list of hosts is refused, with what to name instead: %s', (address) => {
  expect(problemOf(address)).toContain('names several hosts: name one, such as that of a proxy')
  expect(problemOf(address)).not.toContain('secret')
})

test('a plus in the query means a plus', () => {
  expect(parse('postgres://u@db/d?sslrootcert=/etc/a+b%20c.pem').tls.ca).toBe('/etc/a+b c.pem')
})

test('messages name the server and the database, never the login', () => {
  expect(presentDatabaseAddress(parse('postgres://u:secret@[::1]:2/d'))).toBe('postgres://[::1]:2/d')
  expect(presentDatabaseAddress(parse('mysql2://u:secret@db:3307/d?ssl=1'))).toBe('mysql://db:3307/d')
  expect(presentDatabaseAddress(parse('postgres://u:secret@/d?host=/tmp'))).toBe('postgres://d at /tmp')
})
