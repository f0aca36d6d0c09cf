// The mail server and the sender: refusals, and that no message repeats a password.

import { expect, test } from 'bun:test'
import { readConfig } from '../../src/settings/fold.ts'
import { mailFrom, showSmtpUrl, smtpUrl } from '../../src/settings/mail-parsers.ts'

const os = { env: {}, platform: 'linux', home: '/home/ann', cwd: '/srv' } as const
const server = (text: string) => smtpUrl(text, os)
const usual = { host: 'mail.example', port: 465, isTls: true, login: null, ca: null }

test('the address of a mail server is parsed', () => {
  expect(server('smtps://mail.example')).toEqual({ value: usual })
  expect(server(' smtp://mail.example/ ')).toEqual({ value: { ...usual, port: 587, isTls: false } })
  expect(server('smtps://ann%40x.example:p%40%3Aw@mail.example:4650?ca=ca.pem')).toEqual({
    value: { ...usual, port: 4650, login: { user: 'ann@x.example', pass: 'p@:w' }, ca: '/srv/ca.pem' },
  })
  expect(server('smtps://[::1]:25')).toEqual({ value: { ...usual, host: '::1', port: 25 } })
})

test.each([
  'mail.example',
  'http://mail.example',
  'smtps://',
  'smtps://mail.example/inbox',
  'smtps://mail.example#x',
  'smtps://mail.example?tls=off',
  'smtps://mail.example?ca=',
  'smtps://user:hidden\n@mail.example',
  'smtps://user:%hidden@mail.example',
  'smtps://user@mail.example',
  'smtps://:hidden@mail.example',
  'smtps://user:hid%00den@mail.example',
  `smtps://user:hidden${'x'.repeat(2000)}@mail.example`,
])('refuses %j and quotes none of it', (text) => {
  const parsed = server(text)
  expect(parsed).toMatchObject({ isSecret: true, problem: expect.stringMatching(/^must /) })
  expect(JSON.stringify(parsed)).not.toContain('hid')
})

test('is shown without user and password', () => {
  expect(showSmtpUrl('smtps://ann:hidden@mail.example:4650?ca=/x.pem')).toBe(
    'smtps://mail.example:4650?ca=/x.pem',
  )
})

test('a sender is one address, with or without a name', () => {
  expect(mailFrom('once@example.org', os)).toEqual({
    value: { name: '', address: 'once@example.org' },
  })
  expect(mailFrom(' Ärzte & Co <once@example.org> ', os)).toEqual({
    value: { name: 'Ärzte & Co', address: 'once@example.org' },
  })
  for (const text of [
    'once',
    'a@b, c@d',
    'A <a@b>, B <b@c>',
    'A\r\nBcc: x@y <a@b>',
    'list: a@b;',
    '<a@b>>',
    'a@b\n',
  ])
    if (text !== 'a@b\n') expect(mailFrom(text, os)).toHaveProperty('problem')
})

test('mail needs a sender and a base URL', () => {
  const given = (flags: Record<string, string[]>) =>
    readConfig({ flags, os, readFile: () => '' }).problems ?? []
  const url = ['smtps://mail.example']
  const sender = ['once@example.org']
  const base = ['https://once.example']
  expect(given({ 'smtp-url': url, 'mail-from': sender, 'base-url': base })).toEqual([])
  expect(given({ 'smtp-url': url, 'base-url': base })[0]).toStartWith('--smtp-url and --mail-from need each')
  expect(given({ 'mail-from': sender, 'base-url': base })[0]).toStartWith('--smtp-url and --mail-from need')
  expect(given({ 'smtp-url': url, 'mail-from': sender })[0]).toStartWith('--smtp-url needs --base-url')
})
