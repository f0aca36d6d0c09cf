// Planted secrets: none is found in plaintext in the data folder or in the server's output.

import { afterEach, expect, test } from 'bun:test'
import { createStage, type Started } from '../support/binary.ts'
import { findNeedles, type Place, readFolder, readTraces, spellingsOf } from '../support/needles.ts'
import { waitUntil } from '../support/waiting.ts'

const stage = createStage()
afterEach(stage.clear)

/** A marker in every planted text, which also finds texts missing from the list below. */
const MARK = 'PLANTED'

const plant = (what: string) => `${MARK} ${what} ä/+"%⏎ 🔑`

const ACCOUNT = 'eve@example.org'
const PASSWORD = plant('password')

function expectNoTrace(places: Place[], texts: string[]): void {
  const needles = texts.flatMap((text) => spellingsOf(text).map((bytes) => ({ name: text, bytes })))
  expect(findNeedles(places, needles)).toEqual([])
}

/** The account of the tests, with what its commands printed beside the token. */
async function addAccount({ command: run }: Started): Promise<{ apiToken: string; printed: string }> {
  const added = await run(['user', 'add', ACCOUNT, '--password-stdin'], PASSWORD)
  const refused = await run(['user', 'add', ACCOUNT, '--password-stdin'], PASSWORD)
  const changed = await run(['user', 'password', ACCOUNT, '--password-stdin'], `${PASSWORD} changed`)
  const created = await run(['token', 'create', ACCOUNT])
  const listed = await run(['token', 'list', ACCOUNT])
  expect([added, changed, created, listed].map(({ code }) => code)).toEqual([0, 0, 0, 0])
  const rest = [added, refused, changed, listed].map(({ stdout, stderr }) => stdout + stderr)
  return { apiToken: created.stdout.trim(), printed: [...rest, created.stderr].join('') }
}

const secrets = () => ({
  payload: plant('payload'),
  passphrase: plant('passphrase'),
  name: plant('name'),
  note: plant('note'),
})

/**
 * Calls every endpoint with secrets wherever a client could put them. Returns the tokens and grants received.
 */
