// Notices: the configured channels, mail and webhooks, and the job that delivers through them.

import type { AccountPreferences } from '../accounts/preferences.ts'
import { MINUTE, SECOND } from '../domain/time.ts'
import { PAGES, secretLink } from '../http/urls.ts'
import { createDeliveries } from '../notices/deliveries.ts'
import { createEvents } from '../notices/events.ts'
import { createTellTried, watchMailer } from '../notices/failures.ts'
import { createMailChannel } from '../notices/mail-channel.ts'
import { createMailer, type Mailer } from '../notices/mailer.ts'
import { createWebhooks } from '../notices/webhooks.ts'
import type { Appearances } from '../operating/appearance.ts'
import type { Log } from '../operating/log.ts'
import { createTestLimit, type MailLimit } from '../pushes/limits.ts'
import type { Pushes } from '../pushes/pushes.ts'
import type { Config } from '../settings/table.ts'
import type { OpenedStore } from '../store/opening/opened-store.ts'

/** The interval of polls for messages that another node has queued. */
const BESIDE_NODES_MS = SECOND
/** The interval of polls for messages that a crash has left, or a command beside the server has queued. */
const ALONE_MS = MINUTE

type NoticesOptions = {
  /** Milliseconds between polls of the outbox; tests shorten it. */
  lookEvery?: number | undefined
  config: Config
  store: OpenedStore
  log: Log
  appearance: Pick<Appearances, 'inEffect'>
  findToMail: Pushes['findToMail']
  mailLimit: MailLimit
  preferences: AccountPreferences
}

export function createNotices(options: NoticesOptions) {
  const { config, store, log, appearance, findToMail, mailLimit, preferences } = options
  const { keyring, now } = store
  const limitTests = createTestLimit({ budgets: store.shared.budgets, now })
  const tellTried = createTellTried(log)
  const own = createOwnMailer(config)
  const mailer = own && watchMailer(own, { tellTried, now })
  const home = config.baseUrl ?? ''
  const mail = mailer && {
    mailer,
    ...createMailChannel({
      ...{ mailer, store, keyring, preferences, findToMail, limit: mailLimit },
      limitTests,
      links: {
        home,
        secret: (addressed) => secretLink(addressed, config.receiveUrl ?? home),
        list: `${home}${PAGES.pushes.href()}`,
        fresh: `${home}${PAGES.pushes.href()}?show=new`,
        welcome: (link) => `${home}${PAGES.welcome.href({ link })}`,
      },
      nameOfInstance: () => appearance.inEffect().name,
    }),
  }
  const outside = { listed: config.webhookHosts }
  const webhooks = createWebhooks({ store, keyring, outside, limitTests, tellTried, now })
  const channels = [...(webhooks.isOn ? [webhooks.channel] : []), ...(mail === null ? [] : [mail.channel])]
  const { outbox } = store
  return {
    mail,
    webhooks,
    events: createEvents({ store: store.events }),
    countMessages: outbox.countOf,
    countAllMessages: store.health.countMessages,
    deliveries: createDeliveries({
      ...{ outbox, channels, now },
      damage: store.damage,
      whenQueued: store.whenQueued,
      lookEvery: options.lookEvery ?? (store.database === null ? ALONE_MS : BESIDE_NODES_MS),
    }),
  }
}

/** Returns null when no mail server is configured. */
export function createOwnMailer({ smtpUrl, mailFrom, baseUrl }: Config): Mailer | null {
  if (smtpUrl === null || mailFrom === null || baseUrl === null) return null
  return createMailer({ server: smtpUrl, from: mailFrom, hostName: new URL(baseUrl).hostname })
}
