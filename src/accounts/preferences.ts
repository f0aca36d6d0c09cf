// Preferences of an account: its message for secret links, the limits that it asked to use again, and the
// mails that it wants. Kept on the server, not in the browser, so that they follow the account to every
// device, work without JavaScript and leave nothing on a shared computer. They hold no content, name or
// passphrase.

import type { Account } from '../domain/account.ts'
import { invalidFields } from '../domain/errors.ts'
import { EVENT_TYPES, type EventType } from '../domain/events.ts'
import type { Language } from '../domain/language.ts'
import { problemOfMessage, tidyMessage } from '../domain/message-template.ts'
import type { NewPush, PushLimits } from '../domain/new-push.ts'
import { choicesOf, fitChoices, NO_CHOICES, type PushChoices } from '../domain/push-choices.ts'
import type { Store } from '../store/contract.ts'

/** The events that an account wants mail about, and the language of these mails. */
type MailWishes = { events: readonly EventType[]; language: Language }

/** The link of a message: that of a secret, or that of a request. */
export type MessageUse = 'share' | 'ask'

const TEMPLATES = { share: 'template', ask: 'askTemplate' } as const

export type AccountPreferences = ReturnType<typeof createPreferences>

type PreferencesOptions = {
  store: Pick<Store, 'preferences'>
  limits: PushLimits
  onError: (cause: unknown) => void
}

export function createPreferences({ store: { preferences }, limits, onError }: PreferencesOptions) {
  /** Resolves to the account's message; null without an account, and for the standard message. */
  async function findTemplate(account: Account | null, use: MessageUse = 'share'): Promise<string | null> {
    return (account && (await preferences.find(account.id)))?.[TEMPLATES[use]] ?? null
  }

  /**
   * Saves the message. An empty text restores the standard one. Throws `invalid` for a text without the
   * placeholder for the link.
   */
  async function keepTemplate({ id: accountId }: Account, text: string, use: MessageUse): Promise<void> {
    const template = tidyMessage(text)
    const problem = template === '' ? null : problemOfMessage(template)
    if (problem !== null) throw invalidFields({ message: [problem] })
    await preferences.keep({ accountId, [TEMPLATES[use]]: template === '' ? null : template })
  }

  /**
   * Resolves to the choices, clamped to the current limits, which may have changed since; null without an
   * account.
   */
  async function findChoices(account: Account | null): Promise<PushChoices> {
    const kept = account && (await preferences.find(account.id))
    return kept === null ? NO_CHOICES : fitChoices(kept, limits)
  }

  /** Saves the choices if they have changed. Never throws, because the push is already created. */
  async function rememberChoices({ id: accountId }: Account, push: NewPush): Promise<void> {
    try {
      const kept = (await preferences.find(accountId)) ?? NO_CHOICES
      const { lifetime, views, retrievalStep, deletableByViewer, endToEnd } = kept
      const chosen = choicesOf(push, limits)
      // Links and QR codes leave no choice.
      const choices = push.kind === 'url' || push.kind === 'qr' ? { ...chosen, endToEnd } : chosen
      if (Bun.deepEquals(choices, { lifetime, views, retrievalStep, deletableByViewer, endToEnd })) return
      await preferences.keep({ accountId, ...choices })
    } catch (cause) {
      onError(cause)
    }
  }

  async function findMailWishes({ id }: Pick<Account, 'id'>): Promise<MailWishes> {
    const kept = await preferences.find(id)
    const types = kept?.mailEvents?.split(',') ?? []
    const events = EVENT_TYPES.filter((type) => types.includes(type))
    return { events, language: kept?.mailLanguage ?? 'en' }
  }

  /** Returns the language that an account brought along or last chose for its mails; null without one. */
  async function findLanguage({ id }: Pick<Account, 'id'>): Promise<Language | null> {
    return (await preferences.find(id))?.mailLanguage ?? null
  }

  async function keepMailWishes({ id: accountId }: Account, { events, language }: MailWishes): Promise<void> {
    const mailEvents = events.length === 0 ? null : `,${events.join()},`
    await preferences.keep({ accountId, mailEvents, mailLanguage: language })
  }

  return {
    findTemplate,
    keepTemplate,
    findChoices,
    rememberChoices,
    findLanguage,
    findMailWishes,
    keepMailWishes,
  }
}