async function visitEverything(server: Started, apiToken: string): Promise<string[]> {
  const auth = { authorization: `Bearer ${apiToken}` }
  const pushes = '/api/v2/pushes'
  const post = (body: BodyInit, headers: Record<string, string> = auth) =>
    server.ask(pushes, { method: 'POST', body, headers })
  const { url_token, html_url, json_url } = await (await server.create(secrets(), auth)).json()
  const anonymous = await (await server.create(secrets())).json()
  const passphrase = encodeURIComponent(plant('passphrase'))
  const tokens = [url_token, anonymous.url_token, html_url, json_url]

  // Retrieve in every way.
  for (const query of ['', '?passphrase=PLANTED-wrong', `?passphrase=${passphrase}`])
    await server.retrieve(url_token + query)
  for (const value of [passphrase, 'PLANTED-wrong', '%E0%A4PLANTED']) {
    await server.retrieve(url_token, {
      headers: { 'x-push-passphrase': value, referer: `${html_url}?PLANTED` },
    })
  }
  await server.retrieve(`${url_token}.json?passphrase=PLANTED-wrong`, { method: 'HEAD' })
  await server.ask(`${pushes}/${url_token}/preview?PLANTED=PLANTED`)
  await server.ask(`${pushes}/${url_token}/audit?page=PLANTED`, { headers: auth })
  await server.ask(`${pushes}/active?page=1&q=PLANTED`, { headers: auth })
  await server.ask(`${pushes}/expired?page=PLANTED`, { headers: auth })

  // Send files, accepted and refused.
  const upload = (
    headers: Record<string, string>,
    { files = 1, ...fields }: Record<string, unknown> = {},
  ) => {
    const form = new FormData()
    form.set('push[payload]', plant('form payload'))
    form.set('push[note]', plant('form note'))
    for (const [name, value] of Object.entries(fields)) form.set(`push[${name}]`, String(value))
    for (let n = 0; n < Number(files); n += 1) {
      form.append(
        'push[files][]',
        new Blob([plant('content').repeat(100)], { type: 'text/PLANTED' }),
        plant('file.txt'),
      )
    }
    return post(form, headers)
  }
  const uploaded = await upload(auth)
  expect(uploaded.status).toBe(201)
  const withFile = await uploaded.json()
  const { files } = await (await server.retrieve(withFile.url_token)).json()
  const download = new URL(files[0].url)
  const statuses = [
    await upload({}),
    await upload(auth, { files: 99 }),
    await upload(auth, { expire_after_days: MARK, kind: MARK }),
    await upload({ authorization: `Bearer ${MARK}` }),
  ].map(({ status }) => status)
  expect(statuses.every((status) => status >= 400 && status < 500)).toBe(true)
  expect(await (await server.ask(download.pathname)).text()).toContain(MARK)
  await server.ask(`${download.pathname}${MARK}?${MARK}`, { headers: { range: `bytes=${MARK}` } })
  tokens.push(withFile.url_token, download.pathname)

  // Send bodies that are refused.
  const json = { ...auth, 'content-type': 'application/json' }
  await post('{"push":{"payload":"PLANTED-broken"', json)
  await post(JSON.stringify({ PLANTED: { payload: MARK } }), json)
  await post(JSON.stringify({ push: { payload: plant('too large').repeat(400_000) } }), json)
  await post('push[payload]=PLANTED%E0%A4&push[kind]=PLANTED', {
    ...auth,
    'content-type': 'application/x-www-form-urlencoded',
  })
  await post('push[payload]=PLANTED&push[passphrase]=PLANTED', {
    'content-type': 'application/x-www-form-urlencoded',
  })
  await post(
    '--PLANTED\r\nContent-Disposition: form-data; name="push[files][]"; filename="PLANTED.txt"\r\n\r\nPLANTED',
    {
      ...auth,
      'content-type': 'multipart/form-data; boundary=PLANTED',
    },
  )
  await post(MARK, { ...auth, 'content-type': 'text/PLANTED' })
  await server.create({
    payload: MARK,
    kind: MARK,
    expire_after_days: MARK,
    retrieval_step: MARK,
    notify_emails_to: MARK,
  })
  await server.create({ payload: 'javascript:PLANTED', kind: 'url' })
  await server.create({ payload: `https://user:${MARK}@example.org/${MARK}`, kind: 'url' })

  // Send paths, methods, hosts and credentials that are refused.
  const paths = [
    '/PLANTED',
    '/p/PLANTED',
    '/api/v2/PLANTED',
    '/api/v2/pushes/PLANTED/PLANTED',
    '/d/PLANTED',
    '/assets/PLANTED',
  ]
  for (const path of [
    ...paths,
    `/${url_token}`,
    `/p/${url_token}`,
    `/p/${url_token}/r`,
    `/f/${url_token}.json`,
  ]) {
    await server.ask(`${path}?PLANTED=${url_token}`)
    await server.ask(path, { method: 'PUT', body: MARK })
  }
  for (const headers of [
    { authorization: `Bearer ${MARK}-${apiToken}` },
    { authorization: `Basic ${btoa(`${MARK}:${MARK}`)}` },
    { 'x-user-token': MARK, 'x-user-email': MARK },
    { cookie: `session=${MARK}`, host: `${MARK}.example.org` },
    {
      'content-type': MARK,
      accept: MARK,
      'accept-language': MARK,
      'x-request-id': MARK,
      'x-forwarded-for': MARK,
    },
  ]) {
    await server.ask(`${pushes}/${url_token}`, { headers })
    await server.ask(`${pushes}/active`, { headers })
  }

  // From here on pushes end.
  await server.retrieve(anonymous.url_token, { method: 'DELETE' })
  await server.retrieve(`${anonymous.url_token}?passphrase=${passphrase}`)
  await server.retrieve(withFile.url_token, { method: 'DELETE', headers: auth })
  return tokens
}

test.each(['text', 'json'])('no secret reaches the data folder or the log (%s)', async (format) => {
  const server = await stage.start({ flags: ['--log-format', format] })
  const { apiToken, printed } = await addAccount(server)
  const tokens = await visitEverything(server, apiToken)
  const texts = [MARK, PASSWORD, apiToken, ...Object.values(secrets()), ...tokens]
  await waitUntil(() => server.stderr().split('\n').length > 60)
  expect(server.stderr()).not.toMatch(/ 5\d\d |"status":5\d\d/)
  expectNoTrace([{ where: 'commands', bytes: Buffer.from(printed) }, ...readTraces(server)], texts)
  // Searches the WAL after a crash, and the folder after an orderly end.
  await server.end('SIGKILL')
  expectNoTrace(readFolder(server.dataDir), texts)
  const next = await stage.start({ dataDir: server.dataDir, flags: ['--log-format', format] })
  expect(await next.end()).toBe(0)
  expectNoTrace(readTraces(next), texts)
})

test('the search finds a secret in every spelling', () => {
  const text = plant('payload')
  const kept = [
    text,
    JSON.stringify({ text }),
    encodeURIComponent(text),
    new URLSearchParams({ x: `${text}`.replaceAll(' ', '_') }).toString(),
    ...['a', 'ab', 'abc'].flatMap((before) => {
      const bytes = Buffer.from(`${before}${text}and more`)
      return [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex')]
    }),
  ].map((spelling) => Buffer.from(spelling))
  for (const bytes of [...kept, Buffer.from(`x${text}`, 'utf16le')]) {
    expect(() => expectNoTrace([{ where: 'here', bytes }], [text, MARK])).toThrow()
  }
})
