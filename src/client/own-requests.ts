// An account's own requests on a server: what it asks others for. Version 2 of the API has none: only Oncebox does.

import { parseObjects, parseRequest, type RemoteRequest } from './answers.ts'
import { ClientFailure } from './failure.ts'
import { acceptLink } from './link.ts'
import { type Answer, type Ask, type Call, expectStatus } from './requests.ts'

const REQUESTS = '/api/oncebox/requests'
/** Enough for fifty requests with their messages. */
const MAX_LIST_BYTES = 16 * 1024 * 1024

export type RequestFields = Record<string, string | number | readonly string[] | null>

export function createOwnRequests({ ask, server }: { ask: Ask; server: string }) {
  /** `answer` is the body as received. Null fields are not sent. */
  async function create(fields: RequestFields) {
    const given = Object.entries(fields).filter(([, value]) => value !== null)
    const body = JSON.stringify({ request: Object.fromEntries(given) })
    const headers = { 'content-type': 'application/json' }
    const answer = await askServer(REQUESTS, { method: 'POST', headers, body: () => body })
    return parsed(expectStatus(201, answer))
  }

  async function list(page: number) {
    const answer = await askServer(`${REQUESTS}?page=${page}`, { maxBytes: MAX_LIST_BYTES })
    const { body } = expectStatus(200, answer)
    return { requests: parseObjects(body).map(accepted), answer: body }
  }

  async function find(urlToken: string) {
    return parsed(expectFound(await ask(`${REQUESTS}/${urlToken}`)))
  }

  async function close(urlToken: string) {
    return parsed(expectFound(await ask(`${REQUESTS}/${urlToken}`, { method: 'DELETE' })))
  }

  async function askServer(path: string, call: Call): Promise<Answer> {
    const answer = await ask(path, call)
    if (answer.status !== 404) return answer
    throw new ClientFailure('failed', `${server} has no requests: it is an older Oncebox or another program.`)
  }

  function accepted(body: unknown): RemoteRequest {
    const request = parseRequest(body)
    return { ...request, htmlUrl: request.htmlUrl && acceptLink(request.htmlUrl, server) }
  }

  function parsed({ body }: Answer) {
    return { request: accepted(body), answer: body }
  }

  return { create, list, find, close }
}

function expectFound(answer: Answer): Answer {
  if (answer.status === 404)
    throw new ClientFailure('gone', 'There is no such request of yours, or it no longer exists.')
  return expectStatus(200, answer)
}
