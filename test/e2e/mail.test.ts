// Mail by the compiled binary: over TLS, sealed while it waits, and not lost by kill -9.

import { afterAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createStage, runBinary, type Started } from '../support/binary.ts'
import { headerOf, type Received, startMailServer } from '../support/mail-server.ts'
import { findNeedles, readTraces, spellingsOf } from '../support/needles.ts'
import { waitUntil } from '../support/waiting.ts'

const stage = createStage()
afterAll(stage.clear)

const PASSWORD = 'correct horse battery'

/** Returns the names of the texts that the server has stored or printed, in any encoding. */
function kept(server: Started, texts: Record<string, string>): string[] {
  const needles = Object.entries(texts).flatMap(([name, text]) =>
    spellingsOf(text).map((bytes) => ({ name, bytes })),
  )
  return findNeedles(readTraces(server), needles).map(({ name, where }) => `${name} in ${where}`)
}

/** Starts a server with the address of the mail server in a file, as operators do. */
function startOptions(dataDir: string, smtpUrl: string) {
  const file = join(stage.folder(), 'smtp-url')
  writeFileSync(file, `${smtpUrl}\n`, { mode: 0o600 })
  const flags = ['--mail-from', 'Once <once@example.org>', '--base-url', 'http://localhost']
  return { dataDir, flags, env: { ONCEBOX_SMTP_URL_FILE: file } }
}

async function addOwner(server: Started): Promise<Record<string, string>> {
  await server.command(['user', 'add', 'ann@example.org', '--password-stdin'], `${PASSWORD}\n`)
  const { stdout } = await server.command(['token', 'create', 'ann@example.org'])
  return { authorization: `Bearer ${/obx_\w+/.exec(stdout)?.[0]}` }
}

async function createFor(server: Started, owner: Record<string, string>, to: string) {
  const response = await server.create({ payload: 'swordfish', notify_emails_to: to }, owner)
  expect(response.status).toBe(201)
  return (await response.json()) as { url_token: string; html_url: string }
}

test.each([true, false])(
  'sends a link over TLS (implicit: %p), and stores no plaintext of it',
  async (isTls) => {
    const mail = await startMailServer({ isTls, login: { user: 'once', pass: 'mail-password' } })
    const dataDir = stage.folder()
    const options = startOptions(dataDir, mail.url)
    const server = await stage.start(options)
    const owner = await addOwner(server)
    const push = await createFor(server, owner, 'bob@example.org')
    await waitUntil(() => mail.mails.length === 1)
    const [received] = mail.mails
    expect(received?.text).toContain(`\n${push.html_url}\n`)
    const shown = await runBinary(['config', '--data-dir', dataDir, ...options.flags], { env: options.env })
    expect(shown.stdout).toContain(`127.0.0.1:${mail.port}`)
    const texts = { link: push.url_token, recipient: 'bob@example.org', password: 'mail-password' }
    expect(kept(server, texts)).toEqual([])
    expect(shown.stdout).not.toContain('mail-password')
    await server.end()
    await mail.stop()
  },
)

test('kill -9 loses no mail of an answered create, and a repeated mail has the same id', async () => {
  const held = Promise.withResolvers<'take'>()
  const tries: Received[] = []
  const mail = await startMailServer({
    onMail: (received) => {
      tries.push(received)
      return tries.length === 1 ? held.promise : 'take'
    },
  })
  const options = startOptions(stage.folder(), mail.url)
  const killed = await stage.start(options)
  const owner = await addOwner(killed)
  const sent = new Map<string, string>()
  for (let n = 0; n < 6; n += 1)
    sent.set(`r${n}@example.org`, (await createFor(killed, owner, `r${n}@example.org`)).html_url)
  // The mail server has received the first mail but not answered; the others wait, sealed.
  await waitUntil(() => tries.length === 1)
  const link = sent.get('r5@example.org')?.split('/')[4] ?? ''
  expect(kept(killed, { recipient: 'r5@example.org', link })).toEqual([])
  await killed.end('SIGKILL')
  const restarted = await stage.start(options)
  await waitUntil(() => tries.length === 1 + sent.size)
  const byRecipient = Map.groupBy(tries, ({ to }) => to.join())
  expect([...byRecipient.keys()].sort()).toEqual([...sent.keys()])
  for (const [to, mails] of byRecipient) {
    expect(new Set(mails.map((one) => headerOf(one, 'message-id'))).size).toBe(1)
    expect(mails[0]?.text).toContain(sent.get(to) ?? 'none')
  }
  await restarted.end()
  held.resolve('take')
  await mail.stop()
})
