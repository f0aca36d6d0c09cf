// nginx as docs/nginx-sign-in.conf says, with auth_request in front of the binary: who is signed in, and that
// no client can forge it.

import { afterAll, beforeAll, expect } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, removeFolder, type Started, startBinary } from '../support/binary.ts'
import { freePort } from '../support/free-port.ts'
import { needs } from '../support/needs.ts'
import { waitUntil } from '../support/waiting.ts'

const SECRET = 'a-secret-of-the-proxy'
const EXAMPLE = readFileSync(join(import.meta.dir, '../../docs/nginx-sign-in.conf'), 'utf8')
const { isMet, test } = needs('nginx')

let folder: string
let server: Started
let verifier: ReturnType<typeof Bun.serve>
let nginx: Bun.Subprocess
let base: string

/** Signs in the person in the cookie `who`, like Authelia. */
const verify = ({ headers }: Request) => {
  const who = /who=(\w+)/.exec(headers.get('cookie') ?? '')?.[1]
  if (who === undefined) return new Response('', { status: 401 })
  return new Response('', { headers: { 'remote-email': `${who}@example.org` } })
}

beforeAll(async () => {
  if (!isMet) return
  folder = makeFolder()
  const secret = join(folder, 'secret')
  writeFileSync(secret, SECRET)
  const port = freePort()
  base = `http://localhost:${port}`
  verifier = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: verify })
  server = await startBinary({
    flags: [
      ...['--host', '127.0.0.1', '--base-url', base, '--trusted-proxy', '127.0.0.1'],
      ...['--auth-header', 'Remote-Email', '--auth-header-secret-file', secret],
    ],
  })
  writeFileSync(join(folder, 'nginx.conf'), configuration(port))
  nginx = Bun.spawn(
    ['nginx', '-p', folder, '-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf')],
    {
      stdio: ['ignore', 'ignore', 'ignore'],
    },
  )
  await waitUntil(() => isListening(port))
})
afterAll(async () => {
  if (!isMet) return
  nginx?.kill()
  await nginx?.exited
  await verifier?.stop(true)
  await server?.end()
  removeFolder(folder)
})

/** The example with the addresses and the secret of this test. */
function configuration(port: number): string {
  const example = EXAMPLE.replace('listen 443 ssl', `listen 127.0.0.1:${port}`)
    .replace('server_name once.example', 'server_name localhost')
    .replaceAll('http://127.0.0.1:5100', server.url.replace('localhost', '127.0.0.1'))
    .replace('http://127.0.0.1:9091/', `http://127.0.0.1:${verifier.port}/`)
    .replace('the secret of /etc/oncebox/proxy-secret', SECRET)
    .replaceAll('proxy_set_header Host $host;', 'proxy_set_header Host $http_host;')
    .replaceAll('X-Forwarded-Host $host;', 'X-Forwarded-Host $http_host;')
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  return `daemon off; master_process off; pid ${folder}/pid; events {}
    http { access_log off; ${paths.join(' ')} ${example} }`
}

function isListening(port: number): boolean {
  try {
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data: () => undefined } }).stop(true)
    return false
  } catch {
    return true
  }
}

async function ask(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${base}${path}`, { headers, redirect: 'manual' })
  const session = /oncebox_session=[^;]+/.exec(response.headers.get('set-cookie') ?? '')?.[0] ?? null
  return {
    status: response.status,
    location: response.headers.get('location'),
    session,
    text: await response.text(),
  }
}

test('the program behind auth_request signs people in, and out', async () => {
  expect((await ask('/sign-in/header')).location).toStartWith('https://auth.example/')
  const { status, session } = await ask('/sign-in/header', { cookie: 'who=ann' })
  expect(status).toBe(303)
  const page = await ask('/account', { cookie: `who=ann; ${session}` })
  expect([page.status, page.text.includes('ann@example.org')]).toEqual([200, true])
  // The session of another person.
  expect((await ask('/account', { cookie: `who=bob; ${session}` })).status).toBe(303)
  expect((await ask('/account', { cookie: `who=ann; ${session}` })).status).toBe(303)
})

test('a client forges no header, on any path', async () => {
  const forged = { 'remote-email': 'root@example.org', 'x-oncebox-proxy-secret': SECRET }
  const paths = [
    '/',
    '/sign-in',
    '/sign-in/header',
    '/sign-in/header/',
    '//sign-in/header',
    '/SIGN-IN/header',
  ]
  for (const path of [
    ...paths,
    '/sign-in/header?x',
    '/sign-in/%68eader',
    '/account',
    '/admin',
    '/internal/verify',
  ]) {
    const answer = await ask(path, forged)
    expect({ path, session: answer.session }).toEqual({ path, session: null })
    const { session } = await ask(path, { ...forged, cookie: 'who=ann' })
    if (session === null) continue
    const page = await ask('/account', { ...forged, cookie: `who=ann; ${session}` })
    expect(page.text).toContain('ann@example.org')
    expect(page.text).not.toContain('root@example.org')
  }
})

test('pages of recipients need no sign-in', async () => {
  const created = await server.create({ payload: 'for everybody' })
  const { url_token } = (await created.json()) as { url_token: string }
  expect((await ask(`/p/${url_token}`)).status).toBe(200)
  expect((await ask(`/api/v2/pushes/${url_token}`)).text).toContain('for everybody')
})

test('the port behind the proxy trusts no client without the secret', async () => {
  const headers = { 'remote-email': 'root@example.org' }
  const direct = await fetch(`${server.url}/sign-in/header`, { headers, redirect: 'manual' })
  expect([403, 421]).toContain(direct.status)
  expect(direct.headers.get('set-cookie')).toBeNull()
})
