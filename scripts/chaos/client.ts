// A client of several nodes: retries unanswered requests on another node, and records answers that hang.

import type { Node } from '../../test/support/nodes.ts'

/** The longest time that any answer may take, whatever fails. */
const HANG_MS = 10_000
/** After this time without success, a request counts as failed. */
const HEAL_MS = 30_000
const PAUSE_MS = 100

export type Answer = {
  status: number
  body: Body
  /** How many earlier tries of this request were lost or refused. Each may have been carried out. */
  lost: number
}

/** The members of the API's answers that the scenarios check. */
export type Body = {
  url_token?: string
  payload?: string | null
  expired?: boolean
  files?: { url: string }[]
  logs?: { kind: string }[]
}

export type Client = ReturnType<typeof createClient>

/**
 * Creates a client. `faults` receives a line for each hanging answer and each request that never succeeds.
 */
export function createClient(nodes: readonly Node[], faults: string[]) {
  let turn = 0
  const times: number[] = []

  function next(): Node | undefined {
    const running = nodes.filter(({ server }) => server !== null)
    turn += 1
    return running[turn % Math.max(1, running.length)]
  }

  /** Sends one request to one node. Resolves to null if no answer arrives. */
  async function askOnce(node: Node, path: string, init: RequestInit): Promise<Omit<Answer, 'lost'> | null> {
    const began = performance.now()
    try {
      // Uses a new connection: when a kept-alive one breaks, Bun retries by itself, which would count a view
      // twice.
      const options = { ...init, keepalive: false, signal: AbortSignal.timeout(3 * HANG_MS) }
      const response = await fetch(`${node.server?.url}${path}`, options)
      const text = await response.text()
      return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : {} }
    } catch {
      return null
    } finally {
      const took = performance.now() - began
      times.push(took)
      if (took > HANG_MS)
        faults.push(`${node.name} kept a client waiting for ${seconds(took)}: ${kindOf(path, init)}`)
    }
  }

  /** Repeats a request, node after node, until one answers below 500. Throws if none does. */
  async function ask(path: string, init: RequestInit = {}): Promise<Answer> {
    const began = performance.now()
    let last = 'no node runs'
    for (let lost = 0; performance.now() - began < HEAL_MS; lost += 1) {
      const node = next()
      const answer = node === undefined ? null : await askOnce(node, path, init)
      if (answer !== null && isFinal(answer)) return { ...answer, lost }
      last = answer === null ? 'no answer' : `${answer.status} ${JSON.stringify(answer.body)}`
      if (lost >= nodes.length - 1) await Bun.sleep(PAUSE_MS)
    }
    const fault = `${init.method ?? 'GET'} was not healed within ${seconds(HEAL_MS)}: ${last}`
    faults.push(fault)
    throw new Error(fault)
  }

  return {
    ask,
    askOnce,
    create: (push: Record<string, unknown>, headers: Record<string, string> = {}) =>
      ask('/api/v2/pushes', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ push }),
      }),
    /** Returns the path and query of a download link, without the host of the node that made it. */
    pathOf: (link: string) => new URL(link).pathname,
    /** The longest response time so far, in milliseconds. */
    longest: () => times.reduce((most, took) => Math.max(most, took), 0),
    countRequests: () => times.length,
  }
}

/**
 * Whether a retry may get another answer. 409: the first request with the Idempotency-Key still runs.
 */
function isFinal({ status }: Pick<Answer, 'status'>): boolean {
  return status < 500 && status !== 429 && status !== 409
}

/** Describes a request without revealing its push. */
const kindOf = (path: string, { method = 'GET' }: RequestInit) =>
  `${method} ${path.replaceAll(/[\w-]{20,}/g, '…')}`

export const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
