// Request ids, for the log and for error reports.

import { randomBase32 } from './random.ts'

/** Each process starts with a random prefix, so that ids stay unique across restarts. */
export function createRequestIds(): () => string {
  const start = randomBase32(6)
  let requests = 0
  return () => {
    requests += 1
    return `${start}-${requests.toString(36)}`
  }
}
