// The composition root: opens the store, makes the services, makes the door.

import { version } from '../package.json'
import { openBackups } from './app/backing-up.ts'
import { readBranding } from './app/branding.ts'
import { createDoor } from './app/door.ts'
import { openListening } from './app/listening.ts'
import { openServedStore } from './app/open-store.ts'
import { type Base, createServices } from './app/services.ts'
import { createNotes } from './app/serving.ts'
import { openTls } from './app/tls.ts'
import { createStartBackup, type OwnProgram, type StartBackup } from './backup/backup-child.ts'
import { createBackupGauges } from './backup/backups.ts'
import { ARGON2_COST, type Argon2Cost } from './crypto/passphrase.ts'
import { DAY, MINUTE, type Now, type Uptime } from './domain/time.ts'
import { bindingsOf, type Network } from './http/door/listener.ts'
import type { RateLimit } from './http/door/rate-limit.ts'
import { PAGES } from './http/urls.ts'
import { createAppearanceJob, openAppearance } from './operating/appearance.ts'
import { createServerChecks } from './operating/checks.ts'
import { createGauges } from './operating/gauges.ts'
import { createLookAtHealth, tellHealth } from './operating/health.ts'
import { type Logging, openLogging } from './operating/logging.ts'
import { createReload } from './operating/reload.ts'
import { announceReady } from './operating/service-manager.ts'
import { nameDatabase } from './settings/database.ts'
import { settings } from './settings/table.ts'
import { dataFolder } from './store/folder/data-folder.ts'
import { removeSetupLink } from './store/folder/notes.ts'
import { explainFailure } from './store/folder/sqlite-failures.ts'
import type { OpenedStore } from './store/opening/opened-store.ts'

export type { Network }

/** The world outside: the system's clocks in milliseconds, and where a finished log line goes. */
export type Ports = {
  now: Now
  /** Milliseconds since the machine was started, also while it slept. */
  uptime: Uptime
  writeLog: (line: string) => void
  /** Gives up waiting for a database server. */
  abandoned?: AbortSignal
}

export type ServedConfig = Pick<Base, 'config' | 'settings'>

/** `addresses` are those that the server will listen on; without them it is the one of `host`. */
type InstancePorts = Ports & {
  network: Pick<Network, 'listAddresses' | 'hostName'>
  rateLimit?: RateLimit
  addresses?: readonly string[]
  /** The port of TLS, once the server listens. */
  httpsPort?: () => number
  /** Starts the process for a backup in --backup-dir; without it none are made. */
  startBackup?: StartBackup
  /** Tests hand in less work, and let the store fail. */
  argon2Cost?: Argon2Cost
  /** Milliseconds between looks into the outbox, whose messages tests make due by moving the clock. */
  lookEvery?: number
  interpose?: (store: OpenedStore) => OpenedStore
  onStep?: (step: string) => void
}

/** A running Oncebox with `handle` in place of a socket, as tests use it. */
export type Instance = Awaited<ReturnType<typeof openInstance>>

export async function openInstance(served: ServedConfig, ports: InstancePorts) {
  const { config } = served
  const { dataDir, keyFile } = config
  const logging = await openLogging({ config, now: ports.now, writeLine: ports.writeLog })
  const { log } = logging
  let store: OpenedStore | null = null
  try {
    const branding = await readBranding(config)
    const database = nameDatabase(config) ?? undefined
    log.info({ version, dataDir, keyFile: keyFile ?? undefined, database }, 'opening the data folder')
    for (const name of FOR_ONE_START)
      if (config[name]) log.warn(`--${settings[name].flag} is for one start: leave it out at the next one`)
    const metrics = config.metricsListen === null ? null : (await loadMetrics()).createMetrics()
    const opened = await openServedStore({ ...ports, config, log, onCommitted: metrics?.committed })
    store = opened.store
    const { listAddresses } = ports.network
    const { brandName: name, contact, notice } = config
    const appearance = await openAppearance({ ...served, store, started: { name, contact, notice } })
    const { findLogProblem } = logging
    const base = { ...served, version, branding, appearance, store, log, metrics, listAddresses }
    const { jobs, ...instance } = await serveStore({ ...base, findLogProblem }, ports)
    const close = () => {
      instance.events.stop()
      instance.stopTelling()
      return jobs.stop().then(opened.store.close).finally(logging.close)
    }
    return { ...instance, ...logging, metrics, failed: opened.failed, close }
  } catch (cause) {
    // Frees the lock of the folder, so that the next start need not wait for this process to end.
    await store?.close().catch((err) => log.error({ err }, 'the data folder was not closed in order'))
    await logging.close()
    throw store === null ? cause : explainFailure(dataFolder(dataDir).database, cause)
  }
}

/**
 * In a unit or a compose file, each would let every start accept unseen what one was meant to, such as a
 * copy.
 */
const FOR_ONE_START = ['acceptClock', 'acceptMove', 'acceptDatabase'] as const

/** Without --metrics-listen nothing is counted and the library is not loaded. */
const loadMetrics = () => import('./operating/metrics.ts')

