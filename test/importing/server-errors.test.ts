import { expect, test } from 'bun:test'
import { parseDatabaseAddress } from '../../src/domain/database-address.ts'
import { DomainError } from '../../src/domain/errors.ts'
import { explainServer } from '../../src/importing/source/server-errors.ts'

function explain(cause: unknown, scheme = 'postgres'): string {
  const address = parseDatabaseAddress(`${scheme}://ann:secret@db/pwpush`)
  if (address === null || 'problem' in address) throw new Error('no address')
  const explained = explainServer(address, cause)
  expect(explained).toBeInstanceOf(DomainError)
  return (explained as DomainError).message
}

const error = (code: string, parts: object = {}) =>
  Object.assign(new Error('the words of the client'), { code, ...parts })

test.each([
  ['ERR_POSTGRES_CONNECTION_REFUSED', 'nothing answers there'],
  ['ERR_MYSQL_CONNECTION_TIMEOUT', 'nothing answers there'],
  ['ERR_MYSQL_CONNECTION_CLOSED', 'the connection was lost'],
  ['ERR_POSTGRES_TLS_NOT_AVAILABLE', 'does not speak TLS'],
  ['ERR_MYSQL_AUTHENTICATION_FAILED', 'perhaps it does not speak TLS'],
  ['ERR_MYSQL_PUBLIC_KEY_RETRIEVAL_NOT_ALLOWED', 'connect over TLS, a socket or the loopback address'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is not trusted'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is not trusted'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'its certificate is not trusted'],
  ['ERR_POSTGRES_UNEXPECTED_MESSAGE', 'is it a server of PostgreSQL?'],
  ['ERR_POSTGRES_SYNTAX_ERROR', 'it cannot be read'],
])('the error %s is explained with %s', (code, words) => {
  const message = explain(error(code))
  expect(message).toContain(words)
  expect(message).toStartWith('postgres://db:5432/pwpush: ')
  expect(message).toEndWith('(the words of the client.) Nothing was imported.')
})

test.each([
  ['28P01', 'it refuses the user "ann" or the password'],
  [1045, 'it refuses the user "ann" or the password'],
  ['3D000', 'there is no database "pwpush"'],
  [1049, 'there is no database "pwpush"'],
  ['42501', 'may not read its tables'],
  [1142, 'may not read its tables'],
  ['57P01', 'the connection was lost'],
])('the server says %s: %s', (errno, words) => {
  expect(explain(error('ERR_POSTGRES_SERVER_ERROR', { errno }))).toContain(words)
})

test('other engines are named, and Oncebox’s own errors stay unchanged', () => {
  expect(explain(error('ERR_MYSQL_MALFORMED_PACKET'), 'mysql2')).toContain(
    'is it a server of MySQL or MariaDB?',
  )
  const address = parseDatabaseAddress('mysql://ann@db/pwpush')
  if (address === null || 'problem' in address) throw new Error('no address')
  for (const own of [new DomainError('conflict', 'x'), new TypeError('a mistake'), 'text'])
    expect(explainServer(address, own)).toBe(own)
})
