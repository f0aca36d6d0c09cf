// Makes the services of a server from its store.

import { availableParallelism } from 'node:os'
import { createAccountLinks } from '../accounts/account-links.ts'
import { createAccounts } from '../accounts/accounts.ts'
import { createApiTokens } from '../accounts/api-tokens.ts'
import { createPasswords } from '../accounts/passwords.ts'
import { createPeople } from '../accounts/people.ts'
import { createPreferences } from '../accounts/preferences.ts'
import { createKnownAddresses, createSessions } from '../accounts/sessions.ts'
import { createSignInLimit } from '../accounts/sign-in-limit.ts'
import { createSignUp } from '../accounts/sign-up.ts'
import { createTwoFactor } from '../accounts/two-factor.ts'
import type { Argon2Cost } from '../crypto/passphrase.ts'
import { type ClientOf, createClientOf } from '../domain/client.ts'
import type { Job } from '../domain/job.ts'
import type { Now } from '../domain/time.ts'
import { listOrNone, type Network } from '../http/door/listener.ts'
import { createEvents } from '../notices/events.ts'
import type { Appearances } from '../operating/appearance.ts'
import { createJobs } from '../operating/jobs.ts'
import type { Log } from '../operating/log.ts'
import { noteFailure } from '../operating/logging.ts'
import type { Metrics } from '../operating/metrics.ts'
import { createCountPushes, createReadStatus } from '../operating/status.ts'
import { createExpiryJob, createSweepJob } from '../operating/sweep-schedule.ts'
import type { SettingInEffect } from '../pages/admin/settings.tsx'
import { createDownloads } from '../pushes/downloads.ts'
import { createIdempotency } from '../pushes/idempotency.ts'
import { createMailLimit, createShareOf, createShortTokens, type MailLimit } from '../pushes/limits.ts'
import { createLinkMails } from '../pushes/link-mails.ts'
import { createPageSeals } from '../pushes/page-seals.ts'
import { createPassphrases } from '../pushes/passphrases.ts'
import { createPushes, type Pushes } from '../pushes/pushes.ts'
import { createRelieve } from '../pushes/relief.ts'
import { createSweeper } from '../pushes/sweeper.ts'
import { createUploads } from '../pushes/uploads.ts'
import { createWaitingLine, type InLine } from '../pushes/waiting-line.ts'
import { createRequests } from '../requests/requests.ts'
import { nameDatabase } from '../settings/database.ts'
import { pushLimitsOf, shareLimitsOf } from '../settings/push-limits.ts'
import type { Config } from '../settings/table.ts'
import { removeSetupLink } from '../store/folder/notes.ts'
import type { OpenedStore } from '../store/opening/opened-store.ts'
import type { Branding } from './branding.ts'
import { createNotices } from './notices.ts'

/** In a data folder a look at a push takes microseconds, at a server a round trip. */
const LOOK_EVERY_MS = 250

/** What everything of a server is made of. */
export type Base = {
  config: Config
  /** Where each setting comes from, for the administrators. */
  settings: readonly SettingInEffect[]
  version: string
  branding: Branding
  appearance: Appearances
  store: OpenedStore
  log: Log
  /** Null without metrics. */
  metrics: Metrics | null
  /** The addresses of this machine. */
  listAddresses: Network['listAddresses']
}

type ServicesOptions = Base & {
  systemNow: Now
  argon2Cost: Argon2Cost
  /** Milliseconds between looks into the outbox, for tests. */
  lookEvery?: number | undefined
  /** Jobs besides those of the store and the sweeper. */
  otherJobs: readonly Job[]
}

/** What services share. */
type Making = ServicesOptions & { clientOf: ClientOf; inLine: InLine; mailLimit: MailLimit }

export type Services = ReturnType<typeof createServices>

export function createServices(options: ServicesOptions) {
  const { store, log } = options
  const clientOf = createClientOf(() => listOrNone(options.listAddresses))
  // All argon2 work of the process. Two works at once on two cores would starve file reading, which shares
  // the thread pool.
  const hashing = createWaitingLine({ atOnce: Math.max(1, availableParallelism() - 1), clientOf })
  const mailLimit = createMailLimit({
    budgets: store.shared.budgets,
    now: store.now,
    clientOf,
    hasSignUps: options.config.signups,
  })
  const making: Making = { ...options, clientOf, inLine: hashing.inLine, mailLimit }
  const sharing = createPushServices(making)
  const preferences = createPreferences({
    store,
    limits: sharing.limits,
    onError: noteFailure(log, 'the choices for the next push were not kept'),
  })
  const notices = createNotices({ ...options, mailLimit, preferences, pushes: sharing.pushes })
  return {
    clientOf,
    countHashing: hashing.count,
    ...sharing,
    ...notices,
    findMailShortage: mailLimit.findShortage,
    ...createAccountServices(making),
    preferences,
    events: createEvents({ store: store.events }),
    ...createUpkeepServices(making, notices.deliveries),
  }
}

