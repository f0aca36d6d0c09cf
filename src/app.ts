// The composition root: opens the log and the store, then starts backups, services, health checks, door and
// jobs.

import { version } from '../package.json'
import { openBackups } from './app/backing-up.ts'
import { type Branding, readBranding } from './app/branding.ts'
import { createDoor } from './app/door.ts'
import { createHealth } from './app/health.ts'
import { openListening } from './app/listening.ts'
import { openServedStore } from './app/open-store.ts'
import { createServices } from './app/services.ts'
import { createNotes } from './app/serving.ts'
import { checkBreakGlass } from './app/sign-in.ts'
import { openTls } from './app/tls.ts'
import { createStartBackup, type OwnProgram, type StartBackup } from './backup/backup-child.ts'
import { ARGON2_COST, type Argon2Cost } from './crypto/passphrase.ts'
import { DAY, MINUTE, type Now, type Uptime } from './domain/time.ts'
import { bindingsOf, type Network } from './http/door/listener.ts'
import type { RateLimit } from './http/door/rate-limit.ts'
import { PAGES } from './http/urls.ts'
import { createAppearanceJob, openAppearance } from './operating/appearance.ts'
import { tellHealth } from './operating/health.ts'
import type { Log } from './operating/log.ts'
import { type Logging, openLogging } from './operating/logging.ts'
import type { Metrics } from './operating/metrics.ts'
import { createReload } from './operating/reload.ts'
import { announceReady } from './operating/service-manager.ts'
import type { SettingInEffect } from './pages/admin/settings.tsx'
import { nameDatabase } from './settings/database.ts'
import { type Config, settings } from './settings/table.ts'
import { dataFolder } from './store/folder/data-folder.ts'
import { removeSetupLink } from './store/folder/notes.ts'
import { explainFailure } from './store/folder/sqlite-failures.ts'
import type { OpenedStore } from './store/opening/opened-store.ts'

export type { Network }

/** The outside world: the system's clocks in milliseconds, and the output of the log. */
type Ports = {
  now: Now
  /** Milliseconds since the machine started, including sleep. */
  uptime: Uptime
  writeLog: (line: string) => void
  /** Aborts the wait for a database server. */
  abandoned?: AbortSignal
}

/** The settings, and how administrators see each of them. */
export type ServedConfig = { config: Config; settings: readonly SettingInEffect[] }

type InstancePorts = Ports & {
  network: Pick<Network, 'listAddresses' | 'hostName'>
  rateLimit?: RateLimit
  /** The addresses that the server will listen on; by default the one of --host. */
  addresses?: readonly string[]
  /** The port of TLS, once the server listens. */
  httpsPort?: () => number
  /** Starts the process that makes a backup in --backup-dir. If it is absent, the server makes none. */
  startBackup?: StartBackup
  /** The cost of hashing. Tests lower it to be fast. */
  argon2Cost?: Argon2Cost
  /** Milliseconds between polls of the outbox; tests shorten it. */
  lookEvery?: number
  /** Overrides the store, which tests wrap to make it fail. */
  interpose?: (store: OpenedStore) => OpenedStore
}

/** A running Oncebox with `handle` in place of a socket, as tests use it. */
export type Instance = Awaited<ReturnType<typeof openInstance>>

/** Opens the log and the store, and then starts everything that runs on them. */
export async function openInstance(served: ServedConfig, ports: InstancePorts) {
  const { config } = served
  const logging = await openLogging({ config, now: ports.now, writeLine: ports.writeLog })
  const { log } = logging
  let opened: OpenedStore | null = null
  try {
    const branding = await readBranding(config)
    logStart(config, log)
    const metrics = config.metricsListen === null ? null : (await loadMetrics()).createMetrics()
    const { store, failed } = await openServedStore({
      ...ports,
      config,
      log,
      onCommitted: metrics?.committed,
    })
    opened = store
    const running = await runOn({ ...served, ...logging, branding, store, metrics }, ports)
    const close = () => running.stop().then(store.close).finally(logging.close)
    return { ...running, ...logging, metrics, failed, confirmStart: store.confirmStart, close }
  } catch (cause) {
    // Frees the lock of the folder, so that the next start need not wait for this process to end.
    await opened?.close().catch((err) => log.error({ err }, 'could not close the data folder cleanly'))
    await logging.close()
    throw opened === null ? cause : explainFailure(dataFolder(config.dataDir).database, cause)
  }
}

/**
 * In a unit or compose file, each of these flags, meant for one start, would apply silently at every start.
 */
const FOR_ONE_START = ['acceptClock', 'acceptMove', 'acceptDatabase'] as const

function logStart(config: Config, log: Log): void {
  const { dataDir, keyFile } = config
  const database = nameDatabase(config) ?? undefined
  log.info({ version, dataDir, keyFile: keyFile ?? undefined, database }, 'opening the data folder')
  for (const name of FOR_ONE_START)
    if (config[name]) log.warn(`--${settings[name].flag} is for one start: leave it out at the next one`)
}

/** Loads the wrappers of --audit-log only with the flag. */
async function openAuditing({ audit, settings, store }: InstanceParts, { now }: Ports) {
  if (audit === null) return null
  const { createAuditing } = await import('./app/auditing.ts')
  return createAuditing({ file: audit, store, now, version, settings })
}

