// The clocks of two nodes are wrong by 90 s in opposite directions.

import { createClient } from './client.ts'
import { createLoad } from './load.ts'
import { moment, recover, type Scenario, type Trial } from './scenario.ts'

const WRONG_SECONDS = 90
/** The allowed difference between times in answers and the clock of the database. */
const TOLERANCE_MS = 2_000
const LIFE_MS = 4_000
const LIBRARIES = '/usr/lib/*-linux-gnu/faketime/libfaketime.so.1'

/** Returns null if Debian's package `faketime` is not installed. */
export function findFaketime(): string | null {
  return [...new Bun.Glob(LIBRARIES).scanSync('/')][0] ?? null
}

export const clocks: Scenario = {
  name: 'clocks',
  what: `the clocks of two nodes ${WRONG_SECONDS} s ahead and behind`,
  rounds: 5,
  office: { environmentOf: wrongClock },
  run: async (trial) => {
    const { rounds, draw, onStep } = trial
    if (findFaketime() === null) return { tried: 'nothing', faults: ['apt-get install faketime'] }
    const load = createLoad(trial)
    await recover(trial, load)
    for (let round = 0; round < rounds; round += 1) {
      onStep(`${round} of ${rounds} rounds, ${load.client.countRequests()} requests`)
      const stop = load.start()
      await Bun.sleep(moment(draw, 1000))
      load.faults.push(...(await compareTimes(trial)), ...(await compareEnds(trial)))
      await stop()
      await load.check(Number.POSITIVE_INFINITY)
    }
    return { tried: `${rounds} rounds, ${load.client.countRequests()} requests`, faults: load.faults }
  },
}

function wrongClock(node: number): Record<string, string> {
  const library = findFaketime()
  if (node === 0 || library === null) return {}
  const FAKETIME = `${node === 1 ? '+' : '-'}${WRONG_SECONDS}s`
  return { LD_PRELOAD: library, FAKETIME, FAKETIME_DONT_FAKE_MONOTONIC: '1', FAKETIME_NO_CACHE: '1' }
}

type Times = { created_at: string; expires_at: string; url_token: string }

/** Creates a push on each node and checks that its times are the database's, and the same on every node. */
async function compareTimes({ office }: Pick<Trial, 'office'>): Promise<string[]> {
  const faults: string[] = []
  for (const node of office.nodes) {
    const before = Date.now()
    const created: Times | undefined = await (await node.server?.create({ payload: 'when?' }))?.json()
    const off = Date.parse(created?.created_at ?? '') - before
    if (!(Math.abs(off) <= TOLERANCE_MS))
      faults.push(`${node.name} is ${off} ms off: ${JSON.stringify(created)}`)
    const seen = await Promise.all(
      office.nodes.map(async ({ server }) => {
        const answer: Times | undefined = await (await server?.retrieve(created?.url_token ?? ''))?.json()
        return `${answer?.created_at} ${answer?.expires_at}`
      }),
    )
    if (new Set(seen).size !== 1) faults.push(`the nodes tell different times: ${seen.join(', ')}`)
  }
  return faults
}

/** Checks that a push expires on every node by the clock of the database. */
async function compareEnds({ office }: Pick<Trial, 'office'>): Promise<string[]> {
  const faults: string[] = []
  const client = createClient(office.nodes, faults)
  const { body } = await client.create({ payload: 'until when?', expire_after_views: 100 })
  const path = `/api/v2/pushes/${body.url_token}`
  const endsAt = Date.now() + LIFE_MS
  // The API cannot create a push that lives for seconds, so shorten one here. Its number of views tells it
  // from the pushes of the load, which must not expire.
  await office.cluster.run(`UPDATE oncebox.pushes SET expires_at = ${endsAt} WHERE expire_after_views = 100`)
  await Promise.all(
    office.nodes.map(async (node) => {
      for (;;) {
        const began = Date.now()
        const answer = await client.askOnce(node, path, {})
        if (answer?.body.expired === false && began > endsAt + TOLERANCE_MS)
          return faults.push(`${node.name} hands out ${began - endsAt} ms after the end`)
        if (answer?.body.expired === true && Date.now() < endsAt - TOLERANCE_MS)
          return faults.push(`${node.name} ended it ${endsAt - Date.now()} ms too early`)
        if (answer?.body.expired === true) return
        await Bun.sleep(100)
      }
    }),
  )
  return faults
}
