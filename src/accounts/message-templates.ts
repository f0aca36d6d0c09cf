// The message of each account for its secret links.

import type { Account } from '../domain/account.ts'
import { invalidFields } from '../domain/errors.ts'
import { problemOfMessage, tidyMessage } from '../domain/message-template.ts'
import type { Store } from '../store/face.ts'

export type MessageTemplates = ReturnType<typeof createMessageTemplates>

export function createMessageTemplates(store: Pick<Store, 'messageTemplates'>) {
  const { findTemplate, keepTemplate } = store.messageTemplates

  /** Null without an account, and for the standard message. */
  async function find(account: Account | null): Promise<string | null> {
    return account === null ? null : findTemplate(account.id)
  }

  /** An empty text restores the standard message. Throws `invalid` for a text without the place for the link. */
  async function keep({ id }: Account, text: string): Promise<void> {
    const template = tidyMessage(text)
    const problem = template === '' ? null : problemOfMessage(template)
    if (problem !== null) throw invalidFields({ message: [problem] })
    await keepTemplate({ accountId: id, template: template === '' ? null : template })
  }

  return { find, keep }
}
