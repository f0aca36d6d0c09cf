// Creates, views and deletes on a server while it is backed up, and records what it has acknowledged.

import type { Started } from './binary.ts'
import { untilTaken } from './waiting.ts'

export type Known = {
  urlToken: string
  isOwned: boolean
  name: string
  note: string
  passphrase: string | null
  /** Views that were acknowledged, and views that were requested. */
  views: number
  asked: number
  mostViews: number
  deleted: boolean
}

export type BackupLoad = ReturnType<typeof startLoad>

/** `onCreated` is called after every create that was acknowledged, before the push is touched again. */
export function startLoad(
  server: Started,
  options: { token: string; workers: number; onCreated: () => void },
) {
  const { token, workers, onCreated } = options
  const pushes: Known[] = []
  const auth = { authorization: `Bearer ${token}` }
  let isStopped = false
  let made = 0

  async function create(): Promise<void> {
    made += 1
    const n = made
    const isOwned = n % 3 !== 0
    const passphrase = n % 25 === 0 ? `passphrase ${n}` : null
    const [name, note] = isOwned ? [`name ${n} ✓`, `note of ${n}`] : ['', '']
    const mostViews = 1 + (n % 3)
    const file = { filename: `${n}.txt`, data: btoa(`content ${n}`) }
    const push = {
      payload: `payload ${n}`,
      ...{ name, note, expire_after_views: mostViews },
      ...(passphrase === null ? {} : { passphrase }),
      ...(isOwned && n % 10 === 1 ? { files: [file] } : {}),
    }
    const response = await untilTaken(() => server.create(push, isOwned ? auth : {}))
    if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`)
    const { url_token: urlToken } = await response.json()
    onCreated()
    pushes.push({ urlToken, isOwned, name, note, passphrase, views: 0, asked: 0, mostViews, deleted: false })
  }

  async function view(push: Known): Promise<void> {
    if (push.passphrase !== null || push.deleted) return
    push.asked += 1
    const { payload } = await (await untilTaken(() => server.retrieve(push.urlToken))).json()
    if (payload !== null && payload !== undefined) push.views += 1
  }

  async function remove(push: Known): Promise<void> {
    const wish = { method: 'DELETE', headers: auth }
    const response = await untilTaken(() => server.retrieve(push.urlToken, wish))
    // A push that ended by its last view is not deleted.
    const { deleted } = await response.json()
    if (deleted === true) push.deleted = true
  }

  async function work(): Promise<void> {
    for (let turn = 0; !isStopped; turn += 1) {
      await create()
      const recent = pushes.slice(-20)
      const some = recent[turn % Math.max(1, recent.length)]
      if (some !== undefined) await (turn % 4 === 3 ? remove(some) : view(some))
      // Create fewer pushes as a run gets longer, so that its rounds do not get slower and slower.
      await Bun.sleep(100 + made / 10)
    }
  }

  const running = Promise.all(Array.from({ length: workers }, work))
  // A failure is reported when the load is stopped.
  running.catch(() => undefined)

  return {
    /** Returns the pushes with their acknowledged changes so far. */
    acknowledged: (): Known[] => pushes.map((push) => ({ ...push })),
    /** Returns all links that were ever given away. */
    links: (): string[] => pushes.map(({ urlToken }) => urlToken),
    stop: async () => {
      isStopped = true
      await running
    },
  }
}
