// Creates the services of a server on its store.

import { availableParallelism } from 'node:os'
import { createAccountLinks } from '../accounts/account-links.ts'
import { createAccounts } from '../accounts/accounts.ts'
import { createApiTokens } from '../accounts/api-tokens.ts'
import { createPasswords } from '../accounts/passwords.ts'
import { createPeople } from '../accounts/people.ts'
import { createPreferences } from '../accounts/preferences.ts'
import { createSessions } from '../accounts/sessions.ts'
import { createKnownAddresses, createSignInLimit } from '../accounts/sign-in-limit.ts'
import { createSignUp } from '../accounts/sign-up.ts'
import { createTwoFactor } from '../accounts/two-factor.ts'
import type { Argon2Cost } from '../crypto/passphrase.ts'
import { tokensPauseAt } from '../domain/account.ts'
import { countingLoopback, createClientOf } from '../domain/client.ts'
import type { Job } from '../domain/job.ts'
import { DAY, type Now } from '../domain/time.ts'
import type { Network } from '../http/door/listener.ts'
import { listOrNone } from '../http/door/reachable.ts'
import type { Appearances } from '../operating/appearance.ts'
import { createJobs } from '../operating/jobs.ts'
import type { Log } from '../operating/log.ts'
import { noteFailure } from '../operating/logging.ts'
import type { Metrics } from '../operating/metrics.ts'
import { createCountPushes, createReadStatus } from '../operating/status.ts'
import { createExpiryJob, createSweepJob } from '../operating/sweep-schedule.ts'
import { createDownloads, type Downloads } from '../pushes/downloads.ts'
import { createIdempotency } from '../pushes/idempotency.ts'
import { createMailLimit, createShareOf, createShortTokens } from '../pushes/limits.ts'
import { createLinkMails } from '../pushes/link-mails.ts'
import { createPageSeals } from '../pushes/page-seals.ts'
import { createPassphrases } from '../pushes/passphrases.ts'
import { createPushes, type Pushes } from '../pushes/pushes.ts'
import { createRelieve } from '../pushes/relief.ts'
import { createSweeper } from '../pushes/sweeper.ts'
import { createUploads } from '../pushes/uploads.ts'
import { createWaitingLine } from '../pushes/waiting-line.ts'
import { createRequests } from '../requests/requests.ts'
import { nameDatabase } from '../settings/database.ts'
import { pushLimitsOf, shareLimitsOf } from '../settings/push-limits.ts'
import type { Config } from '../settings/table.ts'
import { removeSetupLink } from '../store/folder/notes.ts'
import type { OpenedStore } from '../store/opening/opened-store.ts'
import { createNotices } from './notices.ts'
import {
  createAllowsPassword,
  createAllowsReset,
  createPasskeySignIn,
  createProvider,
  createProxySignIn,
  createWatchBreakGlass,
} from './sign-in.ts'

/**
 * How often a download checks that its push is still live. On SQLite this takes microseconds, so it checks
 * every time; on PostgreSQL it takes a round trip.
 */
const RECHECK_EVERY_MS = 250

type ServicesOptions = {
  config: Config
  store: OpenedStore
  log: Log
  /** The metrics; null without --metrics-listen. */
  metrics: Metrics | null
  appearance: Pick<Appearances, 'inEffect'>
  listAddresses: Network['listAddresses']
  systemNow: Now
  argon2Cost: Argon2Cost
  /** Milliseconds between polls of the outbox; tests shorten it. */
  lookEvery?: number | undefined
  /** Jobs besides those of the store, the sweeper and the deliveries. */
  otherJobs: readonly Job[]
}

export type Services = ReturnType<typeof createServices>

export function createServices(options: ServicesOptions) {
  const { store, log } = options
  const { keyring, now } = store
  const limits = createLimits(options)
  const sharing = createSharing(options, limits)
  const access = createAccess(options, limits)
  const notices = createNotices({
    ...options,
    mailLimit: limits.mails,
    preferences: access.preferences,
    findToMail: sharing.pushes.findToMail,
  })
  return {
    /** Limits on the work that one client can cause. */
    limits,
    /** Pushes and their files. */
    sharing,
    /** Requests for secrets. */
    requests: createRequests({ ...limits, ...sharing, store, log, keyring, now }),
    /** Pushes and requests for --receive-listen; null without it. */
    forRecipients: options.config.receiveListen === null ? null : createOutside(options, limits, sharing),
    /** Accounts, and how they sign in. */
    access,
    /** Events, webhooks and mail. */
    notices,
    /** Background jobs, and their status for administrators. */
    upkeep: createUpkeep(options, notices.deliveries),
  }
}

type Limits = ReturnType<typeof createLimits>

function createLimits({ config, store, argon2Cost, listAddresses }: ServicesOptions) {
  const { keyring, now, shared } = store
  const clientOf = createClientOf(() => listOrNone(listAddresses))
  // The queue for all argon2 hashing of the process. Using every core would starve file reads, which share
  // the thread pool.
  const hashing = createWaitingLine({ atOnce: Math.max(1, availableParallelism() - 1), clientOf })
  return {
    clientOf,
    hashing,
    passphrases: createPassphrases({ inLine: hashing.inLine, argon2Cost, clientOf }),
    maxWrongTries: config.maxPassphraseAttempts,
    shareOf: createShareOf({ keyring, limits: shareLimitsOf(config), clientOf }),
    mails: createMailLimit({ budgets: shared.budgets, now, clientOf, hasSignUps: config.signups }),
    signIn: createSignInLimit({
      budgets: shared.budgets,
      ...{ now, clientOf, knownAddresses: createKnownAddresses(store) },
    }),
  }
}

