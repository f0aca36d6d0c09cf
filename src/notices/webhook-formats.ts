// The message formats of services. Names are only in bodies, as text that JSON escapes and no service reads
// as markup.

import { hmac } from '../crypto/digest.ts'
import type { EventType } from '../domain/events.ts'
import type { WebhookFormat } from '../domain/outbox.ts'
import { formatTime, SECOND } from '../domain/time.ts'
import { wordsOf } from '../words/words.ts'
import type { OutboundRequest } from './guarded-request.ts'

export type WebhookMessage = {
  /** The id of the message, which stays the same in retries. */
  id: string
  type: EventType | 'webhook.test'
  at: number
  data: object
  /** The name of the push; null if it has none, or if the owner does not want it in webhooks. */
  name: string | null
}

type Form = (message: WebhookMessage, url: string) => OutboundRequest

/** Returns the sentence in English, because one webhook may receive the events of all accounts. */
function sentenceOf({ type, name }: WebhookMessage): string {
  const text = type === 'webhook.test' ? 'This is a test of a webhook' : wordsOf('en').say(`event_${type}`)
  return name === null ? `${text}.` : `${text}: ${name}`
}

/** https://www.standardwebhooks.com */
function standard({ type, at, data, name }: WebhookMessage, url: string): OutboundRequest {
  return post(url, { type, timestamp: formatTime(at), data: name === null ? data : { ...data, name } })
}

/**
 * Publishes to the topic of a URL such as https://ntfy.sh/topic, as JSON, because headers would need an
 * encoding.
 */
function ntfy(message: WebhookMessage, url: string): OutboundRequest {
  const place = new URL(url)
  const [, root = '/', topic = ''] = /^(.*\/)([^/]*)\/?$/.exec(place.pathname) ?? []
  place.pathname = root
  return post(place.href, { topic, title: 'Oncebox', message: sentenceOf(message) })
}

/** https://gotify.example/message?token=… */
function gotify(message: WebhookMessage, url: string): OutboundRequest {
  return post(url, { title: 'Oncebox', message: sentenceOf(message), priority: 5 })
}

/** An incoming webhook of Slack or a compatible service. */
function slack(message: WebhookMessage, url: string): OutboundRequest {
  const marks: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
  const text = sentenceOf(message).replace(/[&<>]/g, (mark) => marks[mark] ?? '')
  return post(url, { text, mrkdwn: false })
}

/** A workflow of Teams that accepts adaptive cards. Runs of rich text are not read as Markdown. */
function teams(message: WebhookMessage, url: string): OutboundRequest {
  const inlines = [{ type: 'TextRun', text: sentenceOf(message) }]
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    ...{ type: 'AdaptiveCard', version: '1.2', body: [{ type: 'RichTextBlock', inlines }] },
  }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  return post(url, { type: 'message', attachments: [{ contentType, contentUrl: null, content }] })
}

/**
 * https://matrix.example/_matrix/client/v3/rooms/ROOM/send/m.room.message?access_token=…, with the message id
 * as its transaction id.
 */
function matrix(message: WebhookMessage, url: string): OutboundRequest {
  const place = new URL(url)
  const token = place.searchParams.get('access_token') ?? ''
  place.searchParams.delete('access_token')
  place.pathname = `${place.pathname.replace(/\/$/, '')}/${message.id}`
  const body = { msgtype: 'm.text', body: sentenceOf(message) }
  return { ...post(place.href, body), method: 'PUT', headers: { Authorization: `Bearer ${token}` } }
}

/** https://home.example/api/webhook/ID: an automation reads `trigger.json.message`. */
function homeAssistant(message: WebhookMessage, url: string): OutboundRequest {
  const { type, at, data } = message
  return post(url, { type, timestamp: formatTime(at), message: sentenceOf(message), ...data })
}

function post(url: string, body: object): OutboundRequest {
  return { method: 'POST', url, headers: {}, body: JSON.stringify(body) }
}

const FORMS: Record<WebhookFormat, Form> = {
  ...{ standard, ntfy, gotify, slack, teams, matrix, 'home-assistant': homeAssistant },
}

export type Addressee = { url: string; secret: string; format: WebhookFormat }

/**
 * Returns the request that delivers a message at `now`, signed by the Standard Webhooks specification in
 * every format.
 */
export function requestFor(message: WebhookMessage, to: Addressee, now: number): OutboundRequest {
  const request = FORMS[to.format](message, to.url)
  const timestamp = Math.floor(now / SECOND)
  const key = Buffer.from(to.secret.replace('whsec_', ''), 'base64')
  const signature = hmac(key, `${message.id}.${timestamp}.${request.body}`).toString('base64')
  const signed = {
    ...{ 'webhook-id': message.id, 'webhook-timestamp': `${timestamp}` },
    'webhook-signature': `v1,${signature}`,
  }
  return { ...request, headers: { ...request.headers, ...signed } }
}
