// A complete Oncebox with a story of pushes that are created, read and deleted concurrently:
// `power-cut-child.ts FOLDER NAME`. Reports each answer to the recorder, and kills itself at the end.

import { dlopen } from 'bun:ffi'
import { openInstance } from '../../src/app.ts'
import { configOf, createTestClock } from './instance.ts'

const [dataDir = '', story = ''] = process.argv.slice(2)

/**
 * An answer, or the report that requests are served from now on. `urlToken`: from a create; `isOver`: whether
 * the answer says that the push has ended.
 */
export type Told = {
  deed: 'open' | 'create' | 'view' | 'delete' | 'list'
  name: string
  urlToken?: string
  isOver?: boolean
}

const { record_answer: recordAnswer } = dlopen(process.env.LD_PRELOAD ?? '', {
  record_answer: { args: ['buffer'], returns: 'void' },
}).symbols
const tell = (line: Told) => recordAnswer(Buffer.from(`${JSON.stringify(line)}\0`))

// If LOG_BYTES is given, a WAL of this size counts as long: it is checkpointed, and restarts in the same
// file.
const logBytes = Number(process.env.LOG_BYTES)
if (logBytes > 0) {
  const { postMessage } = Worker.prototype
  Worker.prototype.postMessage = function (parts: object) {
    postMessage.call(this, { ...parts, limit: logBytes })
  }
}

const clock = createTestClock()
const instance = await openInstance(configOf({ 'data-dir': dataDir, 'min-free-space': '0' }), {
  now: clock.now,
  uptime: clock.uptime,
  network: { listAddresses: () => [], hostName: () => 'box' },
  writeLog: () => undefined,
})
// Does the same as the server: after a failure of the disk nothing may be trusted.
void instance.failed.then(() => process.kill(process.pid, 'SIGKILL'))

tell({ deed: 'open', name: story })

const email = `${story}@example.org`
await instance.access.accounts.addAccount({ email, password: 'correct horse battery', isAdmin: false })
const { apiToken } = await instance.access.apiTokens.createApiToken({ email })
const owner = { authorization: `Bearer ${apiToken}` }

async function ask(path: string, { headers: more, ...init }: RequestInit & { headers?: object } = {}) {
  const headers = { host: 'localhost', 'content-type': 'application/json', ...more }
  const request = new Request(`http://localhost/api/v2/pushes${path}`, { ...init, headers })
  const response = await instance.handle(request, '127.0.0.1')
  return response.json()
}

const tokens = new Map<string, string>()

async function create(name: string, views: number): Promise<void> {
  const push = { payload: `payload ${name}`, expire_after_views: views, deletable_by_viewer: true }
  const { url_token: urlToken } = await ask('', {
    ...{ method: 'POST', headers: owner, body: JSON.stringify({ push }) },
  })
  tokens.set(name, urlToken)
  tell({ deed: 'create', name, urlToken })
}

async function view(name: string): Promise<void> {
  const { payload, error } = await ask(`/${tokens.get(name)}`)
  if (error === undefined) tell({ deed: 'view', name, isOver: payload === null })
}

async function end(name: string): Promise<void> {
  const { expired } = await ask(`/${tokens.get(name)}`, { method: 'DELETE' })
  tell({ deed: 'delete', name, isOver: expired === true })
}

/**
 * Reads the lists of the owner while `ending` ends some of these pushes, and reports which have ended
 * according to them.
 */
async function watchLists(names: readonly string[], ending: Promise<unknown>): Promise<void> {
  let isDone = false
  void ending.then(() => {
    isDone = true
  })
  const left = new Set(names)
  while (!isDone) {
    const [expired, active] = await Promise.all(
      ['/expired', '/active'].map((path) => ask(path, { headers: owner })),
    )
    const isIn = (list: { url_token: string }[], name: string) =>
      list.some((push) => push.url_token === tokens.get(name))
    for (const name of left)
      if (isIn(expired, name) || !isIn(active, name)) {
        left.delete(name)
        tell({ deed: 'list', name, isOver: true })
      }
    await Bun.sleep(0)
  }
}

const names = (count: number, of: string) => Array.from({ length: count }, (_, n) => `${story} ${of} ${n}`)

const more = logBytes > 0 ? [1, 2, 1, 2, 1, 2, 1] : []
for (const [round, count] of [12, 1, 4, ...more].entries()) {
  const once = names(count, `once ${round}`)
  const twice = names(count, `twice ${round}`)
  await Promise.all([...once.map((name) => create(name, 1)), ...twice.map((name) => create(name, 2))])
  await Promise.all([...once, ...once, ...twice].map(view))
  const ending = Promise.all(twice.slice(0, 2).flatMap((name) => [end(name), view(name), end(name)]))
  await Promise.all([ending, watchLists(twice, ending)])
  // Destroyed data disappears from the WAL within seconds.
  if (round === 0) await Bun.sleep(4_000)
}
// Create so many that they are committed while the disk syncs the first one.
const first = create(`${story} first`, 1)
await Bun.sleep(1)
await Promise.all([first, ...names(40, 'in a crowd').map((name) => create(name, 1))])
process.kill(process.pid, 'SIGKILL')