type Sharing = ReturnType<typeof createSharing>

function createSharing(options: ServicesOptions, shared: Limits) {
  const { config, store } = options
  const { keyring, now } = store
  const limits = pushLimitsOf(config)
  const relieve = createRelieve(() => Bun.gc(true))
  const downloads = createDownloads({
    ...{ store, keyring, now, relieve, elapsed: () => performance.now() },
    lookEvery: store.database === null ? 0 : RECHECK_EVERY_MS,
  })
  return {
    /** The bounds and defaults of a new push. */
    limits,
    pushes: createMeteredPushes(options, { ...shared, ...downloads }),
    uploads: createUploads({ store, limits, relieve }),
    downloads,
    idempotency: createIdempotency({ store, keyring, now }),
    ...createPageSeals({ keyring, usedNonces: store.shared.nonces, now }),
  }
}

function createMeteredPushes(
  { store, metrics }: ServicesOptions,
  shared: Limits & Pick<Downloads, 'grantAll'>,
): Pushes {
  const { keyring, now } = store
  const pushes = createPushes({
    ...{ ...shared, store, keyring, now },
    linkMails: createLinkMails({ keyring, limit: shared.mails }),
    shortTokens: createShortTokens({ now, clientOf: shared.clientOf }),
  })
  return metrics === null ? pushes : meterPushes(pushes, metrics)
}

/**
 * Makes the services of --receive-listen, where limits count loopback like any client, and hashing uses at
 * most half of the queue.
 */
function createOutside(options: ServicesOptions, shared: Limits, sharing: Sharing) {
  const { config, store, argon2Cost, log } = options
  const { keyring, now } = store
  const clientOf = countingLoopback(shared.clientOf)
  const { inTurn } = shared.passphrases
  const limits: Limits = {
    ...{ ...shared, clientOf },
    passphrases: { ...createPassphrases({ inLine: shared.hashing.inHalf, argon2Cost, clientOf }), inTurn },
    shareOf: createShareOf({ keyring, limits: shareLimitsOf(config), clientOf }),
  }
  const pushes = createMeteredPushes(options, { ...limits, ...sharing.downloads })
  return { pushes, requests: createRequests({ ...limits, ...sharing, pushes, store, log, keyring, now }) }
}

function createAccess(options: ServicesOptions, { hashing, mails, signIn: limit }: Limits) {
  const { config, store, appearance, systemNow, argon2Cost, log } = options
  const { keyring, now } = store
  const { inLine } = hashing
  const passwords = createPasswords(argon2Cost, { nameOfInstance: () => appearance.inEffect().name })
  const accounts = createAccounts({ store, passwords })
  const allowsPassword = createAllowsPassword(config)
  const sessions = createSessions({
    ...{ store, passwords, keyring, inLine, limit, now, systemNow, allowsPassword },
    onPasswordSignIn: createWatchBreakGlass(options),
  })
  return {
    accounts,
    people: createPeople(store),
    signUp: createSignUp({ accounts, inLine, limit, domains: config.signupDomains }),
    apiTokens: createApiTokens({
      ...{ apiTokens: store.apiTokens, accounts },
      isPaused: ({ account, lastSignInAt }) => {
        const pausesAt = tokensPauseAt({ ...account, lastSignInAt }, config.tokenPauseDays * DAY)
        return pausesAt !== null && now() >= pausesAt
      },
    }),
    accountLinks: createAccountLinks({
      ...{ store, passwords, inLine, limit, keyring },
      allowsReset: createAllowsReset(config),
      // Only this account can sign in with the password that the link asks for.
      setupEmail: config.passwordSignIn === 'no' ? config.breakGlass : null,
      mailLimit: config.smtpUrl === null ? null : mails,
      onError: noteFailure(log, 'could not send a link for a new password'),
      onSetUp: () => removeSetupLink(config.dataDir),
    }),
    sessions,
    provider: createProvider(options, sessions),
    passkeys: createPasskeySignIn(options, { sessions, limit }),
    headerSignIn: createProxySignIn(options, sessions),
    twoFactor: createTwoFactor({ store, keyring, limit, now, systemNow }),
    preferences: createPreferences({
      store,
      limits: pushLimitsOf(config),
      onError: noteFailure(log, 'could not save the defaults for the next push'),
    }),
  }
}

function createUpkeep({ config, store, log, otherJobs }: ServicesOptions, deliveries: Job) {
  const { now, clock } = store
  const { purgeAfter, sweepEvery: every } = config
  const pauseTokensAfter = config.tokenPauseDays * DAY
  const sweeper = createSweeper({ ...store, trusted: clock.trusted, purgeAfter, pauseTokensAfter })
  const sweeping = [
    createSweepJob({ sweeper, every, log }),
    createExpiryJob({ sweeper, trusted: clock.trusted }),
  ]
  const jobs = [...store.jobs, ...sweeping, deliveries, ...otherJobs]
  const countPushes = createCountPushes({ health: store.health, now })
  return {
    sweeper,
    jobs: createJobs({ jobs, now, log, isOut: store.database?.isOut }),
    countPushes,
    readStatus: createReadStatus({
      ...{ countPushes, store, sweeper, now, doubt: clock.doubt },
      databaseName: nameDatabase(config) ?? '',
    }),
    acceptClock: createAcceptClock({ accept: clock.accept, log }),
  }
}

/** Logs who confirmed the clock, because pushes that have expired by it are destroyed from then on. */
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
