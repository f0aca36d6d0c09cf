// Which addresses of a provider are trusted, and the meaning of its other claims.

import { expect, test } from 'bun:test'
import {
  isFreshAt,
  isInGroup,
  isMultiFactor,
  type ProviderClaims,
  verifiedAddress,
} from '../../src/domain/identity.ts'

const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const of = (iss: string, claims: object): ProviderClaims => ({
  iss,
  sub: 's',
  email: 'Ann@Example.org',
  ...claims,
})
const ANN = 'ann@example.org'

test.each([true])('an address counts if the provider says that it is verified', (verified) => {
  expect(verifiedAddress(of('https://id.example', { email_verified: verified }), [])).toBe(ANN)
})

test.each([false, 'true', 1, null, undefined])(
  'email_verified %p is not accepted as verified',
  (verified) => {
    expect(verifiedAddress(of('https://id.example', { email_verified: verified }), [])).toBeNull()
  },
)

test.each([7, null, undefined, 'ann', '', 'a@b, c@d', 'ann@exa mple.org'])(
  'the address %p is none',
  (email) => {
    expect(verifiedAddress(of('https://id.example', { email, email_verified: true }), [])).toBeNull()
  },
)

test('Entra vouches for an address only by xms_edov, and only the own tenant', () => {
  const own = `https://login.microsoftonline.com/${TENANT}/v2.0`
  expect(verifiedAddress(of(own, { xms_edov: true }), [])).toBe(ANN)
  expect(verifiedAddress(of(own, { xms_edov: '1' }), [])).toBe(ANN)
  for (const claims of [
    {},
    { email_verified: true },
    { xms_edov: false },
    { xms_edov: '0' },
    { xms_edov: 0 },
  ])
    expect(verifiedAddress(of(own, claims), [])).toBeNull()
  const foreign = [
    'common',
    'organizations',
    'consumers',
    '9188040d-6c67-4b5b-b112-36a304b66dad',
    '{tenantid}',
  ]
  for (const tenant of foreign)
    expect(
      verifiedAddress(of(`https://login.microsoftonline.com/${tenant}/v2.0`, { xms_edov: true }), []),
    ).toBeNull()
})

test('Google vouches for an address only of a listed domain of its own', () => {
  const look = (claims: object, domains: string[]) =>
    verifiedAddress(of('https://accounts.google.com', { email_verified: true, ...claims }), domains)
  expect(look({ hd: 'example.org' }, ['example.org'])).toBe(ANN)
  expect(look({ hd: 'example.org' }, ['example.com'])).toBeNull()
  expect(look({ hd: 'example.org' }, [])).toBeNull()
  expect(look({}, ['example.org'])).toBeNull()
  expect(look({ hd: 'example.org', email_verified: false }, ['example.org'])).toBeNull()
})

test('a group is a value or one of a list, exactly, and never elsewhere', () => {
  const rule = { claim: 'groups', value: 'admins' }
  const look = (claims: object) => isInGroup(of('https://id.example', claims), rule)
  expect([look({ groups: ['x', 'admins'] }), look({ groups: 'admins' })]).toEqual([true, true])
  for (const groups of [undefined, null, [], ['Admins'], 'admins,x', { admins: true }, [['admins']], true])
    expect(look({ groups })).toBe(false)
  expect(look({ groups: ['admins'], _claim_names: { groups: 'src1' } })).toBe(false)
  expect(look({ groups: ['admins'], _claim_names: { roles: 'src1' } })).toBe(true)
  expect(isInGroup(of('https://id.example', {}), { claim: 'toString', value: 'x' })).toBe(false)
})

test('only mfa in amr is a second factor', () => {
  expect(isMultiFactor(of('x', { amr: ['pwd', 'mfa'] }))).toBe(true)
  for (const amr of ['mfa', ['pwd', 'otp'], undefined, { mfa: true }])
    expect(isMultiFactor(of('x', { amr }))).toBe(false)
})

test('an authentication is fresh during a visit, give or take a minute; without a time it is unknown', () => {
  const start = 1_000_000_000_000
  const now = start + 30_000
  const look = (auth_time: unknown) => isFreshAt(of('x', { auth_time }), { startedAt: start, now })
  expect([look(start / 1000), look(start / 1000 - 60), look(start / 1000 - 61)]).toEqual([true, true, false])
  expect([look(now / 1000 + 60), look(now / 1000 + 61), look(1e300)]).toEqual([true, false, false])
  expect([look(undefined), look(null), look('1e9'), look(Number.NaN)]).toEqual([null, null, false, false])
})
