// A whole Oncebox in a temporary folder, with a settable clock and requests from any address.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Instance, openInstance, type ServedConfig } from '../../src/app.ts'
import type { StartBackup } from '../../src/backup/backup-child.ts'
import { createUptime } from '../../src/cli/shell.ts'
import type { Argon2Cost } from '../../src/crypto/passphrase.ts'
import type { Uptime } from '../../src/domain/time.ts'
import type { RateLimit } from '../../src/http/door/rate-limit.ts'
import { readConfig } from '../../src/settings/fold.ts'
import type { OpenedStore } from '../../src/store/opening/opened-store.ts'

export const START = Date.parse('2026-11-20T12:00:00.000Z')

export type TestClock = {
  now: () => number
  /** The uptime of the machine: grows with `advance`, and ignores `set`. */
  uptime: Uptime
  /** Sets the clock, like a person or a time server. */
  set: (time: number) => void
  /** Advances the clock. */
  advance: (ms: number) => void
}

export function createTestClock(start = START): TestClock {
  let time = start
  let up = 0
  let fraction = 0
  // Readings of a real process clock have a fraction.
  const elapsed = () => {
    fraction = Math.min(0.9, fraction + 0.1)
    return up + fraction
  }
  return {
    now: () => time,
    uptime: createUptime({ seconds: () => up / 1000, elapsed }),
    set: (next) => {
      time = next
    },
    advance: (ms) => {
      time += ms
      up += ms
    },
  }
}

export type Init = Omit<RequestInit, 'body'> & {
  /** The address of the socket. */
  from?: string
  /** Sent unchanged. */
  body?: BodyInit
  /** Sent as JSON, with its content type. */
  json?: unknown
  /** An API token, sent as Bearer. */
  token?: string
}

export type TestInstance = Awaited<ReturnType<typeof startInstance>>

/**
 * Starts an instance that listens on the network. `flags` by name, such as `{ 'anonymous-access': 'false' }`.
 */
export async function startInstance(
  options: {
    flags?: Record<string, string>
    env?: Record<string, string>
    dataDir?: string
    clock?: TestClock
    rateLimit?: RateLimit
    /** Milliseconds between polls of the outbox. */
    lookEvery?: number
    /** The cost of hashing; the lowest by default. */
    argon2Cost?: Argon2Cost
    /** The addresses of its machine. */
    machineAddresses?: string[]
    /** Starts the process of a backup in --backup-dir. */
    startBackup?: StartBackup
    /** Wraps the store, between it and the services. */
    interpose?: (store: OpenedStore) => OpenedStore
  } = {},
) {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'oncebox-test-'))
  const clock = options.clock ?? createTestClock()
  const log: string[] = []
  const flags = { host: '0.0.0.0', 'min-free-space': '0', ...options.flags, 'data-dir': dataDir }
  const { config, settings } = configOf(flags, options.env)
  const open = (): Promise<Instance> =>
    openInstance(
      { config, settings },
      {
        now: clock.now,
        argon2Cost: options.argon2Cost ?? { memoryKib: 8, passes: 1 },
        uptime: clock.uptime,
        lookEvery: options.lookEvery ?? 100,
        writeLog: (line) => log.push(line),
        network: { listAddresses: () => options.machineAddresses ?? [], hostName: () => 'box' },
        ...(options.rateLimit ? { rateLimit: options.rateLimit } : {}),
        ...(options.startBackup ? { startBackup: options.startBackup } : {}),
        ...(options.interpose ? { interpose: options.interpose } : {}),
      },
    )
  let instance = await openAndSweep()

  async function openAndSweep(): Promise<Instance> {
    const opened = await open()
    // Wait for the sweep of the start: a later one would join it, and it misses later changes. Its job
    // reports failures.
    await opened.upkeep.sweeper.sweep().catch(() => undefined)
    return opened
  }

  const fetch = (path: string, init?: Init) => ask(instance.handle, path, init)

  /** Sends a request to the listener for recipients. */
  function fetchOutside(path: string, init?: Init): Promise<Response> {
    if (instance.outside === null) throw new Error('start it with --receive-listen')
    return ask(instance.outside.handle, path, init)
  }

  /** `path` may be a whole URL; the host is localhost otherwise. */
  function ask(
    handle: Instance['handle'],
    path: string,
    { from = '192.0.2.1', json, token, ...init }: Init = {},
  ): Promise<Response> {
    const url = path.startsWith('http') ? path : `http://localhost${path}`
    const headers = new Headers(init.headers)
    if (!headers.has('host')) headers.set('host', new URL(url).host)
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    if (json !== undefined) headers.set('content-type', 'application/json')
    const body = json === undefined ? init.body : JSON.stringify(json)
    const request = body === undefined ? init : { method: 'POST', ...init, body }
    return handle(new Request(url, { ...request, headers }), from)
  }

  /** Adds an account. Resolves to an API token of it. */
  async function addAccount(email: string, { isAdmin = false } = {}): Promise<string> {
    await instance.access.accounts.addAccount({ email, password: 'correct horse battery', isAdmin })
    return (await instance.access.apiTokens.createApiToken({ email })).apiToken
  }

  async function restart(): Promise<void> {
    await instance.close()
    instance = await openAndSweep()
  }

  async function close(): Promise<void> {
    await instance.close()
    rmSync(dataDir, { recursive: true, force: true })
  }

  return {
    /** Stops the instance and keeps its folder. */
    stop: () => instance.close(),
    acceptClock: () => instance.upkeep.acceptClock({ accountId: 1 }),
    dataDir,
    clock,
    log,
    /** Reloads everything that SIGHUP reloads. */
    reload: async () => {
      for (const { reload } of instance.reloadables) await reload()
    },
    readMetrics: async () => instance.metrics?.read(),
    fetch,
    fetchOutside,
    addAccount,
    restart,
    close,
    /** Requests the plain http port beside TLS. */
    fetchPlain: (request: Request) => instance.handlePlain(request, '192.0.2.1'),
    sweep: () => instance.upkeep.sweeper.sweep(),
    /** Resolves to the number of waiting webhook messages. */
    countWaiting: async () => (await instance.notices.countAllMessages()).webhook?.waiting ?? 0,
    accounts: () => instance.access.accounts,
    apiTokens: () => instance.access.apiTokens,
    setupPath: () => instance.setupPath,
  }
}

export function configOf(flags: Record<string, string>, env: Record<string, string> = {}): ServedConfig {
  const given = Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, [value]]))
  const os = { env, platform: process.platform, home: '/nowhere', cwd: '/nowhere' }
  const { config, entries, problems } = readConfig({ flags: given, os, readFile: () => '' })
  if (config === undefined) throw new Error(problems?.join('; '))
  const inEffect = entries.map(({ setting: { flag, help }, text, from }) => ({
    ...{ flag, value: text, from, help },
  }))
  return { config, settings: inEffect }
}
