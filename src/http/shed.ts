// More load than the server can carry: who would wait for long is told at once to come back, at the least possible cost.

import { answerJson } from './answers.ts'
import { canonicalPath, EXEMPT_PATHS, isJsonPath, pathOf } from './paths.ts'

/** Null to let the request in. */
export type Shed = (request: Request) => Response | null

export type ShedOptions = {
  /** The path in --base-url, '' without one. */
  basePath: string
  /** Sees that what waits is written down; true when it has been waiting for too long. */
  keepUp: () => boolean
  /** Told once in a while how many were sent away: a line for each would be load of its own. */
  onShed: (requests: number) => void
}

/** One turn of the event loop serves whoever has sent something by then; who comes late in a long one would wait. */
const MAX_TURN_MS = 200
const REPORT_MS = 1000
const RETRY = { 'retry-after': '1' }
const MESSAGE = 'The server is busy; try again in a moment.'

export function createShed({ basePath, keepUp, onShed }: ShedOptions): Shed {
  let shed = 0
  let timer: Timer | null = null
  let turnBegan: number | null = null

  function timeOfTurn(): number {
    if (turnBegan !== null) return performance.now() - turnBegan
    turnBegan = performance.now()
    setImmediate(() => {
      turnBegan = null
    })
    return 0
  }

  function report(): void {
    timer = null
    onShed(shed)
    shed = 0
  }

  return (request) => {
    const isBehind = keepUp()
    if (!isBehind && timeOfTurn() <= MAX_TURN_MS) return null
    const path = canonicalPath(pathOf(request.url), basePath)
    if (EXEMPT_PATHS.has(path)) return null
    shed += 1
    timer = timer ?? setTimeout(report, REPORT_MS)
    return isJsonPath(path)
      ? answerJson(503, { error: MESSAGE }, RETRY)
      : new Response(MESSAGE, { status: 503, headers: { ...RETRY, 'cache-control': 'no-store' } })
  }
}
