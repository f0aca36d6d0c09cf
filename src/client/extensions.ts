// What Oncebox offers an account beside version 2 of the API: its requests, which ask others for a secret, and its events.

import { parseEventPage, parseObjects, parseRequest, type RemoteRequest } from './answers.ts'
import { acceptLink } from './link.ts'
import { type Ask, expectStatus, type Fields, sendFields } from './requests.ts'

const REQUESTS = '/api/oncebox/requests'
/** Enough for fifty requests with their messages, or 500 events. */
const MAX_LIST_BYTES = 16 * 1024 * 1024
/** Below the 25 that a server takes, and what proxies allow. */
export const WAIT_SECONDS = 20

export function createExtensions({ ask, server }: { ask: Ask; server: string }) {
  const missing = `${server} has no requests and tells no events: it is an older Oncebox or another program.`
  const getList = async (path: string) =>
    expectStatus(200, await ask(path, { maxBytes: MAX_LIST_BYTES }), missing).body

  /** `answer` is the body as received. */
  async function createRequest(fields: Fields) {
    const sent = await ask(REQUESTS, sendFields('POST', 'request', fields))
    const { body } = expectStatus(201, sent, missing)
    return { request: parse(body), answer: body }
  }

  async function listRequests(page: number) {
    const answer = await getList(`${REQUESTS}?page=${page}`)
    return { requests: parseObjects(answer).map(parse), answer }
  }

  async function findRequest(urlToken: string): Promise<RemoteRequest> {
    return parse(expectStatus(200, await ask(`${REQUESTS}/${urlToken}`)).body)
  }

  function parse(body: unknown): RemoteRequest {
    const request = parseRequest(body)
    return { ...request, htmlUrl: request.htmlUrl && acceptLink(request.htmlUrl, server) }
  }

  /** Of kind `gone` when `after` is no number of which the server keeps all later events. Null asks for all that are kept. */
  async function listEvents({ after, wait }: { after: number | null; wait: number }) {
    const query = `?wait=${wait}${after === null ? '' : `&after=${after}`}`
    return parseEventPage(await getList(`/api/oncebox/events${query}`))
  }

  return { createRequest, listRequests, findRequest, listEvents }
}
