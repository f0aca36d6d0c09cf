// An account's own public key of age. Each new request without another one copies it, so that a change touches none that is open.

import type { Account } from '../domain/account.ts'
import type { Store } from '../store/face.ts'
import { requireRecipient } from './recipient.ts'

export type OwnRecipient = ReturnType<typeof createOwnRecipient>

export type OwnRecipientOptions = {
  store: Pick<Store, 'preferences'>
  /** Is told each change, because whoever makes one reads later answers. */
  log: { info: (kept: { accountId: number; recipient: string | null }, message: string) => void }
}

export function createOwnRecipient({ store, log }: OwnRecipientOptions) {
  async function find({ id }: Account): Promise<string | null> {
    return (await store.preferences.find(id))?.recipient ?? null
  }

  /** An empty text removes it. Throws `invalid` for what nothing can be encrypted for. */
  async function keep({ id: accountId }: Account, text: string): Promise<void> {
    const recipient = text.trim() === '' ? null : text.trim()
    if (recipient !== null) await requireRecipient(recipient)
    await store.preferences.keep({ accountId, recipient })
    log.info({ accountId, recipient }, 'an account has changed its age key')
  }

  return { find, keep }
}
