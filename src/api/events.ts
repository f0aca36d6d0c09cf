// The events of an account, for programs that ask what became of its pushes.

import { formatTime, SECOND } from '../domain/time.ts'
import { answerJson } from '../http/answers.ts'
import { API } from '../http/urls.ts'
import type { Events } from '../notices/events.ts'
import type { AnswerBody } from './answer-tables.ts'
import { responses } from './operations.ts'
import { PARAMETERS, readNumber } from './parameters.ts'
import type { ApiRoute } from './pushes.ts'
import { requireAccount } from './viewer.ts'

const { after, wait } = PARAMETERS

const OPERATION = {
  tags: ['Notices'],
  summary: 'What became of your pushes',
  description:
    'Events of your account, oldest first, numbered in their order, kept for 7 days. Ask again with `after` set to `next`. With `wait` the answer comes with the next event, or without one after so many seconds. Three may wait at once for an account.',
  operationId: 'listEvents',
  parameters: [after, wait],
  responses: responses([200, 'EventPage', 'Up to 500 events.'], [400, 401, 410]),
}

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
  return [{ url: API.events, answer, detail: OPERATION }]
}
