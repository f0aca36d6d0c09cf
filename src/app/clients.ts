// The client of this program, for commands that speak to a server: this one or another.

import { version } from '../../package.json'
import { createClient, type PushClient, type ServerToAsk } from '../client/client.ts'
import { randomBase32 } from '../crypto/random.ts'

/** How it introduces itself, and how long a server may stay silent. */
const OURS = { userAgent: `oncebox/${version}`, patienceMs: 60_000 }

export function openClient(asked: ServerToAsk): PushClient {
  return createClient({ ...asked, ...OURS, newBoundary: () => `oncebox-${randomBase32(20)}` })
}
