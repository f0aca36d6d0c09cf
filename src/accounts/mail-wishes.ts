// Of which events an account wants to be told by mail.

import type { Account } from '../domain/account.ts'
import { EVENT_TYPES, type EventType } from '../domain/events.ts'
import type { Language } from '../domain/language.ts'
import type { Store } from '../store/face.ts'

export type MailWishes = {
  events: readonly EventType[]
  /** Whether a mail names the push. */
  names: boolean
  language: Language
}

export type MailWishesOfAccounts = ReturnType<typeof createMailWishes>

export function createMailWishes(store: Pick<Store, 'preferences'>) {
  async function find({ id }: Pick<Account, 'id'>): Promise<MailWishes> {
    const kept = await store.preferences.find(id)
    const types = kept?.mailEvents?.split(',') ?? []
    const events = EVENT_TYPES.filter((type) => types.includes(type))
    return { events, names: kept?.mailNames === true, language: kept?.mailLanguage ?? 'en' }
  }

  async function keep({ id }: Account, { events, names, language }: MailWishes): Promise<void> {
    const mailEvents = events.length === 0 ? null : `,${events.join()},`
    await store.preferences.keep({ accountId: id, mailEvents, mailNames: names, mailLanguage: language })
  }

  return { find, keep }
}
