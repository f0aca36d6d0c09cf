// The measured loads: creates, retrieves and an owner's list, each compared with the bare server.

import { type Load, type LoadResult, runLoad } from './load.ts'
import { createRequest, getRequest, isPayload, pageLength, retrieveRequests } from './requests.ts'
import type { Running } from './servers.ts'
import type { TokenList } from './token-list.ts'

export const CONNECTIONS = 64
const WARM_UP_SECONDS = 1
const BARE_SECONDS = 2
const LIST_REQUESTS = 300
const PAGE_LENGTH = 50

export type Requests = Pick<Load, 'port' | 'otherPorts' | 'isTls' | 'next'> & {
  accept?: (body: Buffer) => boolean
}

export interface Beside {
  readonly result: LoadResult
  /** Mean of the bare server's rates just before and just after, because the speed of a shared machine varies. */
  readonly bareRate: number
  /** Requests sent, including the warm-up. */
  readonly requests: number
}

export async function measureBeside(
  bare: Running,
  from: { load: Requests; seconds: number },
): Promise<Beside> {
  const before = await measureBare(bare)
  const warmUp = await runSeconds(from.load, WARM_UP_SECONDS)
  const result = await runSeconds(from.load, from.seconds)
  const after = await measureBare(bare)
  const bareRate = (before.rate + after.rate) / 2
  return { result, bareRate, requests: warmUp.requests + result.requests }
}

export function measureBare(bare: Running): Promise<LoadResult> {
  const request = getRequest(bare.port, { path: '/' })
  return runSeconds({ port: bare.port, next: () => request }, BARE_SECONDS)
}

function runSeconds(load: Requests, seconds: number): Promise<LoadResult> {
  return runLoad({ ...load, connections: CONNECTIONS, until: { seconds } })
}

/** Anonymous creates. Adds each link's token to `tokens`. */
export function createsLoad(server: Running, tokens: TokenList): Requests {
  const request = createRequest(server.port)
  return { port: server.port, isTls: server.isTls, next: () => request, accept: tokens.addFrom }
}

/** Retrieves pushes by their index in `tokens`, and checks every response. */
export function retrievesLoad(server: Running, from: { tokens: TokenList; pick: () => number }): Requests {
  const next = retrieveRequests({ port: server.port, connections: CONNECTIONS, ...from })
  return { port: server.port, isTls: server.isTls, next, accept: isPayload }
}

/** First pages of the lists of several owners in turn, one request at a time. */
export function measureLists(server: Running, apiTokens: readonly string[]): Promise<LoadResult> {
  const requests = apiTokens.map((apiToken) =>
    getRequest(server.port, { path: '/api/v2/pushes/active', apiToken }),
  )
  let turn = 0
  return runLoad({
    port: server.port,
    connections: 1,
    until: { requests: LIST_REQUESTS },
    next: () => requests[turn++ % requests.length] as Buffer,
    accept: (body) => pageLength(body) === PAGE_LENGTH,
  })
}

/** Milliseconds from the start of a server's process to its first response. */
export async function measureFirstAnswer(server: Running): Promise<number> {
  const request = getRequest(server.port, { path: '/api/v2/version' })
  const load = { port: server.port, connections: 1, until: { requests: 1 }, next: () => request }
  const { errors, firstError } = await runLoad(load)
  if (errors > 0) throw new Error(`the server's first answer was ${firstError}`)
  return performance.now() - server.startedAt
}
