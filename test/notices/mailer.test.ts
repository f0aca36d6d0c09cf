// Sending mails: the message on the wire, and the reasons of a failure.

import { afterEach, expect, test } from 'bun:test'
import { type AddressInfo, createServer } from 'node:net'
import {
  type MailFacts,
  type MailText,
  writeAccountLink,
  writeEvent,
  writeLinkMail,
} from '../../src/notices/mail-texts.ts'
import { createMailer, type Mail } from '../../src/notices/mailer.ts'
import { smtpUrl } from '../../src/settings/mail-parsers.ts'
import { SOME_LANGUAGES } from '../support/languages.ts'
import { headerOf, type MailServer, type MailServerOptions, startMailServer } from '../support/mail-server.ts'

const place = { env: {}, platform: 'linux', home: '/home/ann', cwd: '/srv' } as const
const MAIL: Mail = {
  to: 'bob@example.org',
  subject: 'Grüße',
  text: 'Schöne Grüße\n\nhttps://x/p/y\n',
  id: 'abc',
  language: 'de',
}

let server: MailServer | null = null
afterEach(async () => {
  await server?.stop()
  server = null
})

async function start(options: MailServerOptions = {}): Promise<MailServer> {
  server = await startMailServer(options)
  return server
}

function mailerFor(url: string, name = 'Ärzte & Co', hostName = 'once.example') {
  const parsed = smtpUrl(url, place)
  if (!('value' in parsed)) throw new Error(parsed.problem)
  return createMailer({
    server: parsed.value,
    from: { name, address: 'once@example.org' },
    hostName,
  })
}

test.each([{ isTls: true }, { isTls: false }])('a mail arrives unchanged (%j)', async (options) => {
  const { url, mails } = await start({ ...options, login: { user: 'u@x', pass: 'p:%w' } })
  expect(await mailerFor(url).send(MAIL)).toBeNull()
  const [mail] = mails
  if (mail === undefined) throw new Error('no mail')
  expect([mail.from, mail.to, mail.text]).toEqual(['once@example.org', ['bob@example.org'], MAIL.text.trim()])
  expect(headerOf(mail, 'from')).toBe('Ärzte & Co <once@example.org>')
  expect(headerOf(mail, 'subject')).toBe('Grüße')
  expect(headerOf(mail, 'message-id')).toBe('<abc@once.example>')
  expect(headerOf(mail, 'auto-submitted')).toBe('auto-generated')
  expect(headerOf(mail, 'x-mailer')).toBe('')
  expect(headerOf(mail, 'content-language')).toBe('de')
})

test.each([
  ['http://192.0.2.7:5100', '[192.0.2.7]'],
  ['http://[2001:db8::7]', '[IPv6:2001:db8::7]'],
  ['https://192.example', '192.example'],
])('the server at %s introduces itself as %s', async (baseUrl, name) => {
  const { url, mails, connections } = await start()
  expect(await mailerFor(url, 'x', new URL(baseUrl).hostname).send(MAIL)).toBeNull()
  // The test server keeps the name in lower case.
  expect(connections).toMatchObject([{ openingCommand: 'EHLO', hostNameAppearsAs: name.toLowerCase() }])
  const [mail] = mails
  expect(mail && headerOf(mail, 'message-id')).toBe(`<abc@${name}>`)
})

const HOME = `https://secrets.${'department.'.repeat(9)}example/oncebox`
const LINK = `${HOME}/p/7k3m9qx2vn4t8bw5hj6r0yzacd/r`
const MAILS: [string, (writing: MailFacts) => MailText][] = [
  [
    'the link of a push',
    (writing) =>
      writeLinkMail(
        { link: LINK, sender: `${'s'.repeat(60)}@x`, views: 7, expiresAt: 0, passphraseRequired: true },
        writing,
      ),
  ],
  ['an invitation', (writing) => writeAccountLink({ purpose: 'invite', link: LINK, expiresAt: 0 }, writing)],
  ['a reset', (writing) => writeAccountLink({ purpose: 'reset', link: LINK, expiresAt: 0 }, writing)],
  ['an event', (writing) => writeEvent({ type: 'push.opened', at: 0, list: LINK }, writing)],
]

