// Webhooks of accounts, and those of administrators for all accounts: create, list, test, delete and deliver.

import { hmac } from '../crypto/digest.ts'
import type { Keyring } from '../crypto/keyring.ts'
import { randomKey } from '../crypto/random.ts'
import { openForAccount, sealForAccount } from '../crypto/sealed-field.ts'
import { newRandomToken } from '../crypto/tokens.ts'
import { conflict, notFound } from '../domain/errors.ts'
import type { EventType } from '../domain/events.ts'
import type { DeliveryFailure, NewWebhook } from '../domain/outbox.ts'
import type { Now } from '../domain/time.ts'
import { openTexts, placeOfPush } from '../pushes/labels.ts'
import type { TestLimit } from '../pushes/limits.ts'
import type { Store } from '../store/contract.ts'
import type { DueMessage, ListedWebhook, StoredWebhook } from '../store/notices-contract.ts'
import type { Channel } from './deliveries.ts'
import type { Tried } from './failures.ts'
import type { OutboundOptions } from './guarded-request.ts'
import type { Addressee, WebhookMessage } from './webhook-formats.ts'

const SECRET_BYTES = 32

export type Webhooks = ReturnType<typeof createWebhooks>

type WebhooksOptions = {
  store: Pick<Store, 'webhooks' | 'lists'>
  keyring: Keyring
  outside: OutboundOptions
  limitTests: TestLimit
  tellTried: (tried: Tried) => void
  now: Now
}

export type { ListedWebhook, StoredWebhook } from '../store/notices-contract.ts'

/** `owner`: the id of an account; null for the administrators. */
type Owner = number | null

export function createWebhooks({ store, keyring, outside, limitTests, tellTried, now }: WebhooksOptions) {
  const { webhooks } = store
  const { listed } = outside
  const testing = new Set<number>()

  /**
   * Creates a webhook. Its secret is shown only this once. Webhooks of administrators get no names, which
   * belong to the accounts.
   */
  async function add(
    accountId: Owner,
    { url, ...wanted }: NewWebhook,
  ): Promise<StoredWebhook & { secret: string }> {
    const secret = `whsec_${randomKey(SECRET_BYTES).toString('base64')}`
    const sealed = sealForAccount(JSON.stringify({ url, secret }), { accountId, field: 'webhook', keyring })
    const withName = wanted.withName && accountId !== null
    // `host` includes the port, if the URL has one.
    const { host } = new URL(url)
    return { ...(await webhooks.addWebhook({ ...wanted, accountId, host, sealed, withName })), secret }
  }

  async function get(owner: Owner, id: number): Promise<ListedWebhook> {
    const found = (await webhooks.listWebhooks(owner)).find((webhook) => webhook.id === id)
    if (found === undefined) throw notFound()
    return found
  }

  async function remove(owner: Owner, id: number): Promise<ListedWebhook> {
    const webhook = await get(owner, id)
    await webhooks.removeWebhook({ id, accountId: owner })
    return webhook
  }

  /**
   * Sends a test message, and resolves to the webhook with its result. Throws `conflict` while another test
   * runs, and `too_many`.
   */
  async function test(owner: Owner, id: number): Promise<ListedWebhook> {
    const webhook = await get(owner, id)
    if (testing.has(id)) throw conflict('A test of this webhook is under way: wait for its end.')
    await limitTests(owner)
    testing.add(id)
    const message = {
      id: `msg_${newRandomToken()}`,
      type: 'webhook.test',
      at: now(),
      data: {},
      name: null,
    } as const
    try {
      await webhooks.noteTest(id, await send(message, webhook))
      return await get(owner, id)
    } finally {
      testing.delete(id)
    }
  }

  async function deliver(due: DueMessage, stopped: AbortSignal): Promise<DeliveryFailure | null> {
    const webhook = due.webhookId === null ? null : await webhooks.findWebhook(due.webhookId)
    // The webhook was removed after the message was queued.
    if (webhook === null) return null
    const { type, at, data } = parseEvent(due.body)
    const name = webhook.withName ? await findName(due) : null
    return send({ id: `msg_${messageIdOf(due, keyring)}`, type, at, data, name }, webhook, stopped)
  }

  /** Resolves to null also for a push that was purged, or belongs to another account. */
  async function findName({ pushId, accountId }: DueMessage): Promise<string | null> {
    const [texts] = pushId === null ? [] : await store.lists.readTexts([pushId])
    if (texts === undefined || texts.ownerId === null || texts.ownerId !== accountId) return null
    return openTexts(texts, placeOfPush(texts, keyring)).name || null
  }

  /** Loads the network code with the first message. */
  async function send(message: WebhookMessage, webhook: StoredWebhook, stopped?: AbortSignal) {
    const { id, accountId, host, sealed, format, lastError: before } = webhook
    const opened = openForAccount(sealed, { accountId, field: 'webhook', keyring })
    if (opened === null) return 'damaged'
    const to: Addressee = { ...JSON.parse(opened), format }
    const { requestFor } = await import('./webhook-formats.ts')
    const { requestOutside } = await import('./guarded-request.ts')
    const error = await requestOutside(requestFor(message, to, now()), outside, stopped)
    if (!stopped?.aborted) tellTried({ receiver: `webhook ${id} (${host})`, before, error })
    return error
  }

  const channel: Channel = { kinds: ['webhook'], deliver }
  return {
    channel,
    /** Whether the operator lists any host. */
    isOn: listed.length > 0,
    listed,
    add,
    list: (owner: Owner): Promise<ListedWebhook[]> => webhooks.listWebhooks(owner),
    /** Changes the events; ignores a webhook that is gone. */
    change: (accountId: Owner, id: number, events: readonly EventType[]) =>
      webhooks.changeEvents({ id, accountId }, events),
    remove,
    test,
  }
}

/** Parses the event as the store wrote it. */
export function parseEvent(body: string): Pick<WebhookMessage, 'at' | 'data'> & { type: EventType } {
  return JSON.parse(body)
}

/** Returns an id that is the same at each retry, unique even after a restore, and hard to guess. */
export function messageIdOf({ id, at }: DueMessage, { sealing }: Keyring): string {
  return hmac(sealing.notices, `message/${id}/${at}`).toString('hex').slice(0, 32)
}
