// The table of the API: maps each URL to its controller. A URL without one does not compile.

import type { PushLimits } from '../domain/new-push.ts'
import type { Now } from '../domain/time.ts'
import { answerJson } from '../http/answers.ts'
import { type Handlers, open, type Route, routesOf } from '../http/door/router.ts'
import type { BodyLimits } from '../http/intake/body.ts'
import { API } from '../http/urls.ts'
import type { Events } from '../notices/events.ts'
import type { Webhooks } from '../notices/webhooks.ts'
import type { Idempotency } from '../pushes/idempotency.ts'
import type { Pushes } from '../pushes/pushes.ts'
import type { Uploads } from '../pushes/uploads.ts'
import type { Requests } from '../requests/requests.ts'
import { createAnswerEvents, createWebhookEndpoints } from './notices.ts'
import { createPushEndpoints } from './pushes.ts'
import { createRequestEndpoints } from './requests.ts'
import { createPreviousRoutes } from './v1/pushes.ts'
import { presentVersion, type VersionFacts } from './version.ts'
import { createByToken, type GetViewer } from './viewer.ts'

type ApiOptions = {
  pushes: Pushes
  uploads: Uploads
  idempotency: Idempotency
  requests: Requests
  webhooks: Webhooks
  events: Pick<Events, 'poll'>
  limits: PushLimits
  body: BodyLimits
  now: Now
  getViewer: GetViewer
  facts: VersionFacts
  reference: () => Promise<object>
  /** Answers with the reference as a page. */
  answerDocs: Handlers['answer']
}

export function createApiRoutes(options: ApiOptions): Route[] {
  const { facts, reference, limits } = options
  const byToken = createByToken(options.getViewer)
  const version = presentVersion(facts)
  const pushes = createPushEndpoints(options)
  const requests = createRequestEndpoints(options)
  const webhooks = createWebhookEndpoints(options)
  return [
    ...routesOf(API, {
      version: open(() => answerJson(200, version)),
      reference: open(async () => answerJson(200, await reference())),
      docs: open(options.answerDocs),

      create: byToken(pushes.create),
      retrieve: byToken(pushes.retrieve, pushes.preview),
      expire: byToken(pushes.expire),
      preview: byToken(pushes.preview),
      audit: byToken(pushes.audit),
      active: byToken(pushes.active),
      expired: byToken(pushes.expired),
      edit: byToken(pushes.edit),
      notify: limits.mail ? byToken(pushes.notify) : null,

      createRequest: byToken(requests.create),
      requests: byToken(requests.list),
      request: byToken(requests.show),
      closeRequest: byToken(requests.close),
      answer: byToken(requests.answer),

      webhooks: byToken(webhooks.list),
      addWebhook: byToken(webhooks.add),
      removeWebhook: byToken(webhooks.remove),
      testWebhook: byToken(webhooks.test),
      events: byToken(createAnswerEvents(options.events)),
    }),
    ...createPreviousRoutes({ pushes, limits, byToken, facts }),
  ]
}
