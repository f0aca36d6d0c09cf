// What is said of a certificate before it lapses.

import { expect, test } from 'bun:test'
import { createCertificateCheck } from '../../src/lan/certificate-check.ts'

const DAY = 24 * 60 * 60 * 1000

function look({ leaf, authority }: { leaf: number; authority: number | null }) {
  const certificate = {
    current: () => ({ certificate: '', key: '' }),
    validUntil: () => leaf * DAY,
    names: () => [],
    refresh: async () => false,
    authority:
      authority === null
        ? null
        : { certificate: '', der: Buffer.alloc(0), fingerprint: '', validUntil: authority * DAY },
  }
  return createCertificateCheck({ certificate, now: () => 0 }).look()
}

test.each([
  [{ leaf: 8, authority: null }, { todo: null }],
  [{ leaf: 6, authority: null }, { todo: 'The certificate lapses on 1970-01-07: renew it.' }],
  [
    { leaf: -1, authority: null },
    { todo: expect.stringContaining('lapsed on 1969-12-31'), isBlocking: true },
  ],
  [{ leaf: 90, authority: 91 }, { todo: null }],
  [{ leaf: 80, authority: 80 }, { todo: expect.stringContaining('The authority ends on 1970-03-22') }],
])('%j days before their ends it is %j', async (ends, finding) => {
  expect(await look(ends)).toEqual(finding)
})
