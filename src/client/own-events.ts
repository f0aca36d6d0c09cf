// The events of an account on a server. Only Oncebox tells them.

import { parseEventPage } from './answers.ts'
import { type Ask, expectStatus } from './requests.ts'

/** Below the 25 that a server takes, and what proxies allow. */
export const WAIT_SECONDS = 20
/** Enough for 500 events. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024

export function createOwnEvents({ ask, server }: { ask: Ask; server: string }) {
  /** Of kind `gone` when `after` is no number of which the server keeps all later events. Null asks for all that are kept. */
  async function list({ after, wait }: { after: number | null; wait: number }) {
    const query = `?wait=${wait}${after === null ? '' : `&after=${after}`}`
    const answer = await ask(`/api/oncebox/events${query}`, { maxBytes: MAX_PAGE_BYTES })
    const missing = `${server} tells no events: it is an older Oncebox or another program.`
    return parseEventPage(expectStatus(200, answer, missing).body)
  }

  return { list }
}
