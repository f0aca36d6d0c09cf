// An account's own requests on a server: what it asks others for. Version 2 of the API has none: only Oncebox does.

import { parseObjects, parseRequest, type RemoteRequest } from './answers.ts'
import { acceptLink } from './link.ts'
import { type Ask, expectStatus } from './requests.ts'

const REQUESTS = '/api/oncebox/requests'
/** Enough for fifty requests with their messages. */
const MAX_LIST_BYTES = 16 * 1024 * 1024

export type RequestFields = Record<string, string | number | readonly string[] | null>

export function createOwnRequests({ ask, server }: { ask: Ask; server: string }) {
  const missing = `${server} has no requests: it is an older Oncebox or another program.`

  /** `answer` is the body as received. Null fields are not sent. */
  async function create(fields: RequestFields) {
    const given = Object.entries(fields).filter(([, value]) => value !== null)
    const sent = JSON.stringify({ request: Object.fromEntries(given) })
    const headers = { 'content-type': 'application/json' }
    const answer = await ask(REQUESTS, { method: 'POST', headers, body: () => sent })
    const { body } = expectStatus(201, answer, missing)
    return { request: parse(body), answer: body }
  }

  async function list(page: number) {
    const answer = await ask(`${REQUESTS}?page=${page}`, { maxBytes: MAX_LIST_BYTES })
    const { body } = expectStatus(200, answer, missing)
    return { requests: parseObjects(body).map(parse), answer: body }
  }

  async function find(urlToken: string): Promise<RemoteRequest> {
    return parse(expectStatus(200, await ask(`${REQUESTS}/${urlToken}`)).body)
  }

  function parse(body: unknown): RemoteRequest {
    const request = parseRequest(body)
    return { ...request, htmlUrl: request.htmlUrl && acceptLink(request.htmlUrl, server) }
  }

  return { create, list, find }
}
