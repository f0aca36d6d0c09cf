// A whole Oncebox that kills itself at the given durable step of a fixed story: `crash-child.ts FOLDER STEP`.
// Or it runs to the end and copies its folder at each step, as a kill at that step would leave it:
// `crash-child.ts FOLDER 0 COPIES`.
//
// Before and after every operation, prints a JSON line: what begins, and what was acknowledged.

import { cpSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { openInstance } from '../../src/app.ts'
import { listenAtSteps } from '../../src/store/durable-steps.ts'
import { configOf, createTestClock } from './instance.ts'

const [dataDir = '', killAt = '0', copies] = process.argv.slice(2)
const clock = createTestClock()
let steps = 0

export type Told =
  | { told: 'begin' | 'done'; deed: 'create'; name: string; urlToken?: string; views: number; files: number }
  | { told: 'begin' | 'done'; deed: 'view' | 'delete' | 'wrong'; name: string }
  | { told: 'step'; step: number }
  | { told: 'end'; steps: number }

function tell(line: Told): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

listenAtSteps(() => {
  steps += 1
  if (steps === Number(killAt)) process.kill(process.pid, 'SIGKILL')
  if (copies === undefined) return
  cpSync(dataDir, join(copies, String(steps)), { recursive: true })
  tell({ told: 'step', step: steps })
})

const config = configOf({ 'data-dir': dataDir, 'min-free-space': '0' })
const instance = await openInstance(config, {
  now: clock.now,
  uptime: clock.uptime,
  network: { listAddresses: () => [], hostName: () => 'box' },
  writeLog: () => undefined,
  argon2Cost: { memoryKib: 8, passes: 1 },
})

const fetch = (path: string, init: RequestInit = {}) => {
  const headers = new Headers(init.headers)
  headers.set('host', 'localhost')
  return instance.handle(new Request(`http://localhost${path}`, { ...init, headers }), '127.0.0.1')
}

await instance.access.accounts.addAccount({
  email: 'ann@example.org',
  password: 'correct horse battery',
  isAdmin: false,
})
const { apiToken } = await instance.access.apiTokens.createApiToken({ email: 'ann@example.org' })
const auth = { authorization: `Bearer ${apiToken}` }
const tokens = new Map<string, string>()

async function create(
  name: string,
  push: { views: number; files?: number; passphrase?: string; days?: number },
) {
  const { views, files = 0, passphrase, days = 7 } = push
  tell({ told: 'begin', deed: 'create', name, views, files })
  const data = btoa(name.repeat(400_000 / name.length))
  const fields = {
    payload: `payload ${name}`,
    kind: 'text',
    expire_after_views: views,
    expire_after_days: days,
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(files > 0
      ? { files: Array.from({ length: files }, (_, n) => ({ filename: `${n}.bin`, data })) }
      : {}),
  }
  const body = JSON.stringify({ push: fields })
  const response = await fetch('/api/v2/pushes', {
    method: 'POST',
    body,
    headers: { ...auth, 'content-type': 'application/json' },
  })
  const { url_token: urlToken } = await response.json()
  tokens.set(name, urlToken)
  tell({ told: 'done', deed: 'create', name, urlToken, views, files })
}

async function act(deed: 'view' | 'delete' | 'wrong', name: string) {
  tell({ told: 'begin', deed, name })
  const query = deed === 'wrong' ? '?passphrase=wrong' : ''
  const init = deed === 'delete' ? { method: 'DELETE', headers: auth } : {}
  await (await fetch(`/api/v2/pushes/${tokens.get(name)}${query}`, init)).arrayBuffer()
  tell({ told: 'done', deed, name })
}

/** Runs an upload that is aborted in its second file. */
async function breakOff() {
  const part = '--b\r\nContent-Disposition: form-data; name="push[files][]"; filename="x"\r\n\r\n'
  const body = `${part}${'x'.repeat(300_000)}\r\n${part}${'y'.repeat(1000)}`
  const headers = { ...auth, 'content-type': 'multipart/form-data; boundary=b' }
  await fetch('/api/v2/pushes', { method: 'POST', body, headers })
}

await create('plain', { views: 3 })
await act('view', 'plain')
await create('with-files', { views: 2, files: 2 })
await act('view', 'with-files')
await create('guarded', { views: 3, passphrase: 'right' })
await act('wrong', 'guarded')
await create('once', { views: 1 })
await act('view', 'once')
await create('once-with-file', { views: 1, files: 1 })
await act('view', 'once-with-file')
await breakOff()
await act('delete', 'plain')
await act('delete', 'with-files')
await create('short', { views: 3, files: 1, days: 1 })
clock.advance(25 * 60 * 60 * 1000)
await instance.upkeep.sweeper.sweep()
await create('last', { views: 2 })
await instance.close()
tell({ told: 'end', steps })
