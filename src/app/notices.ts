// What leaves the server by itself: the channels that are configured, and the job that delivers through them.

import { PAGES, secretLink } from '../http/urls.ts'
import { createDeliveries } from '../notices/deliveries.ts'
import { createMailChannel } from '../notices/mail-channel.ts'
import { createMailer, type Mailer } from '../notices/mailer.ts'
import { createWebhooks } from '../notices/webhooks.ts'
import type { Appearances } from '../operating/appearance.ts'
import type { Pushes } from '../pushes/pushes.ts'
import type { Config } from '../settings/table.ts'
import type { OpenedStore } from '../store/opening/opened-store.ts'

type NoticesOptions = {
  config: Config
  store: OpenedStore
  appearance: Pick<Appearances, 'inEffect'>
  pushes: Pick<Pushes, 'findToMail'>
  /** The addresses of this machine. */
  listAddresses: () => readonly string[]
}

export function createNotices({ config, store, appearance, pushes, listAddresses }: NoticesOptions) {
  const { keyring, now } = store
  const mailer = createOwnMailer(config)
  const home = config.baseUrl ?? ''
  const mail = mailer && {
    mailer,
    channel: createMailChannel({
      ...{ mailer, store, keyring, findToMail: pushes.findToMail },
      links: {
        home,
        secret: (addressed) => secretLink(addressed, home),
        welcome: (link) => `${home}${PAGES.welcome.href({ link })}`,
      },
      nameOfInstance: () => appearance.inEffect().name,
    }),
  }
  const outside = { listed: config.webhookHosts, listAddresses }
  const webhooks = createWebhooks({ store, keyring, outside, now })
  const channels = [webhooks.channel, ...(mail === null ? [] : [mail.channel])]
  const { outbox, events } = store
  return { mail, webhooks, deliveries: createDeliveries({ outbox, channels, onTold: events.onTold, now }) }
}

/** Null while no mail server is configured. */
export function createOwnMailer({ smtpUrl, mailFrom, baseUrl }: Config): Mailer | null {
  if (smtpUrl === null || mailFrom === null || baseUrl === null) return null
  return createMailer({ server: smtpUrl, from: mailFrom, hostName: new URL(baseUrl).hostname })
}
