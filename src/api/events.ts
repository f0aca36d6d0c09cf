// The events of an account, for programs that ask what became of its pushes.

import { formatTime, SECOND } from '../domain/time.ts'
import { answerJson } from '../http/answers.ts'
import { API } from '../http/urls.ts'
import type { Events } from '../notices/events.ts'
import type { AnswerBody } from './answer-tables.ts'
import { OPERATIONS } from './operations.ts'
import { PARAMETERS, readNumber } from './parameters.ts'
import type { ApiRoute } from './pushes.ts'
import { requireAccount } from './viewer.ts'

const { after, wait } = PARAMETERS

export function createEventRoutes(events: Pick<Events, 'poll'>): ApiRoute[] {
  const answer: ApiRoute['answer'] = async ({ exchange, viewer }) => {
    const { tokenId } = viewer
    if (tokenId === null) throw new Error('no account without a token')
    const asked = {
      accountId: requireAccount(viewer).id,
      tokenId,
      after: readNumber(exchange, after),
      wait: (readNumber(exchange, wait) ?? 0) * SECOND,
      signal: exchange.request.signal,
    }
    exchange.stayOpen()
    const { events: found, next } = await events.poll(asked)
    const body: AnswerBody<'EventPage'> = {
      events: found.map(({ n, type, at, data }) => ({
        ...{ id: n, type, timestamp: formatTime(at), data: JSON.parse(data) },
      })),
      next,
    }
    return answerJson(200, body)
  }
  return [{ url: API.events, answer, detail: OPERATIONS.events }]
}
