// Mails that send the link of a push, at its creation or later.

import type { Keyring } from '../crypto/keyring.ts'
import type { Account } from '../domain/account.ts'
import type { LinkMail } from '../domain/new-push.ts'
import type { Push } from '../domain/push.ts'
import type { MailLimit } from './limits.ts'
import { sealMail } from './sealed-mails.ts'

export type LinkMails = ReturnType<typeof createLinkMails>

type Options = { keyring: Keyring; limit: MailLimit }

/** A push, and the account that sends its link. */
type LinkToSend = { urlToken: string; account: Account; address: string; push: Pick<Push, 'showsSender'> }

export function createLinkMails({ keyring, limit }: Options) {
  /**
   * Passes one mail per recipient to `store`, so that no recipient sees the others. Throws `too_many_mails`.
   */
  return <T>(
    { recipients, language }: LinkMail,
    { urlToken, account, address, push }: LinkToSend,
    store: (mails: readonly string[]) => Promise<T>,
  ): Promise<T> => {
    const sender = push.showsSender ? account.email : null
    const place = { field: 'link_mail', accountId: account.id, keyring } as const
    const seal = (to: string) => sealMail({ to, language, urlToken, sender }, place)
    return limit.take({ account, address, recipients }, () => store(recipients.map(seal)))
  }
}
