// The meaning of a store's answer, by its status and the code in its body.

import { expect, test } from 'bun:test'
import { explainBreak, explainRefusal } from '../../../src/store/s3/failures.ts'

function explain(method: string, status: number, code = '', members = '') {
  const body = code === '' ? '' : `<Error><Code>${code}</Code>${members}</Error>`
  return explainRefusal({ method, status, headers: new Headers(), body })
}

test.each([
  ['GET', 404, 'NoSuchKey', 'missing'],
  ['POST', 404, 'NoSuchUpload', 'missing'],
  ['GET', 403, '', 'refused'],
  ['GET', 404, '', 'refused'],
  ['GET', 404, 'NoSuchBucket', 'refused'],
  ['GET', 403, 'AccessDenied', 'refused'],
  ['PUT', 507, '', 'full'],
  ['PUT', 403, 'QuotaExceeded', 'full'],
  ['GET', 501, '', 'refused'],
  ['GET', 400, 'NotImplemented', 'refused'],
  ['PUT', 503, 'SlowDown', 'failing'],
  ['PUT', 400, 'RequestTimeout', 'failing'],
  ['GET', 500, '', 'failing'],
  ['GET', 301, '', 'refused'],
])('%s answered with %p %s is %s', (method, status, code, kind) => {
  expect(explain(method, status, code)).toMatchObject({ kind })
})

test('the message says what to correct', () => {
  expect(explain('GET', 404, 'NoSuchBucket').message).toBe('there is no such bucket')
  expect(explain('GET', 400, 'AuthorizationHeaderMalformed', '<Region>eu-2</Region>').message).toBe(
    'the bucket is in another region, or at another endpoint: correct --files-url (AuthorizationHeaderMalformed eu-2)',
  )
  expect(explain('GET', 401).message).toBe('it refuses the access keys, or they may not do this (GET, 401)')
  expect(explain('GET', 307).message).toContain('at another endpoint')
  expect(explain('GET', 418).message).toBe('it answers 418 to GET')
})

test('a request without a complete answer may be retried', () => {
  const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' })
  expect(explainBreak(refused, 9)).toMatchObject({ kind: 'failing', message: 'nothing listens there' })
  const misnamed = Object.assign(new Error('x'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  expect(explainBreak(misnamed, 9).message).toContain('for another name')
  const late = Object.assign(new Error('x'), { name: 'TimeoutError' })
  expect(explainBreak(late, 9).message).toBe('it did not answer within 9 s')
  expect(explainBreak(late, 0).message).toBe('it did not answer in time')
  const told = explain('GET', 403, 'AccessDenied')
  expect(explainBreak(told, 9)).toBe(told)
})
