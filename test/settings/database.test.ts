// The settings of the database server: its address, the settings it needs, and that its password is not
// shown.

import { expect, test } from 'bun:test'
import { databaseSettingsOf } from '../../src/settings/database.ts'
import { readConfig } from '../../src/settings/fold.ts'

const URL = 'postgres://oncebox:s3cret@db.example/boxes'
const KEY = { 'key-file': ['/keys/instance.key'] }
const FLAGS = { 'database-url': [URL], ...KEY }

function read(flags: Record<string, string[]>, env: Record<string, string> = {}) {
  const os = { env, platform: 'linux', home: '/home/ann', cwd: '/' } as const
  const files: Record<string, string> = { '/run/url': `${URL}\n`, '/run/password': 'from-file\n' }
  return readConfig({ flags, os, readFile: (path) => files[path] ?? '' })
}

function settingsOf(flags: Record<string, string[]>, env: Record<string, string> = {}) {
  const { config, problems } = read(flags, env)
  if (config === undefined) throw new Error(problems?.join('\n'))
  return databaseSettingsOf(config)
}

const addressOf = (url: string) => settingsOf({ ...KEY, 'database-url': [url] })?.address
const shownOf = (url: string) =>
  read({ ...KEY, 'database-url': [url] }).entries?.find(({ setting }) => setting.flag === 'database-url')
    ?.text

test('without an address the database is in the data folder', () => {
  expect(settingsOf({})).toBeNull()
  expect(settingsOf({}, { PGPASSWORD: 'of-another-program', DATABASE_URL: URL })).toBeNull()
})

test('the address comes from a flag, a variable or a file', () => {
  const wanted = { host: 'db.example', port: 5432, user: 'oncebox', password: 's3cret', database: 'boxes' }
  expect(settingsOf(FLAGS)?.address).toMatchObject(wanted)
  expect(settingsOf(KEY, { ONCEBOX_DATABASE_URL: URL })?.address).toMatchObject(wanted)
  expect(settingsOf(KEY, { ONCEBOX_DATABASE_URL_FILE: '/run/url' })?.address).toMatchObject(wanted)
})

test('a separate password takes precedence over the one in the address', () => {
  const passwordOf = (env: Record<string, string>) => settingsOf(FLAGS, env)?.address.password
  const file = { ONCEBOX_DATABASE_PASSWORD_FILE: '/run/password' }
  expect(passwordOf({})).toBe('s3cret')
  expect(passwordOf(file)).toBe('from-file')
  expect(passwordOf({ ...file, ONCEBOX_DATABASE_PASSWORD: ' with blanks ' })).toBe(' with blanks ')
  expect(passwordOf({ PGPASSWORD: 'of-psql' })).toBe('s3cret')
})

test('TLS is verified completely unless the address says otherwise, and a socket needs none', () => {
  expect(addressOf('postgres://a@db/d')?.tls.mode).toBe('verify-full')
  expect(addressOf('postgres://a@127.0.0.1/d')?.tls.mode).toBe('verify-full')
  expect(addressOf('postgres://a@db/d?sslmode=require')?.tls.mode).toBe('require')
  expect(addressOf('postgres://a@db/d?sslmode=disable')?.tls.mode).toBe('disable')
  expect(addressOf('postgres://a@db/d?sslrootcert=/ca.pem')?.tls).toMatchObject({
    mode: 'verify-full',
    ca: '/ca.pem',
  })
  expect(addressOf('postgres://a@/d?host=/run/postgresql')).toMatchObject({
    socket: '/run/postgresql',
    tls: { mode: 'disable' },
  })
})