/** Starts the jobs last: if this throws, only the store has to be closed. */
async function serveStore(base: Base & Pick<Logging, 'findLogProblem'>, ports: InstancePorts) {
  const { config, store, appearance, log, metrics } = base
  // After the store, because the authority and the note about backups lie in its folder.
  const tls = await openTls({ ...ports, config, log })
  const backups = await openBackups({ ...ports, config, store, log })
  const isAlone = store.database === null
  const services = createServices({
    ...base,
    // Nodes share the clock of their database.
    systemNow: isAlone ? ports.now : store.now,
    argon2Cost: ports.argon2Cost ?? ARGON2_COST,
    lookEvery: ports.lookEvery,
    otherJobs: [
      tls?.watch.job,
      backups?.job,
      isAlone ? undefined : createAppearanceJob({ ...appearance, every: MINUTE / 2 }),
    ].filter((job) => job !== undefined),
  })
  const lookAtHealth = createLookAtHealth(
    createServerChecks({
      ...config,
      store,
      // It tells when the clock of this machine is another one.
      systemNow: ports.now,
      certificate: tls?.certificate ?? null,
      databaseName: nameDatabase(config) ?? '',
      // Pushes leave nothing on the disk of this machine when their rows and files are elsewhere.
      minFreeSpace: isAlone || store.bucket === null ? config.minFreeSpace : null,
      readBackups: backups?.status ?? null,
      findLogProblem: base.findLogProblem,
      mail: services.mail?.mailer ?? null,
      findMailShortage: services.findMailShortage,
      listFailingWebhooks: services.webhooks.isOn ? store.health.listFailingWebhooks : null,
    }),
  )
  const door = createDoor({
    ...base,
    ...{ services, lookAtHealth, backups },
    addresses: ports.addresses ?? [config.host],
    httpsPort: ports.httpsPort ?? (() => config.port),
    authority: tls?.certificate.authority ?? null,
    rateLimit: ports.rateLimit,
  })
  metrics?.addGauges(createGauges({ ...store, ...services, lookAtHealth, version }))
  if (backups !== null) metrics?.addGauges(createBackupGauges(backups.status))
  await tellHealth(lookAtHealth, log)
  const setupToken = await services.accountLinks.createSetupLink()
  // A setup link from an earlier start is not valid any more.
  removeSetupLink(config.dataDir)
  await services.jobs.start()
  // What goes on without a word for a day is forgotten.
  const daily = setInterval(() => tellHealth(lookAtHealth, log), DAY)
  return {
    ...{ ...door, ...services, tls, confirmStart: store.confirmStart },
    setupPath: setupToken === null ? null : PAGES.welcome.href({ link: setupToken }),
    // A restart of the process mends no database server.
    isHealthy: isAlone ? store.isAlive : async () => true,
    stopBackups: async () => backups?.job.stop(),
    stopTelling: () => clearInterval(daily),
  }
}

export type RunningServer = Awaited<ReturnType<typeof startServer>>

/**
 * Opens the data folder and listens. Throws DomainError when the folder, key, clock or address cannot be
 * used.
 */
export async function startServer(served: ServedConfig, ports: Ports & OwnProgram & { network: Network }) {
  const { config } = served
  const { host, baseUrl, dataDir } = config
  const bindings = await bindingsOf(host, ports.network.lookUp)
  const addresses = bindings.map(({ address }) => address)
  let port = config.port
  const startBackup = createStartBackup(ports)
  const instance = await openInstance(served, { ...ports, addresses, startBackup, httpsPort: () => port })
  const { setupPath, failed, noteCrash, reloadables, log, tls, metrics } = instance
  const { listAddresses } = ports.network
  try {
    const notes = createNotes({ ...served, log })
    const listening = await openListening({
      ...{ config, door: instance, tls, metrics, bindings, listAddresses, log },
    })
    port = listening.port
    const stop = async () => {
      log.info('stopping: running requests may finish')
      notes.removeServing()
      // Needs seconds to clean up, while running requests finish.
      void instance.stopBackups()
      await instance.leave()
      instance.events.stop()
      await listening.stop()
      await instance.close()
    }
    instance.confirmStart()
    const ofTls = tls === null ? [] : [tls.watch.reloadable]
    // Reads again what may have changed outside: the log file and the certificate. Failures are logged.
    const reload = createReload({ reloadables: [...reloadables, ...ofTls], log })
    const managed = announceReady({ ...ports, isAlive: instance.isHealthy, reload, stop })
    const { urls, trust } = await listening.addresses()
    notes.keep(urls.hereUrl)
    return {
      ...{ ...urls, ...managed, baseUrl, dataDir },
      /** Server and database, without the login; null for the database in the data folder. */
      database: nameDatabase(config),
      /** The path where the first administrator makes an account, once; null when there are accounts. */
      setupPath,
      keepSetupLink: notes.keepSetupLink,
      noteCrash,
      /** Resolves when the database may be corrupt and the process must end. */
      failed,
      /** What devices have to trust, and the pages that show how; null without --tls auto. */
      trust,
    }
  } catch (cause) {
    await instance.close()
    throw cause
  }
}
