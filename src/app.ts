// The composition root: opens the store, makes the services, makes the door.

import { version } from '../package.json'
import { openBackups } from './app/backing-up.ts'
import { type Branding, readBranding } from './app/branding.ts'
import { createDoor } from './app/door.ts'
import { openListening, type Trust } from './app/listening.ts'
import { addServerGauges, openMetrics, serveMetrics } from './app/metering.ts'
import { openServedStore } from './app/open-store.ts'
import { createServices } from './app/services.ts'
import { createKeepSetupLink, createServingNote, noteSettings } from './app/serving.ts'
import { createStartBackup, type OwnProgram, type StartBackup } from './backup/backup-child.ts'
import { ARGON2_COST, type Argon2Cost } from './crypto/passphrase.ts'
import type { Now, Uptime } from './domain/time.ts'
import { bindingsOf, type Network, type ServerUrls } from './http/door/listener.ts'
import type { RateLimit } from './http/door/rate-limit.ts'
import { PAGES } from './http/urls.ts'
import { openTls } from './lan/tls.ts'
import { createServerChecks } from './operating/checks.ts'
import { createLookAtHealth, tellHealth } from './operating/health.ts'
import type { Log } from './operating/log.ts'
import { openLogging } from './operating/logging.ts'
import type { Metrics } from './operating/metrics.ts'
import { createReload } from './operating/reload.ts'
import { announceReady } from './operating/service-manager.ts'
import type { SettingInEffect } from './pages/admin/settings.tsx'
import { nameDatabase } from './settings/database.ts'
import type { Config } from './settings/table.ts'
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
}

export type ServerPorts = Ports & OwnProgram & { network: Network; abandoned?: AbortSignal }

/** A configuration and, for the administrators, where each of its settings comes from. */
export type ServedConfig = { config: Config; settings: readonly SettingInEffect[] }

export type RunningServer = ServerUrls & {
  baseUrl: string | null
  dataDir: string
  /** Server and database, without the login; null for the database in the data folder. */
  database: string | null
  /** The path where the first administrator makes an account, once; null when there are accounts. */
  setupPath: string | null
  /** Writes the whole link to a file that its owner alone may read. Returns its path; null when the disk refuses. */
  keepSetupLink(link: string): string | null
  /** Reads again what may have changed outside: the log file and the certificate. Failures are logged. */
  reload(): Promise<void>
  /** Writes an error that nothing caught to the log file, if there is one, before the process ends. */
  noteCrash(cause: unknown): void
  stop(): Promise<void>
  /** What devices have to trust, and the pages that show how; null without --tls auto. */
  trust: Trust | null
  /** Resolves when the database may be corrupt and the process must end. */
  failed: Promise<Error>
}

/** `addresses` are those that the server will listen on; without them it is the one of `host`. */
type InstancePorts = Ports & {
  rateLimit?: RateLimit
  addresses?: readonly string[]
  network?: Pick<Network, 'listAddresses' | 'hostName'>
  /** The port of TLS, once the server listens. */
  httpsPort?: () => number
  /** Starts the process for a backup in --backup-dir; without it none are made. */
  startBackup?: StartBackup
  /** Gives up waiting for a database server. */
  abandoned?: AbortSignal
  /** Tests hand in less work, and let the store fail. */
  argon2Cost?: Argon2Cost
  interpose?: (store: OpenedStore) => OpenedStore
  onStep?: (step: string) => void
}

/** A running Oncebox with `handle` in place of a socket, as tests use it. */
export type Instance = Awaited<ReturnType<typeof openInstance>>

export async function openInstance(served: ServedConfig, ports: InstancePorts) {
  const { now, writeLog: writeLine } = ports
  const logging = await openLogging({ config: served.config, now, writeLine })
  try {
    const instance = await openLogged(served, { ...ports, log: logging.log })
    const close = () => instance.close().finally(logging.close)
    return { ...instance, ...logging, close }
  } catch (cause) {
    await logging.close()
    throw cause
  }
}

async function openLogged(served: ServedConfig, { log, ...ports }: InstancePorts & { log: Log }) {
  const { config } = served
  const { dataDir, keyFile } = config
  const branding = await readBranding(config)
  const database = nameDatabase(config) ?? undefined
  log.info({ version, dataDir, keyFile: keyFile ?? undefined, database }, 'opening the data folder')
  const metrics = await openMetrics(config)
  const { now: systemNow, ...more } = ports
  const opening = { ...more, config, log, systemNow, onCommitted: metrics?.committed }
  const { store, failed } = await openServedStore(opening)
  try {
    return { ...(await serveStore({ ...served, branding, store, log, metrics, ports })), failed }
  } catch (cause) {
    // Frees the lock of the folder, so that the next start need not wait for this process to end.
    await store.close().catch((err) => log.error({ err }, 'the data folder was not closed in order'))
    throw explainFailure(dataFolder(dataDir).database, cause)
  }
}

