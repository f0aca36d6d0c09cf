// Load shedding: under overload, answers requests with 503 at once instead of letting them wait.

import { answerJson, answerText } from '../answers.ts'
import { EXEMPT_PATHS } from '../urls.ts'
import type { Cors } from './cors.ts'
import { canonicalPath, isJsonPath, pathOf } from './paths.ts'

/** Returns null to admit the request. */
export type Shed = (request: Request) => Response | null

export type ShedOptions = {
  /** The path in --base-url, '' without one. */
  basePath: string
  /** Whether changes have waited too long for their commit. */
  isOverloaded: () => boolean
  /** Commits changes that have waited for long. */
  commitOverdue: () => void
  /**
   * Called at most once a second, with the number of refused requests. Logging each would add to the load.
   */
  onShed: (requests: number) => void
  cors: Cors
}

/** The longest turn of the event loop before later requests of the same turn are refused. */
const MAX_TURN_MS = 200
/**
 * Requests of a turn that are always admitted: if there are no more than these, the machine is slow, not
 * overloaded.
 */
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
    // Do not refuse a preflight: a page of a listed origin can read the refusal only if its preflight is
    // answered.
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
