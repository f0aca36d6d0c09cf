// Settings for sign-in by others that are refused at the start, each with a remedy.

import { expect, test } from 'bun:test'
import { readConfig } from '../../src/settings/fold.ts'

const os = { env: {}, platform: 'linux', home: '/nowhere', cwd: '/nowhere' } as const

function problemsOf(flags: Record<string, string>): string {
  const given = Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, [value]]))
  return readConfig({ flags: given, os, readFile: () => '' }).problems?.join('\n') ?? ''
}

const GOOD = {
  'oidc-issuer': 'https://id.example/realms/staff',
  'oidc-client-id': 'oncebox',
  'base-url': 'https://once.example',
}

test('a provider needs an https base URL, except on loopback', () => {
  expect(problemsOf(GOOD)).toBe('')
  for (const url of ['http://localhost:5100', 'http://127.0.0.1:5100', 'http://[::1]:5100'])
    expect(problemsOf({ ...GOOD, 'base-url': url })).toBe('')
  expect(problemsOf({ ...GOOD, 'base-url': 'http://once.example' })).toContain('--base-url with https://')
  const { 'base-url': _, ...without } = GOOD
  expect(problemsOf(without)).toContain('--base-url with https://')
})

test.each([
  [{ 'oidc-issuer': 'http://id.example' }, 'must be an https URL'],
  [{ 'oidc-issuer': 'https://ann:secret@id.example' }, 'must be an https URL'],
  [{ 'oidc-issuer': 'https://id.example/?tenant=1' }, 'must be an https URL'],
  [{ 'oidc-issuer': 'http://127.0.0.1.evil.example' }, 'must be an https URL'],
  [{ 'oidc-issuer': 'https://login.microsoftonline.com/common/v2.0' }, 'your own tenant'],
  [{ 'oidc-issuer': 'https://sts.windows.net/common/' }, 'your own tenant'],
  [{ 'oidc-issuer': 'https://login.partner.microsoftonline.cn/organizations/v2.0' }, 'your own tenant'],
  [{ 'oidc-admin-group': 'admins' }, 'a claim and its value'],
  [{ 'break-glass': 'root' }, 'must be an e-mail address'],
  [{ 'session-hours': '0' }, 'from 1 to 720'],
  [{ 'token-pause-days': '-1' }, 'from 0 to 3650'],
  [{ 'password-sign-in': 'no' }, 'needs --break-glass'],
  [{ 'password-sign-in': 'admin' }, 'needs --break-glass'],
  [{ 'password-sign-in': 'no', 'break-glass': 'a@b', signups: 'true' }, '--oidc-signup yes'],
])('refuses the flags %p', (flags, words) => {
  expect(problemsOf({ ...GOOD, ...flags })).toContain(words)
})

test('settings of a provider need one', () => {
  for (const flags of [{ 'oidc-signup': 'yes' }, { 'oidc-client-id': 'x' }, { 'oidc-admin-group': 'a=b' }])
    expect(problemsOf(flags)).toContain('need --oidc-issuer')
  expect(problemsOf({ 'password-sign-in': 'no', 'break-glass': 'a@b' })).toContain('needs --oidc-issuer')
  const { 'oidc-client-id': _, ...without } = GOOD
  expect(problemsOf(without)).toContain('needs --oidc-client-id')
})

test('a header needs the Unix socket or a secret', () => {
  expect(problemsOf({ 'auth-header': 'Remote-Email' })).toContain('--host unix: or --auth-header-secret-file')
  expect(problemsOf({ 'auth-header': 'Remote-Email', host: '127.0.0.1' })).toContain('any program')
  expect(problemsOf({ 'auth-header': 'Remote-Email', host: 'unix:/run/oncebox/http.sock' })).toBe('')
  expect(problemsOf({ 'auth-header': 'Remote-Email', 'auth-header-secret-file': '/run/secret' })).toBe('')
  expect(problemsOf({ 'auth-header-secret-file': '/run/secret' })).toContain('needs --auth-header')
  for (const name of [
    'Cookie',
    'Host',
    'X-Forwarded-For',
    'a b',
    '',
    'X-Oncebox-Proxy-Secret',
    'Sec-Fetch-Site',
    'Accept-Language',
    'X-Push-Passphrase',
  ])
    expect(problemsOf({ 'auth-header': name, 'auth-header-secret-file': '/run/secret' })).not.toBe('')
})