/** Loads the metrics library only with --metrics-listen. */
const loadMetrics = () => import('./operating/metrics.ts')

type InstanceParts = ServedConfig &
  Logging & { branding: Branding; store: OpenedStore; metrics: Metrics | null }

/**
 * Starts everything on an open store. The jobs start last: if this throws, only the store has to be closed.
 */
async function runOn(parts: InstanceParts, ports: InstancePorts) {
  const auditing = await openAuditing(parts, ports)
  const opened = auditing === null ? parts : { ...parts, store: auditing.wrapStore(parts.store) }
  const { config, store, log } = opened
  const { brandName: name, contact, notice } = config
  const { listAddresses } = ports.network
  const isAlone = store.database === null
  const texts = await openAppearance({ ...opened, started: { name, contact, notice } })
  const appearance = auditing?.wrapAppearance(texts) ?? texts
  // Call this after the store is open, because the authority and the backup note are in its folder.
  const tls = await openTls({ ...ports, config, log })
  const scheduled = await openBackups({ ...ports, config, store, log })
  const backups = scheduled && (auditing?.wrapBackups(scheduled) ?? scheduled)
  const ofOtherNodes = isAlone ? null : createAppearanceJob({ ...appearance, every: MINUTE / 2 })
  const made = createServices({
    ...{ ...opened, appearance, listAddresses },
    // All nodes use the clock of their database.
    systemNow: isAlone ? ports.now : store.now,
    argon2Cost: ports.argon2Cost ?? ARGON2_COST,
    lookEvery: ports.lookEvery,
    otherJobs: [tls?.watch.job, backups?.job, ofOtherNodes].filter((job) => job != null),
  })
  const services = auditing?.wrapServices(made) ?? made
  const lookAtHealth = createHealth({ ...opened, services, tls, backups, version, machineNow: ports.now })
  const door = createDoor({
    ...{ ...opened, appearance, services, lookAtHealth, backups, version, listAddresses },
    addresses: ports.addresses ?? [config.host],
    httpsPort: ports.httpsPort ?? (() => config.port),
    authority: tls?.certificate.authority ?? null,
    rateLimit: ports.rateLimit,
    observe: auditing?.observe,
  })
  auditing?.tellStart()
  await tellHealth(lookAtHealth, log)
  const setupToken = await services.access.accountLinks.createSetupLink()
  if (setupToken === null) await checkBreakGlass(opened)
  // A setup link from an earlier start is no longer valid.
  removeSetupLink(config.dataDir)
  await services.upkeep.jobs.start()
  // Repeat the warning now and then, because one that was logged once may be overlooked.
  const daily = setInterval(() => tellHealth(lookAtHealth, log), DAY)
  return {
    ...{ ...door, ...services, tls },
    setupPath: setupToken === null ? null : PAGES.welcome.href({ link: setupToken }),
    // Keep running: a restart of this process does not repair a database server.
    isHealthy: isAlone ? store.isAlive : async () => true,
    stopBackups: async () => backups?.job.stop(),
    stop: async () => {
      services.notices.events.stop()
      clearInterval(daily)
      await services.upkeep.jobs.stop()
      await auditing?.stop()
    },
  }
}

export type RunningServer = Awaited<ReturnType<typeof startServer>>

/**
 * Opens the data folder and listens. Throws DomainError when the folder, key, clock or address cannot be
 * used.
 */
export async function startServer(served: ServedConfig, ports: Ports & OwnProgram & { network: Network }) {
  const { config } = served
  const { baseUrl, dataDir } = config
  const bindings = await bindingsOf(config.host, ports.network.lookUp)
  const addresses = bindings.map(({ address }) => address)
  let port = config.port
  const startBackup = createStartBackup(ports)
  const instance = await openInstance(served, { ...ports, addresses, startBackup, httpsPort: () => port })
  const { setupPath, failed, noteCrash, reloadables, log, tls } = instance
  const { listAddresses } = ports.network
  try {
    const notes = createNotes({ ...served, log })
    const listening = await openListening({ ...instance, config, door: instance, bindings, listAddresses })
    port = listening.port
    const stop = async () => {
      log.info('stopping: running requests may finish')
      notes.removeServing()
      // A backup needs seconds to clean up, while running requests finish.
      void instance.stopBackups()
      await instance.leave()
      instance.notices.events.stop()
      await listening.stop()
      await instance.close()
    }
    instance.confirmStart()
    const ofTls = tls === null ? [] : [tls.watch.reloadable]
    // Reloads what may have changed outside: the log file and the certificate. Failures are logged.
    const reload = createReload({ reloadables: [...reloadables, ...ofTls], log })
    const managed = announceReady({ ...ports, isAlive: instance.isHealthy, reload, stop })
    const { urls, trust } = await listening.addresses()
    notes.keep(urls.hereUrl)
    return {
      ...{ ...urls, ...managed, baseUrl, dataDir },
      /** Server and database, without the login; null for the database in the data folder. */
      database: nameDatabase(config),
      /** The one-time path of the setup page for the first administrator; null if there are accounts. */
      setupPath,
      keepSetupLink: notes.keepSetupLink,
      noteCrash,
      /** Resolves when the database may be corrupt and the process must end. */
      failed,
      /** The authority that devices have to trust, and the pages that show how; null without --tls auto. */
      trust,
    }
  } catch (cause) {
    await instance.close()
    throw cause
  }
}
