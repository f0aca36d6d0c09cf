// A Unix socket instead of a port: for a proxy of the same group, whose headers are trusted only if it is
// declared.

import { afterEach, expect, test } from 'bun:test'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BINARY, createStage, runBinary } from '../support/binary.ts'
import { needs } from '../support/needs.ts'
import { waitUntil } from '../support/waiting.ts'

const stage = createStage()
const children: Bun.Subprocess[] = []
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL')
    await child.exited
  }
  await stage.clear()
})

async function start(path: string, ...flags: string[]) {
  const place = ['--data-dir', stage.folder(), '--min-free-space', '0', '--host', `unix:${path}`]
  const child = Bun.spawn([BINARY, 'serve', ...place, ...flags], { stdout: 'pipe', stderr: 'pipe' })
  children.push(child)
  const ask = (url: string, init: RequestInit = {}) =>
    fetch(`http://localhost${url}`, { ...init, unix: path })
  const up = () =>
    ask('/up').then(
      () => true,
      () => false,
    )
  await waitUntil(up)
  return { child, ask }
}

const newPath = () => join(stage.folder(), 'http.sock')

test('the server serves on the socket, for the group, and removes it when it stops', async () => {
  const path = newPath()
  const { child, ask } = await start(path)
  expect(statSync(path).mode & 0o777).toBe(0o660)
  const json = { push: { payload: 'through the socket' } }
  const created = await ask('/api/v2/pushes', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(json),
  })
  const { url_token } = (await created.json()) as { url_token: string }
  const retrieved = await (await ask(`/api/v2/pushes/${url_token}`)).json()
  expect(retrieved).toMatchObject({ payload: 'through the socket' })
  expect((await ask('/', { headers: { host: 'evil.example' } })).status).toBe(421)
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
  expect(existsSync(path)).toBe(false)
})

test('a stale socket is replaced after kill -9; a socket in use and a regular file are not', async () => {
  const path = newPath()
  const first = await start(path)
  first.child.kill('SIGKILL')
  await first.child.exited
  expect(existsSync(path)).toBe(true)
  const second = await start(path)
  expect((await second.ask('/up')).status).toBe(200)
  const taken = await runBinary(['serve', '--data-dir', stage.folder(), '--host', `unix:${path}`])
  expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining('Another program listens on')])
  expect((await second.ask('/up')).status).toBe(200)
  const file = join(stage.folder(), 'file')
  writeFileSync(file, 'mine')
  const refused = await runBinary(['serve', '--data-dir', stage.folder(), '--host', `unix:${file}`])
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is no socket')])
  expect(existsSync(file)).toBe(true)
  const lost = await runBinary([
    'serve',
    '--data-dir',
    stage.folder(),
    '--host',
    `unix:${file}-not/there.sock`,
  ])
  expect([lost.code, lost.stderr]).toEqual([
    1,
    expect.stringContaining(`${file}-not/there.sock does not exist: make`),
  ])
})

test('forwarding headers count only with --trusted-proxy unix', async () => {
  const headers = {
    host: 'once.example',
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-host': 'once.example',
    'x-forwarded-proto': 'https',
    'content-type': 'application/json',
  }
  const post = { method: 'POST', headers, body: '{"push":{"payload":"x"}}' }
  const plain = await start(newPath())
  expect((await plain.ask('/api/v2/pushes', post)).status).toBe(421)
  const behind = await start(newPath(), '--trusted-proxy', 'unix', '--base-url', 'https://once.example')
  const created = await behind.ask('/api/v2/pushes', post)
  expect(created.status).toBe(201)
  expect((await created.json()).html_url).toStartWith('https://once.example/p/')
  const ready = await (await behind.ask('/readyz', { headers })).json()
  expect(ready).toEqual({ ready: true })
})

/** A socket that receives the notifications for systemd. */
async function listenForStates(path: string) {
  const child = Bun.spawn(['python3', '-c', HEAR, path], { stdout: 'pipe' })
  children.push(child)
  let heard = ''
  const listen = async () => {
    for await (const piece of child.stdout) heard += new TextDecoder().decode(piece)
  }
  const hasEnded = listen()
  const states = () => heard.split('\n').filter((state) => state !== '' && state !== 'LISTENING')
  const count = (state: string) => states().filter((one) => one === state).length
  await waitUntil(() => heard.startsWith('LISTENING\n'))
  return { states, count, hasEnded }
}

const HEAR = `
import socket, sys
name = sys.argv[1]
heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind('\\0' + name[1:] if name[0] == '@' else name)
print('LISTENING', flush=True)
while True:
    state = heard.recv(4096).decode().split('\\n')[0]
    print(state, flush=True)
    if state == 'STOPPING=1': break
`

needs('python3').describe('the server notifies systemd of readiness, watchdog, reloads and the stop', () => {
  test.each(['path', 'abstract name'])('at a %s', async (kind) => {
    const name = kind === 'path' ? join(stage.folder(), 'notify') : `@oncebox-test-${process.pid}`
    const hearing = await listenForStates(name)
    const server = await stage.start({ env: { NOTIFY_SOCKET: name, WATCHDOG_USEC: '200000' } })
    await waitUntil(() => hearing.count('WATCHDOG=1') > 2)
    process.kill(server.pid, 'SIGHUP')
    await waitUntil(() => hearing.count('READY=1') > 1)
    expect(await server.end()).toBe(0)
    await hearing.hasEnded
    expect(hearing.states().filter((state) => state !== 'WATCHDOG=1')).toEqual([
      ...['READY=1', 'RELOADING=1', 'READY=1', 'STOPPING=1'],
    ])
  })
})

test('an unreachable NOTIFY_SOCKET is ignored', async () => {
  const server = await stage.start({ env: { NOTIFY_SOCKET: '/no/such/socket' } })
  expect((await server.ask('/up')).status).toBe(200)
})