function createPushServices(making: Making) {
  const { config, store, log, metrics, argon2Cost, clientOf, inLine, mailLimit } = making
  const { keyring, now } = store
  const limits = pushLimitsOf(config)
  const relieve = createRelieve(() => Bun.gc(true))
  const downloads = createDownloads({
    ...{ store, keyring, now, relieve, elapsed: () => performance.now() },
    lookEvery: store.database === null ? 0 : LOOK_EVERY_MS,
  })
  const passphrases = createPassphrases({ inLine, argon2Cost, clientOf })
  const shareOf = createShareOf({ keyring, limits: shareLimitsOf(config), clientOf })
  const maxWrongTries = config.maxPassphraseAttempts
  const pushes = createPushes({
    ...{ store, keyring, passphrases, maxWrongTries, shareOf },
    linkMails: createLinkMails({ keyring, limit: mailLimit }),
    shortTokens: createShortTokens({ now, clientOf }),
    grantAll: downloads.grantAll,
    now,
  })
  const shared = {
    limits,
    pushes: metrics === null ? pushes : meterPushes(pushes, metrics),
    uploads: createUploads({ store, limits, relieve }),
    idempotency: createIdempotency({ store, keyring, now }),
  }
  return {
    ...shared,
    requests: createRequests({ ...shared, store, log, keyring, passphrases, shareOf, maxWrongTries, now }),
    downloads,
    ...createPageSeals({ keyring, usedNonces: store.shared.nonces, now }),
  }
}

function createAccountServices(making: Making) {
  const { config, store, appearance, systemNow, argon2Cost, clientOf, inLine, mailLimit, log } = making
  const { keyring, now } = store
  const passwords = createPasswords(argon2Cost, { nameOfInstance: () => appearance.inEffect().name })
  const accounts = createAccounts({ store, passwords })
  const limit = createSignInLimit({
    budgets: store.shared.budgets,
    now,
    clientOf,
    knownAddresses: createKnownAddresses(store),
  })
  return {
    accounts,
    people: createPeople(store),
    signUp: createSignUp({ accounts, inLine, limit }),
    apiTokens: createApiTokens({ apiTokens: store.apiTokens, accounts }),
    accountLinks: createAccountLinks({
      store,
      passwords,
      inLine,
      limit,
      keyring,
      mailLimit: config.smtpUrl === null ? null : mailLimit,
      onError: noteFailure(log, 'a link for a new password was not sent'),
      onSetUp: () => removeSetupLink(config.dataDir),
    }),
    sessions: createSessions({ store, passwords, keyring, inLine, limit, now, systemNow }),
    twoFactor: createTwoFactor({ store, keyring, limit, now, systemNow }),
  }
}

function createUpkeepServices({ config, store, log, otherJobs }: Making, deliveries: Job) {
  const { now, clock } = store
  const { purgeAfter, sweepEvery: every } = config
  const sweeper = createSweeper({ ...store, trusted: clock.trusted, purgeAfter })
  const jobs = createJobs({
    jobs: [
      ...store.jobs,
      createSweepJob({ sweeper, every, log }),
      createExpiryJob({ sweeper, trusted: clock.trusted }),
      deliveries,
      ...otherJobs,
    ],
    now,
    log,
    isOut: store.database?.isOut,
  })
  const countPushes = createCountPushes({ health: store.health, now })
  return {
    sweeper,
    jobs,
    countPushes,
    readStatus: createReadStatus({
      ...{ countPushes, store, sweeper, now, doubt: store.clock.doubt },
      databaseName: nameDatabase(config) ?? '',
    }),
    acceptClock: createAcceptClock({ accept: store.clock.accept, log }),
  }
}

/** Logs who confirmed the clock, because pushes that have ended by it are destroyed from then on. */
function createAcceptClock({ accept, log }: { accept: () => Promise<void>; log: Log }) {
  return async ({ accountId }: { accountId: number }): Promise<void> => {
    await accept()
    log.warn({ accountId }, 'an administrator confirmed the clock of this machine')
  }
}

/** Counts creates and retrievals. */
function meterPushes(pushes: Pushes, meter: Metrics): Pushes {
  return {
    ...pushes,
    create: async (wanted, options) => {
      const made = await pushes.create(wanted, options)
      meter.created(made.push.kind)
      meter.uploaded(made.files.reduce((total, { size }) => total + size, 0))
      return made
    },
    retrieve: async (urlToken, options) => {
      const retrieval = await pushes.retrieve(urlToken, options)
      meter.retrieved(retrieval.outcome === 'view' && options.ownLook ? 'owner_view' : retrieval.outcome)
      return retrieval
    },
  }
}
