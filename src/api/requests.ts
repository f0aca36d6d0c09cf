// The endpoints of requests for secrets: the owner's, and the one that accepts answers from strangers.

import type { PushLimits } from '../domain/new-push.ts'
import { formatTime } from '../domain/time.ts'
import { answerJson } from '../http/answers.ts'
import type { BodyLimits } from '../http/intake/body.ts'
import { readPushFields } from '../http/intake/push-body.ts'
import { createReceiveAnswer } from '../http/intake/receiving.ts'
import { createParseRequest } from '../http/intake/request-input.ts'
import { requestLink } from '../http/urls.ts'
import type { AskedRequest, OwnRequest, Requests } from '../requests/requests.ts'
import type { AnswerBody } from './answer-tables.ts'
import { readPage, readPassphrase, readUrlToken } from './parameters.ts'
import { answerList } from './pushes.ts'
import { type ApiRequest, requireAccount } from './viewer.ts'

export function createRequestEndpoints(options: {
  requests: Requests
  limits: PushLimits
  body: BodyLimits
}) {
  const { requests, limits, body } = options
  const parse = createParseRequest(limits)
  const receiveAnswer = createReceiveAnswer(options)

  async function create({ exchange, viewer }: ApiRequest): Promise<Response> {
    const wanted = parse(await readPushFields(exchange, { ...body, wrappers: ['request'] }))
    const account = requireAccount(viewer)
    const made = await requests.create(account, { wanted, address: viewer.visit.ip })
    return answerJson(201, presentRequest(made, exchange.linkBase))
  }

  async function list({ exchange, viewer }: ApiRequest): Promise<Response> {
    const listed = await requests.list(requireAccount(viewer), readPage(exchange))
    return answerList(
      listed.requests.map((request) => presentRequest(request, exchange.linkBase)),
      listed,
    )
  }

  const showWith =
    (find: Requests['get']) =>
    async ({ exchange, viewer, params }: ApiRequest): Promise<Response> =>
      answerJson(
        200,
        presentRequest(await find(requireAccount(viewer), readUrlToken({ params })), exchange.linkBase),
      )

  async function answer({ exchange, viewer, params }: ApiRequest): Promise<Response> {
    const idempotencyKey = exchange.request.headers.get('idempotency-key')
    const answering = await requests.beginAnswer(readUrlToken({ params }), { viewer, idempotencyKey })
    try {
      await receiveAnswer({ exchange, sink: answering, passphrase: readPassphrase(exchange) })
      return answerJson(201, { received: true })
    } finally {
      await answering.end()
    }
  }

  return { create, list, show: showWith(requests.get), close: showWith(requests.close), answer }
}

function presentRequest({ request, ...own }: OwnRequest, linkBase: string): AnswerBody<'Request'> {
  return {
    url_token: own.urlToken,
    html_url: requestLink(own.urlToken, linkBase),
    created_at: formatTime(request.createdAt),
    expires_at: formatTime(request.expiresAt),
    accept: acceptOf(request),
    name: own.name,
    message: own.message,
    max_answers: request.maxAnswers,
    answers: request.answers,
    passphrase_required: own.passphraseRequired,
    recipient: request.recipient,
    closed: own.isOver,
  }
}

function acceptOf({ acceptsText, acceptsFiles }: Pick<AskedRequest, 'acceptsText' | 'acceptsFiles'>) {
  return [...(acceptsText ? ['text'] : []), ...(acceptsFiles ? ['files'] : [])]
}

/** Presents what the sender's page shows. `asker`: the e-mail address of an owner who chose to be named. */
export function presentAsked(asked: AskedRequest, asker: string | null) {
  return {
    accept: acceptOf(asked),
    message: asked.message,
    asker,
    expires_at: formatTime(asked.expiresAt),
    passphrase_required: asked.passphraseRequired,
    recipient: asked.recipient,
  }
}
