// Names of requests, for the log and for whoever reports a failure.

import { randomBase32 } from './random.ts'

/** Told apart across restarts by their beginning. */
export function createRequestIds(): () => string {
  const start = randomBase32(6)
  let requests = 0
  return () => {
    requests += 1
    return `${start}-${requests.toString(36)}`
  }
}
