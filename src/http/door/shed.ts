// More load than the server can carry: who would wait for long is told at once to come back, at the least possible cost.

import { EXEMPT_PATHS } from '../urls.ts'
import { answerJson } from './answers.ts'
import type { Cors } from './cors.ts'
import { canonicalPath, isJsonPath, pathOf } from './paths.ts'

/** Null to let the request in. */
export type Shed = (request: Request) => Response | null

export type ShedOptions = {
  /** The path in --base-url, '' without one. */
  basePath: string
  /** Whether what waits to be written down has waited for too long. */
  isOverloaded: () => boolean
  /** Writes down what has waited for long. */
  commitOverdue: () => void
  /** Told once in a while how many were sent away: a line for each would be load of its own. */
  onShed: (requests: number) => void
  cors: Cors
}

/** One turn of the event loop serves whoever has sent something by then; who comes late in a long one would wait. */
const MAX_TURN_MS = 200
/** So many in one turn are a crowd. Fewer are never sent away: a long turn is then the machine's, not theirs. */
const CROWD = 100
const REPORT_MS = 1000
const RETRY = { 'retry-after': '1' }
const MESSAGE = 'The server is busy; try again in a moment.'

export function createShed({ basePath, isOverloaded, commitOverdue, onShed, cors }: ShedOptions): Shed {
  let shed = 0
  let timer: Timer | null = null
  let turnBegan = 0
  let requestsOfTurn = 0

  function isLateInTurn(): boolean {
    if (requestsOfTurn === 0) {
      turnBegan = performance.now()
      setImmediate(() => {
        requestsOfTurn = 0
      })
    }
    requestsOfTurn += 1
    return requestsOfTurn > CROWD && performance.now() - turnBegan > MAX_TURN_MS
  }

  function report(): void {
    timer = null
    onShed(shed)
    shed = 0
  }

  return (request) => {
    const isBehind = isOverloaded()
    commitOverdue()
    if (!isLateInTurn() && !isBehind) return null
    const path = canonicalPath(pathOf(request.url), basePath)
    // Without its preflight a page of a listed origin would not get to read the refusal.
    if (EXEMPT_PATHS.has(path) || cors.answerPreflight(request, path) !== null) return null
    shed += 1
    timer = timer ?? setTimeout(report, REPORT_MS)
    const response = isJsonPath(path)
      ? answerJson(503, { error: MESSAGE }, RETRY)
      : new Response(MESSAGE, { status: 503, headers: { ...RETRY, 'cache-control': 'no-store' } })
    cors.addHeaders(response, { request, path })
    return response
  }
}
