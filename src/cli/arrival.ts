// What has arrived for a request of one's own: the answer to open next, and waiting for one.

import type { RemoteRequest } from '../client/answers.ts'
import type { Client } from '../client/client.ts'
import { ClientFailure } from '../client/failure.ts'
import { readPages } from '../client/own-pushes.ts'
import { formatLocalTime } from './format.ts'
import type { Shell } from './shell.ts'
import { loginNeeded, untilAnswered, type Visit } from './visit.ts'

const POLL_MS = 2000

/**
 * The token of the oldest answer that nobody has opened. Throws ClientFailure when there is none, and none can come; without `wait`
 * also when none has come yet.
 */
export async function awaitAnswer(
  { client, server, urlToken, isSignedIn }: Omit<Visit, 'isRequest'>,
  { wait, shell }: { wait: boolean; shell: Shell },
): Promise<string> {
  if (!isSignedIn) throw loginNeeded('This needs', server)
  let request = await client.findRequest(urlToken)
  let seen: number | null = 0
  for (let isFirst = true; ; isFirst = false) {
    const found = request.answers === seen ? null : await findUnopened(client, request)
    if (found !== null) return found
    seen = request.answers
    if (request.closed)
      throw nothing('This request takes no more answers, and nothing new has arrived for it.')
    if (!wait) throw nothing('Nothing new has arrived for this request. To wait for it, add --wait.')
    if (isFirst) shell.say(`Waiting for something to arrive until ${formatLocalTime(request.expiresAt)}.`)
    await Bun.sleep(POLL_MS)
    request = await untilAnswered(() => client.findRequest(urlToken), shell)
  }
}

/** An answer is younger than its request. */
async function findUnopened(client: Pick<Client, 'list'>, request: RemoteRequest): Promise<string | null> {
  let oldest: string | null = null
  for await (const { pushes } of readPages(client, 'active')) {
    const answers = pushes.filter((push) => push.request === request.urlToken)
    const unopened = answers.filter((push) => push.viewsRemaining === push.viewsAllowed)
    oldest = unopened.at(-1)?.urlToken ?? oldest
    if ((pushes.at(-1)?.createdAt ?? '') < request.createdAt) break
  }
  return oldest
}

function nothing(message: string): ClientFailure {
  return new ClientFailure('gone', message)
}