test.each([
  ['a word', 'db.example', 'must be such as postgres://'],
  ['another scheme', 'http://a@db/d', 'must be such as postgres://'],
  ['MySQL', 'mysql://a@db/d', 'for imports only'],
  ['no database', 'postgres://a@db', 'names no database'],
  ['no user', 'postgres://db/d', 'must name the user'],
  ['a port that is none', 'postgres://a@db:70000/d', 'port from 1 to 65535'],
  ['a database with NUL', 'postgres://a@db/d%00', 'must have no NUL'],
  ['a user with NUL', 'postgres://a%00@db/d', 'must have no NUL'],
  ['an unknown TLS mode', 'postgres://a@db/d?sslmode=strict', 'TLS mode'],
  ['a TLS mode that may skip TLS', 'postgres://a@db/d?sslmode=prefer', 'make the others skip TLS'],
  ['another such TLS mode', 'postgres://a@db/d?sslmode=allow', 'make the others skip TLS'],
  ['an authority without TLS', 'postgres://a@db/d?sslmode=disable&sslrootcert=/ca.pem', 'no certificates'],
  ['an IPv6 address without brackets', 'postgres://a@::1:5432/d', 'IPv6 address in brackets'],
  ['a schema of its own', 'postgres://a@db/d?search_path=boxes', 'schema oncebox'],
  ['a list of hosts', 'postgres://a@db,db2/d?target_session_attrs=read-write', 'names several hosts'],
  ['a list of hosts behind the question mark', 'postgres://a@/d?host=/run/a,db2', 'names several hosts'],
  ['a mistyped option for TLS', 'postgres://a@db/d?sslrotcert=/ca.pem', 'no options but'],
  ['an option for TLS that would not hold', 'postgres://a@db/d?sslcrl=/crl.pem', 'no options but'],
  ['a promise that would not be kept', 'postgres://a@db/d?channel_binding=require', 'no options but'],
  ['a mistyped option', 'postgres://a@db/d?target_sesion_attrs=primary', 'no options but'],
  ['a ? within the password', 'postgres://a:s3cr?et@db/d', 'must be such as'],
  ['half a client certificate', 'postgres://a@db/d?sslcert=/c.pem', 'both sslcert and sslkey'],
])('%s is refused, and not repeated', (_, url, words) => {
  const told = read({ ...KEY, 'database-url': [url] }).problems?.join('\n')
  expect(told).toContain(words)
  expect(told).toStartWith('--database-url (hidden): ')
})

test('harmless options of libpq and Rails are ignored', () => {
  const options =
    'application_name=boxes&connect_timeout=5&keepalives=1&prepared_statements=false&pool=5&target_session_attrs=primary'
  expect(addressOf(`postgres://a@db/d?${options}&SSLMode=require`)?.tls.mode).toBe('require')
})

test('--accept-database is for a database server', () => {
  expect(read({ 'accept-database': ['true'] }).problems?.join()).toContain(
    '--accept-database needs --database-url',
  )
  expect(read({ ...FLAGS, 'accept-database': ['true'] }).problems).toBeUndefined()
})

test('a database server needs a key file, and the message says how to create one', () => {
  const [told = '', ...others] = read({ 'database-url': [URL] }).problems ?? []
  expect(others).toEqual([])
  expect(told).toContain('--database-url needs --key-file')
  expect(told).toContain('oncebox key new FILE')
})

test.each([
  ['--backup-dir', { 'backup-dir': ['/backups'] }, 'pg_dump'],
  ['--accept-move', { 'accept-move': ['true'] }, 'expire-all'],
])('%s is for a data folder, and refused with a database server', (flag, flags, words) => {
  const told = read({ ...FLAGS, ...flags }).problems?.join('\n')
  expect(told).toStartWith(`${flag} is for a database in the data folder`)
  expect(told).toContain(words)
})

test('the address is shown without its password, and with the TLS mode in effect', () => {
  expect(shownOf(URL)).toBe('postgres://oncebox@db.example:5432/boxes?sslmode=verify-full')
  expect(shownOf('postgres://a:p@[::1]:99/d?sslmode=require&password=q')).toBe(
    'postgres://a@[::1]:99/d?sslmode=require',
  )
  expect(shownOf('postgres://a:p@/d')).toBe('postgres://a@/d?host=/var/run/postgresql&port=5432')
  const { entries } = read(FLAGS, { ONCEBOX_DATABASE_PASSWORD: 'apart' })
  expect(JSON.stringify(entries?.map(({ text }) => text))).not.toMatch(/s3cret|apart/)
})

test('warns of a password on the command line only', () => {
  expect(read(FLAGS).warnings.join()).toContain('ONCEBOX_DATABASE_PASSWORD_FILE')
  expect(read({ 'database-url': ['postgres://a@db/d'], ...KEY }).warnings).toEqual([])
  expect(read(KEY, { ONCEBOX_DATABASE_URL: URL }).warnings).toEqual([])
})