test.each(MAILS)('%s has its link on one line of the message, in every language', async (_, write) => {
  const { url, mails } = await start()
  for (const language of SOME_LANGUAGES) {
    const text = write({ language, name: 'x'.repeat(60), home: HOME })
    expect(await mailerFor(url).send({ ...text, to: MAIL.to, id: language })).toBeNull()
  }
  expect(mails.map((mail) => headerOf(mail, 'content-language'))).toEqual([...SOME_LANGUAGES])
  for (const { raw } of mails) {
    const lines = raw.split('\r\n')
    expect([lines.includes(LINK), lines.includes(HOME)]).toEqual([true, true])
    // RFC 5322, 2.1.1.
    expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(998)
  }
})

test('no content becomes a header, a recipient or a command', async () => {
  const { url, mails } = await start()
  const evil = 'x\r\nBcc: eve@example.org\r\n\r\n.\r\nRCPT TO:<eve@example.org>'
  const mailer = mailerFor(url, 'x')
  expect(await mailer.send({ ...MAIL, subject: evil, text: `${evil}\n.\n` })).toBeNull()
  const [mail] = mails
  expect(mail?.to).toEqual(['bob@example.org'])
  expect(mail?.headers.filter((line) => /^(bcc|cc|to):.*eve/i.test(line))).toEqual([])
  for (const to of [
    'bob@example.org\r\nX: y',
    'bob@example.org,eve@example.org',
    'g: bob@example.org;',
    '<b@c>',
  ])
    expect(await mailer.send({ ...MAIL, to })).toBe('not_allowed')
  expect(mails).toHaveLength(1)
})

test.each<[string, MailServerOptions, string]>([
  ['refuses the recipient', { refuses: () => 550 }, 'refused'],
  ['is busy', { refuses: () => 450 }, 'receiver_failed'],
  ['dies between a mail and its answer', { onMail: () => 'die' }, 'unreachable'],
  ['has no TLS', { isPlain: true }, 'tls_failed'],
])('a server that %s', async (_, options, error) => {
  const { url, mails } = await start(options)
  const mailer = mailerFor(url)
  expect<string | null>(await mailer.send(MAIL)).toBe(error)
  expect(mails).toEqual([])
})

test('an untrusted server, or one with another name, gets no mail', async () => {
  const { url, urlOfStranger, mails, connections } = await start({ login: { user: 'u', pass: 'p' } })
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  try {
    expect(await mailerFor(urlOfStranger).send(MAIL)).toBe('tls_failed')
    expect(await mailerFor(url.replace('127.0.0.1', 'localhost')).send(MAIL)).toBe('tls_failed')
  } finally {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  }
  expect(await mailerFor(url.replace(/ca=.*/, 'ca=/nowhere.pem')).send(MAIL)).toBe('tls_failed')
  expect([mails, connections]).toEqual([[], []])
})

test('a wrong login, an unreachable server and an unknown name have different reasons', async () => {
  const { url } = await start({ login: { user: 'u', pass: 'p' } })
  expect(await mailerFor(url.replace('u:p@', 'u:x@')).test()).toBe('login_refused')
  expect(await mailerFor(url).test()).toBeNull()
  const gone = await startMailServer()
  await gone.stop()
  expect(await mailerFor(gone.urlOfStranger).send(MAIL)).toBe('unreachable')
  expect(await mailerFor('smtps://mail.invalid').send(MAIL)).toBe('name_not_found')
})

test('aborting a mail closes the connection of a server whose answer never ends', async () => {
  const [asked, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const endless = createServer((socket) => {
    socket.on('error', () => undefined)
    const talking = setInterval(() => socket.write('250-one more\r\n'), 50)
    socket.on('close', () => {
      clearInterval(talking)
      left.resolve()
    })
    socket.on('data', () => asked.resolve())
    socket.write('220 welcome\r\n')
  })
  await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve))
  const { port } = endless.address() as AddressInfo
  const stopping = new AbortController()
  const sent = mailerFor(`smtp://127.0.0.1:${port}`).send(MAIL, stopping.signal)
  await asked.promise
  stopping.abort()
  expect(await sent).toBe('timed_out')
  await left.promise
  endless.close()
})
