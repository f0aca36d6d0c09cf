// Load shedding: under overload, refuses requests at once and cheaply that would otherwise wait for long.

import { answerJson, answerText } from '../answers.ts'
import { EXEMPT_PATHS } from '../urls.ts'
import type { Cors } from './cors.ts'
import { canonicalPath, isJsonPath, pathOf } from './paths.ts'

/** Null lets the request in. */
export type Shed = (request: Request) => Response | null

export type ShedOptions = {
  /** The path in --base-url, '' without one. */
  basePath: string
  /** Whether changes have waited too long for their commit. */
  isOverloaded: () => boolean
  /** Commits changes that have waited for long. */
  commitOverdue: () => void
  /**
   * Called at most once a second with the number of refused requests: a log line for each would add to the
   * load.
   */
  onShed: (requests: number) => void
  cors: Cors
}

/**
 * A turn of the event loop serves the requests that have arrived by then; late ones in a long turn would
 * wait.
 */
const MAX_TURN_MS = 200
/** Fewer requests in a turn are never refused: then the machine is slow, not the load high. */
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
    // A page of a listed origin can read the refusal only if its preflight is answered.
    if (EXEMPT_PATHS.has(path) || cors.answerPreflight(request, path) !== null) return null
    shed += 1
    timer = timer ?? setTimeout(report, REPORT_MS)
    const response = isJsonPath(path)
      ? answerJson(503, { error: MESSAGE }, RETRY)
      : answerText(503, MESSAGE, RETRY)
    cors.addHeaders(response.headers, { request, path })
    return response
  }
}
