// Sends the link of a push by mail, when it is made or later.

import type { Keyring } from '../crypto/keyring.ts'
import type { Account } from '../domain/account.ts'
import type { Viewer } from '../domain/audit.ts'
import { invalidFields, notFound, nullIfMissing } from '../domain/errors.ts'
import type { LinkMail } from '../domain/new-push.ts'
import { isExpired, type Push } from '../domain/push.ts'
import type { Now } from '../domain/time.ts'
import type { Store } from '../store/face.ts'
import type { MailLimit } from './limits.ts'
import type { Addressed } from './owner-lists.ts'
import type { PushFinder } from './push-finder.ts'
import { sealMail } from './sealed-mails.ts'

export type LinkMails = ReturnType<typeof createLinkMails>

type Options = { keyring: Keyring; limit: MailLimit }

/** The push, and who sends its link. */
type Sending = { urlToken: string; account: Account; push: Pick<Push, 'showsSender'> }

export function createLinkMails({ keyring, limit }: Options) {
  /** One for each recipient, who thus learns of no other. Throws `too_many`. */
  return async (
    { recipients, language }: LinkMail,
    { urlToken, account, push }: Sending,
  ): Promise<string[]> => {
    await limit.take(account.id, recipients.length)
    const sender = push.showsSender ? account.email : null
    const place = { field: 'link_mail', accountId: account.id, keyring } as const
    return recipients.map((to) => sealMail({ to, language, urlToken, sender }, place))
  }
}

type NotifyOptions = { store: Pick<Store, 'pushes'>; finder: PushFinder; linkMails: LinkMails; now: Now }

type ReadMail = () => Promise<LinkMail>

/** Sends the link of a push that is there already. */
export function createNotify({ store, finder, linkMails, now }: NotifyOptions) {
  /**
   * Throws `not_found`, `forbidden` for everybody but the owner, and then what `read` throws, `too_many`, and `invalid` for a push that
   * has expired.
   */
  async function notify(urlToken: string, viewer: Viewer, read: ReadMail): Promise<Addressed> {
    const { push, account } = await finder.getOwn(urlToken, viewer, 'send its link')
    const mails = await linkMails(await read(), { urlToken, account, push })
    const mailed = await store.pushes.mailLink({
      id: push.id,
      ownerId: account.id,
      mails,
      visit: viewer.visit,
    })
    if (mailed === null) throw notFound()
    if (mailed.outcome === 'ended') throw invalidFields({ notify_emails_to: [{ code: 'link_ended' }] })
    return { push: mailed.push, urlToken }
  }

  /** The push whose link waits to be sent; null when it has ended or is gone. */
  async function findToMail(urlToken: string): Promise<Push | null> {
    const found = await finder.getPush(urlToken, null).catch(nullIfMissing)
    return found === null || isExpired(found.push, now()) ? null : found.push
  }

  return { notify, findToMail }
}
