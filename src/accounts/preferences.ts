// What an account has chosen: the message for its secret links, the limits that it asked to use again, and the mails that it gets.
//
// Choices are kept on the server, not in the browser, so that they follow the account to every device, work without JavaScript
// and leave nothing on a shared computer. They hold no content, name or passphrase.

import type { Account } from '../domain/account.ts'
import { invalidFields } from '../domain/errors.ts'
import { EVENT_TYPES, type EventType } from '../domain/events.ts'
import type { Language } from '../domain/language.ts'
import { problemOfMessage, tidyMessage } from '../domain/message-template.ts'
import type { NewPush, PushLimits } from '../domain/new-push.ts'
import { choicesOf, fitChoices, NO_CHOICES, type PushChoices } from '../domain/push-choices.ts'
import type { Store } from '../store/face.ts'

export type MessageTemplates = ReturnType<typeof createMessageTemplates>

export function createMessageTemplates(store: Pick<Store, 'preferences'>) {
  /** Null without an account, and for the standard message. */
  async function find(account: Account | null): Promise<string | null> {
    return (account && (await store.preferences.find(account.id)))?.template ?? null
  }

  /** An empty text restores the standard message. Throws `invalid` for a text without the place for the link. */
  async function keep({ id }: Account, text: string): Promise<void> {
    const template = tidyMessage(text)
    const problem = template === '' ? null : problemOfMessage(template)
    if (problem !== null) throw invalidFields({ message: [problem] })
    await store.preferences.keep({ accountId: id, template: template === '' ? null : template })
  }

  return { find, keep }
}

export type Choices = ReturnType<typeof createPushChoices>

export type ChoicesOptions = {
  store: Pick<Store, 'preferences'>
  limits: PushLimits
  onError: (cause: unknown) => void
}

export function createPushChoices({ store, limits, onError }: ChoicesOptions) {
  /** Fitted to the current limits, which may have changed since. Without an account there are no choices. */
  async function find(account: Account | null): Promise<PushChoices> {
    const kept = account && (await store.preferences.find(account.id))
    return kept === null ? NO_CHOICES : fitChoices(kept, limits)
  }

  /** Writes only when something has changed. Never throws, because the push has been created already. */
  async function remember({ id }: Account, push: NewPush): Promise<void> {
    const choices = choicesOf(push, limits)
    try {
      const kept = (await store.preferences.find(id)) ?? NO_CHOICES
      const { lifetime, views, retrievalStep, deletableByViewer } = kept
      if (Bun.deepEquals(choices, { lifetime, views, retrievalStep, deletableByViewer })) return
      await store.preferences.keep({ accountId: id, ...choices })
    } catch (cause) {
      onError(cause)
    }
  }

  return { find, remember }
}

/** Of which events an account wants to be told by mail, and in which language. */
export type MailWishes = { events: readonly EventType[]; language: Language }

export type MailWishesOfAccounts = ReturnType<typeof createMailWishes>

export function createMailWishes({ preferences }: Pick<Store, 'preferences'>) {
  async function find({ id }: Pick<Account, 'id'>): Promise<MailWishes> {
    const kept = await preferences.find(id)
    const types = kept?.mailEvents?.split(',') ?? []
    const events = EVENT_TYPES.filter((type) => types.includes(type))
    return { events, language: kept?.mailLanguage ?? 'en' }
  }

  async function keep({ id }: Account, { events, language }: MailWishes): Promise<void> {
    const mailEvents = events.length === 0 ? null : `,${events.join()},`
    await preferences.keep({ accountId: id, mailEvents, mailLanguage: language })
  }

  return { find, keep }
}
