// The endpoints of notices: an account's events, by long polling, and its webhooks.

import { notFound } from '../domain/errors.ts'
import { errorOf } from '../domain/outbox.ts'
import { formatTime, SECOND } from '../domain/time.ts'
import { answerJson } from '../http/answers.ts'
import type { BodyLimits } from '../http/intake/body.ts'
import { readPushFields } from '../http/intake/push-body.ts'
import { createParseWebhook } from '../http/intake/webhook-input.ts'
import type { Events } from '../notices/events.ts'
import type { StoredWebhook, Webhooks } from '../notices/webhooks.ts'
import type { AnswerBody } from './answer-tables.ts'
import { PARAMETERS, readNumber } from './parameters.ts'
import { type ApiRequest, requireAccount } from './viewer.ts'

const { after, wait } = PARAMETERS

export function createAnswerEvents(events: Pick<Events, 'poll'>) {
  return async ({ exchange, viewer }: ApiRequest): Promise<Response> => {
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
}

type Options = { webhooks: Webhooks; body: BodyLimits }

export function createWebhookEndpoints({ webhooks, body }: Options) {
  const parse = createParseWebhook(webhooks.listed)

  async function add({ exchange, viewer }: ApiRequest): Promise<Response> {
    const account = requireAccount(viewer)
    const wire = await readPushFields(exchange, { ...body, wrappers: ['webhook'] })
    const { secret, ...made } = await webhooks.add(account.id, parse(wire))
    return answerJson(201, { ...present(made), secret } satisfies AnswerBody<'CreatedWebhook'>)
  }

  const list = async ({ viewer }: ApiRequest) =>
    answerJson(200, (await webhooks.list(requireAccount(viewer).id)).map(present))
  const answerWith =
    (act: Webhooks['remove' | 'test']) =>
    async ({ viewer, params }: ApiRequest): Promise<Response> =>
      answerJson(200, present(await act(requireAccount(viewer).id, readId(params))))

  return { list, add, remove: answerWith(webhooks.remove), test: answerWith(webhooks.test) }
}

function readId({ id = '' }: ApiRequest['params']): number {
  if (/^[1-9]\d{0,14}$/.test(id)) return Number(id)
  throw notFound()
}

function present({ id, host, format, events, ...webhook }: StoredWebhook): AnswerBody<'Webhook'> {
  const { withName, createdAt, lastDelivery, lastError } = webhook
  return {
    ...{ id, host, format, events, with_name: withName, created_at: formatTime(createdAt) },
    last_delivery: lastDelivery === null ? null : formatTime(lastDelivery),
    last_error: lastError && errorOf(lastError),
  }
}
