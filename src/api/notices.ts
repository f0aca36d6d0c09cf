// What an account is told: its events, for programs that ask for them, and its webhooks, made, listed, tried
// and deleted.

import { notFound } from '../domain/errors.ts'
import { formatTime, SECOND } from '../domain/time.ts'
import { answerJson } from '../http/answers.ts'
import type { BodyLimits } from '../http/intake/body.ts'
import { readPushFields } from '../http/intake/push-body.ts'
import { createParseWebhook } from '../http/intake/webhook-input.ts'
import { API, WEBHOOKS_API } from '../http/urls.ts'
import type { Events } from '../notices/events.ts'
import type { StoredWebhook, Webhooks } from '../notices/webhooks.ts'
import type { AnswerBody } from './answer-tables.ts'
import { OPERATIONS } from './operations.ts'
import { PARAMETERS, readNumber } from './parameters.ts'
import type { ApiRoute, Asked } from './pushes.ts'
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

type Options = { webhooks: Webhooks; body: BodyLimits }

export function createWebhookRoutes({ webhooks, body }: Options): ApiRoute[] {
  const parse = createParseWebhook(webhooks.listed)

  async function add({ exchange, viewer }: Asked): Promise<Response> {
    const account = requireAccount(viewer)
    const wire = await readPushFields(exchange, { ...body, wrappers: ['webhook'] })
    const { secret, ...made } = await webhooks.add(account.id, parse(wire))
    return answerJson(201, { ...present(made), secret } satisfies AnswerBody<'CreatedWebhook'>)
  }

  const list = async ({ viewer }: Asked) =>
    answerJson(200, (await webhooks.list(requireAccount(viewer).id)).map(present))
  const answerWith =
    (act: Webhooks['remove' | 'test']): ApiRoute['answer'] =>
    async ({ viewer, params }) =>
      answerJson(200, present(await act(requireAccount(viewer).id, readId(params))))

  return [
    { url: WEBHOOKS_API.list, answer: list, detail: OPERATIONS.webhooks },
    { url: WEBHOOKS_API.add, answer: add, detail: OPERATIONS.addWebhook },
    { url: WEBHOOKS_API.remove, answer: answerWith(webhooks.remove), detail: OPERATIONS.removeWebhook },
    { url: WEBHOOKS_API.test, answer: answerWith(webhooks.test), detail: OPERATIONS.testWebhook },
  ]
}

function readId({ id = '' }: Asked['params']): number {
  if (/^[1-9]\d{0,14}$/.test(id)) return Number(id)
  throw notFound()
}

function present({ id, host, format, events, ...webhook }: StoredWebhook): AnswerBody<'Webhook'> {
  const { withName, createdAt, lastDelivery, lastError } = webhook
  return {
    ...{ id, host, format, events, with_name: withName, created_at: formatTime(createdAt) },
    last_delivery: lastDelivery === null ? null : formatTime(lastDelivery),
    last_error: lastError,
  }
}
