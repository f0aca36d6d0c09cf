// The events of an account, for programs that ask what became of its pushes.

import { DomainError } from '../domain/errors.ts'
import { formatTime, SECOND } from '../domain/time.ts'
import { answerJson } from '../http/answers.ts'
import { type Exchange, findInQuery } from '../http/door/exchange.ts'
import { API } from '../http/urls.ts'
import type { Events } from '../notices/events.ts'
import type { AnswerBody } from './answer-tables.ts'
import { responses } from './operations.ts'
import { PARAMETERS } from './parameters.ts'
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

/** Null if none was given. */
function readNumber(exchange: Exchange, { name, schema }: typeof after | typeof wait): number | null {
  const text = findInQuery(exchange, name) || null
  if (text === null) return null
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema
  const number = /^\d{1,16}$/.test(text) ? Number(text) : -1
  if (number >= minimum && number <= maximum) return number
  throw new DomainError('malformed', `${name} must be a whole number from ${minimum} to ${maximum}`)
}
