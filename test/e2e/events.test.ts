// kill -9 under load, fifty times: every counted view has exactly one event, and no sent event changes.

import { afterAll, expect, test } from 'bun:test'
import { createStage, type Started } from '../support/binary.ts'

const stage = createStage()
afterAll(stage.clear)

const KILLS = 50
const PUSHES = 8
const VIEWS = 100

type Event = { id: number; type: string; data: { push: string; views_remaining: number } }
type Page = { events: Event[]; next: number }

/** Counts the views of all pushes of the account. */
async function countViews(server: Started, headers: Record<string, string>): Promise<number> {
  let views = 0
  for (const group of ['active', 'expired']) {
    for (let page = 1; ; page += 1) {
      const response = await server.ask(`/api/v2/pushes/${group}?page=${page}`, { headers })
      const pushes = (await response.json()) as { views_remaining: number }[]
      if (pushes.length === 0) break
      for (const push of pushes) views += VIEWS - push.views_remaining
    }
  }
  return views
}

async function readEvents(server: Started, headers: Record<string, string>): Promise<Event[]> {
  const all: Event[] = []
  for (;;) {
    const after = all.at(-1)?.id ?? 0
    const page = (await (await server.ask(`/api/oncebox/events?after=${after}`, { headers })).json()) as Page
    if (page.events.length === 0) return all
    all.push(...page.events)
  }
}

/**
 * Runs readers and a client that polls for events until the server is killed. Returns the received payloads.
 */
async function loadUntilKilled(
  server: Started,
  { headers, told, afterViews }: { headers: Record<string, string>; told: Event[]; afterViews: number },
): Promise<number> {
  let [views, killed] = [0, false]
  const enough = Promise.withResolvers<void>()
  const links = await Promise.all(
    Array.from({ length: PUSHES }, async () => {
      const response = await server.create({ payload: 'x', expire_after_views: VIEWS }, headers)
      return (await response.json()).url_token as string
    }),
  )
  const keepOn = async (work: () => Promise<void>) => {
    while (!killed)
      await work().catch((cause) => {
        if (!killed) throw cause
      })
  }
  const read = async (link: string) => {
    const { payload } = await (await server.retrieve(link)).json()
    if (payload === null) return Bun.sleep(5)
    views += 1
    if (views === afterViews) enough.resolve()
  }
  const wait = async () => {
    const after = told.at(-1)?.id ?? 0
    const response = await server.ask(`/api/oncebox/events?after=${after}&wait=25`, { headers })
    expect(response.status).toBe(200)
    told.push(...((await response.json()) as Page).events)
  }
  const clients = [...links.map((link) => keepOn(() => read(link))), keepOn(wait)]
  await enough.promise
  killed = true
  await server.end('SIGKILL')
  await Promise.all(clients)
  return views
}

test('no event is lost, repeated or false', async () => {
  const dataDir = stage.folder()
  let server = await stage.start({ dataDir })
  await server.command(['user', 'add', 'ann@example.org', '--password-stdin'], 'correct horse battery\n')
  const { stdout } = await server.command(['token', 'create', 'ann@example.org'])
  const headers = { authorization: `Bearer ${stdout.trim()}` }
  const told: Event[] = []
  let seen = 0
  for (let n = 0; n < KILLS; n += 1) {
    // Kill during the first commits, and after some.
    seen += await loadUntilKilled(server, { headers, told, afterViews: 1 + ((n * 7) % 60) })
    server = await stage.start({ dataDir })
  }
  const kept = await readEvents(server, headers)
  expect(kept.map(({ id }) => id)).toEqual(kept.map((_, n) => n + 1))
  expect(told).toEqual(kept.slice(0, told.length))
  const opened = kept.filter(({ type }) => type === 'push.opened')
  expect(opened.length).toBe(await countViews(server, headers))
  expect(opened.length).toBeGreaterThanOrEqual(seen)
  expect(new Set(opened.map(({ data }) => `${data.push} ${data.views_remaining}`)).size).toBe(opened.length)
  expect(told.length).toBeGreaterThan(KILLS)
})
