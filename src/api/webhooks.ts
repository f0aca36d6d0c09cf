// The webhooks of an account: made, listed, tried and deleted.

import { DomainError } from '../domain/errors.ts'
import { formatTime } from '../domain/time.ts'
import { answerJson } from '../http/answers.ts'
import type { BodyLimits } from '../http/intake/body.ts'
import { readPushFields } from '../http/intake/push-body.ts'
import { createParseWebhook } from '../http/intake/webhook-input.ts'
import { WEBHOOKS_API } from '../http/urls.ts'
import type { StoredWebhook, Webhooks } from '../notices/webhooks.ts'
import type { AnswerBody } from './answer-tables.ts'
import { responses } from './operations.ts'
import { PARAMETERS } from './parameters.ts'
import type { ApiRoute, Asked } from './pushes.ts'
import { describeBody } from './request-tables.ts'
import { requireAccount } from './viewer.ts'

const OPERATIONS = {
  list: {
    ...{ tags: ['Notices'], summary: 'Your webhooks', operationId: 'listWebhooks' },
    responses: responses([200, 'WebhookList', 'Oldest first.'], [401]),
  },
  add: {
    ...{ tags: ['Notices'], summary: 'Make a webhook', operationId: 'createWebhook' },
    description:
      'Messages are JSON, signed as https://www.standardwebhooks.com says, or in the form of another service. They never hold a payload, link, passphrase or note.',
    requestBody: describeBody('Webhook'),
    responses: responses(
      [201, 'CreatedWebhook', 'The webhook, with its secret this once.'],
      [400, 401, 408, 413, 415, 422, 507],
    ),
  },
  remove: {
    ...{ tags: ['Notices'], summary: 'Delete a webhook', operationId: 'deleteWebhook' },
    parameters: [PARAMETERS.id],
    responses: responses([200, 'Webhook', 'The webhook as it was.'], [401, 404]),
  },
  test: {
    ...{ tags: ['Notices'], summary: 'Send a test message', operationId: 'testWebhook' },
    description: 'Waits for the receiver, 10 seconds at most.',
    parameters: [PARAMETERS.id],
    responses: responses(
      [200, 'Webhook', 'The webhook; `last_error` is null if it arrived.'],
      [401, 404, 409],
    ),
  },
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
    { url: WEBHOOKS_API.list, answer: list, detail: OPERATIONS.list },
    { url: WEBHOOKS_API.add, answer: add, detail: OPERATIONS.add },
    { url: WEBHOOKS_API.remove, answer: answerWith(webhooks.remove), detail: OPERATIONS.remove },
    { url: WEBHOOKS_API.test, answer: answerWith(webhooks.test), detail: OPERATIONS.test },
  ]
}

function readId({ id = '' }: Asked['params']): number {
  if (/^[1-9]\d{0,14}$/.test(id)) return Number(id)
  throw new DomainError('not_found', 'There is no such webhook.')
}

function present({ id, host, format, events, ...webhook }: StoredWebhook): AnswerBody<'Webhook'> {
  const { withName, createdAt, lastDelivery, lastError } = webhook
  return {
    ...{ id, host, format, events, with_name: withName, created_at: formatTime(createdAt) },
    last_delivery: lastDelivery === null ? null : formatTime(lastDelivery),
    last_error: lastError,
  }
}