type StoreToServe = ServedConfig & {
  branding: Branding
  store: OpenedStore
  log: Log
  metrics: Metrics | null
  ports: InstancePorts
}

/** Starts the jobs last: if this throws, only the store has to be closed. */
async function serveStore({ store, log, metrics, ports, ...served }: StoreToServe) {
  const { argon2Cost = ARGON2_COST } = ports
  const { config } = served
  // After the store, because the authority and the note about backups lie in its folder.
  const tls = await openTls({ ...ports, config, log })
  const backups = await openBackups({ ...ports, config, log })
  // Nodes share the clock of their database.
  const systemNow = store.database === null ? ports.now : store.now
  const otherJobs = [tls?.watch.job, backups?.job].filter((job) => job !== undefined)
  const listAddresses = () => ports.network?.listAddresses() ?? []
  const parts = { config, store, log, listAddresses, meter: metrics }
  const services = createServices({ ...parts, systemNow, argon2Cost, otherJobs })
  // It tells when the clock of this machine is another one.
  const lookAtHealth = createLookAtHealth(
    createServerChecks({
      ...{ ...config, store, systemNow: ports.now, certificate: tls?.certificate ?? null },
      databaseName: nameDatabase(config) ?? '',
      // Pushes leave nothing on the disk of this machine when their rows and files are elsewhere.
      minFreeSpace: store.database === null || store.bucket === null ? config.minFreeSpace : null,
      readBackups: backups?.status ?? null,
    }),
  )
  const door = createDoor({
    ...served,
    ...parts,
    version,
    services,
    lookAtHealth,
    addresses: ports.addresses ?? [config.host],
    httpsPort: ports.httpsPort ?? (() => config.port),
    authority: tls?.certificate.authority ?? null,
    backups,
    rateLimit: ports.rateLimit,
  })
  if (metrics !== null) addServerGauges({ metrics, store, services, backups, lookAtHealth, version })
  await tellHealth(lookAtHealth, log)
  const setupToken = await services.accountLinks.createSetupLink()
  const setupPath = setupToken === null ? null : PAGES.welcome.href({ link: setupToken })
  // A setup link from an earlier start is not valid any more.
  removeSetupLink(config.dataDir)
  await services.jobs.start()

  const { confirmStart, isAlive } = store
  // A restart of the process mends no database server.
  const isHealthy = store.database === null ? isAlive : async () => true
  const { accounts, apiTokens, sweeper, acceptClock } = services
  return {
    ...door,
    ...{ accounts, apiTokens, sweeper, acceptClock, setupPath, confirmStart, isHealthy, metrics, tls },
    stopBackups: async () => backups?.job.stop(),
    close: () => services.jobs.stop().then(store.close),
  }
}

/** Opens the data folder and listens. Throws DomainError when the folder, key, clock or address cannot be used. */
export async function startServer(served: ServedConfig, ports: ServerPorts): Promise<RunningServer> {
  const { config } = served
  const { host, baseUrl, dataDir } = config
  const { lookUp, listAddresses } = ports.network
  const bindings = await bindingsOf(host, lookUp)
  const addresses = bindings.map(({ address }) => address)
  let port = config.port
  const startBackup = createStartBackup(ports)
  const instance = await openInstance(served, { ...ports, addresses, startBackup, httpsPort: () => port })
  const { setupPath, failed, noteCrash, reloadables, log, tls } = instance
  try {
    const note = createServingNote(dataDir, log)
    // First, because nobody loses a request when another listener cannot be opened.
    const metricsListener = serveMetrics(config, instance)
    const options = { config, door: instance, tls, bindings, listAddresses, log }
    const listening = await openListening(options).catch((cause) => {
      void metricsListener?.stop()
      throw cause
    })
    port = listening.port
    const stop = async () => {
      log.info('stopping: running requests may finish')
      note.remove()
      // Needs seconds to clean up, while running requests finish.
      void instance.stopBackups()
      await instance.leave()
      await listening.stop()
      await metricsListener?.stop()
      await instance.close()
    }
    instance.confirmStart()
    const keepSetupLink = createKeepSetupLink(dataDir, log)
    const reload = createReload({
      reloadables: tls === null ? reloadables : [...reloadables, tls.watch.reloadable],
      log,
    })
    const managed = announceReady({ ...ports, isAlive: instance.isHealthy, reload, stop })
    const { urls, trust } = await listening.addresses()
    note.write({ url: urls.hereUrl, host })
    noteSettings({ ...served, version }, log)
    return {
      ...{ ...urls, baseUrl, dataDir, database: nameDatabase(config) },
      ...{ setupPath, keepSetupLink },
      ...managed,
      noteCrash,
      failed,
      trust,
    }
  } catch (cause) {
    await instance.close()
    throw cause
  }
}
