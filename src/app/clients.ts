// The client of commands that talk to a server, on this machine or another.

import { version } from '../../package.json'
import { createClient, type PushClient, type ServerToAsk } from '../client/client.ts'
import { randomBase32 } from '../crypto/random.ts'

/** The client's User-Agent, and how long a server may stay silent. */
const OURS = { userAgent: `oncebox/${version}`, patienceMs: 60_000 }

export function openClient(asked: ServerToAsk): PushClient {
  return createClient({ ...asked, ...OURS, newBoundary: () => `oncebox-${randomBase32(20)}` })
}

/** Returns letters and digits of 5 random bits each. */
export function randomText(characters: number): string {
  return randomBase32(characters)
}
