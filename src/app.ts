// The composition root: opens the store, makes the services, makes the door.

import { version } from '../package.json'
import { openBackups } from './app/backing-up.ts'
import { readBranding } from './app/branding.ts'
import { createDoor, type DoorOptions } from './app/door.ts'
import { openListening, type Trust } from './app/listening.ts'
import { addServerGauges, openMetrics, serveMetrics } from './app/metering.ts'
import { openServedStore } from './app/open-store.ts'
import { createServices } from './app/services.ts'
import { createNotes } from './app/serving.ts'
import { openTls } from './app/tls.ts'
import { createStartBackup, type OwnProgram, type StartBackup } from './backup/backup-child.ts'
import { ARGON2_COST, type Argon2Cost } from './crypto/passphrase.ts'
import type { Now, Uptime } from './domain/time.ts'
import { bindingsOf, type Network, type ServerUrls } from './http/door/listener.ts'
import type { RateLimit } from './http/door/rate-limit.ts'
import { PAGES } from './http/urls.ts'
import { createServerChecks } from './operating/checks.ts'
import { createLookAtHealth, tellHealth } from './operating/health.ts'
import { openLogging } from './operating/logging.ts'
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
  const { config } = served
  const { dataDir, keyFile } = config
  const logging = await openLogging({ config, now: ports.now, writeLine: ports.writeLog })
  const { log } = logging
  let store: OpenedStore | null = null
  try {
    const branding = await readBranding(config)
    const database = nameDatabase(config) ?? undefined
    log.info({ version, dataDir, keyFile: keyFile ?? undefined, database }, 'opening the data folder')
    const metrics = await openMetrics(config)
    const opened = await openServedStore({ ...ports, config, log, onCommitted: metrics?.committed })
    store = opened.store
    const listAddresses = () => ports.network?.listAddresses() ?? []
    const parts = { ...served, version, branding, store, log, metrics, listAddresses }
    const { jobs, ...instance } = await serveStore(parts, ports)
    const close = () => jobs.stop().then(opened.store.close).finally(logging.close)
    return { ...instance, ...logging, metrics, failed: opened.failed, close }
  } catch (cause) {
    // Frees the lock of the folder, so that the next start need not wait for this process to end.
    await store?.close().catch((err) => log.error({ err }, 'the data folder was not closed in order'))
    await logging.close()
    throw store === null ? cause : explainFailure(dataFolder(dataDir).database, cause)
  }
}

type StoreToServe = Omit<
  DoorOptions,
  'services' | 'lookAtHealth' | 'authority' | 'backups' | 'addresses' | 'httpsPort'
>

/** Starts the jobs last: if this throws, only the store has to be closed. */
async function serveStore(parts: StoreToServe, ports: InstancePorts) {
  const { config, store, log, metrics } = parts
  // After the store, because the authority and the note about backups lie in its folder.
  const tls = await openTls({ ...ports, config, log })
  const backups = await openBackups({ ...ports, config, log })
  const isAlone = store.database === null
  const services = createServices({
    ...parts,
    // Nodes share the clock of their database.
    systemNow: isAlone ? ports.now : store.now,
    argon2Cost: ports.argon2Cost ?? ARGON2_COST,
    otherJobs: [tls?.watch.job, backups?.job].filter((job) => job !== undefined),
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
    }),
  )
  const door = createDoor({
    ...parts,
    ...{ services, lookAtHealth, backups },
    addresses: ports.addresses ?? [config.host],
    httpsPort: ports.httpsPort ?? (() => config.port),
    authority: tls?.certificate.authority ?? null,
    rateLimit: ports.rateLimit,
  })
  if (metrics !== null) addServerGauges({ metrics, store, services, backups, lookAtHealth, version })
  await tellHealth(lookAtHealth, log)
  const setupToken = await services.accountLinks.createSetupLink()
  // A setup link from an earlier start is not valid any more.
  removeSetupLink(config.dataDir)
  await services.jobs.start()
  const { jobs, accounts, apiTokens, sweeper, acceptClock } = services
  return {
    ...door,
    ...{ jobs, accounts, apiTokens, sweeper, acceptClock, tls, confirmStart: store.confirmStart },
    setupPath: setupToken === null ? null : PAGES.welcome.href({ link: setupToken }),
    // A restart of the process mends no database server.
    isHealthy: isAlone ? store.isAlive : async () => true,
    stopBackups: async () => backups?.job.stop(),
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
  const { setupPath, failed, noteCrash, reloadables, log, tls, metrics } = instance
  try {
    const notes = createNotes({ ...served, log })
    // First, because nobody loses a request when another listener cannot be opened.
    const metricsListener = serveMetrics(config, { metrics, log })
    const listening = await openListening({
      ...{ config, door: instance, tls, bindings, listAddresses, log },
    }).catch((cause) => {
      void metricsListener?.stop()
      throw cause
    })
    port = listening.port
    const stop = async () => {
      log.info('stopping: running requests may finish')
      notes.removeServing()
      // Needs seconds to clean up, while running requests finish.
      void instance.stopBackups()
      await instance.leave()
      await listening.stop()
      await metricsListener?.stop()
      await instance.close()
    }
    instance.confirmStart()
    const ofTls = tls === null ? [] : [tls.watch.reloadable]
    const reload = createReload({ reloadables: [...reloadables, ...ofTls], log })
    const managed = announceReady({ ...ports, isAlive: instance.isHealthy, reload, stop })
    const { urls, trust } = await listening.addresses()
    notes.keepServing(urls.hereUrl)
    notes.keepSettings()
    return {
      ...{ ...urls, ...managed, baseUrl, dataDir, database: nameDatabase(config) },
      ...{ setupPath, keepSetupLink: notes.keepSetupLink, noteCrash, failed, trust },
    }
  } catch (cause) {
    await instance.close()
    throw cause
  }
}
