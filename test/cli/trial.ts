// Runs a command line without a process: a shell that records its output, and an app with accounts in memory.

import { openClient, randomText } from '../../src/app/clients.ts'
import type { Finding } from '../../src/app/doctor/doctor.ts'
import { importCommand } from '../../src/app/import-command.ts'
import type { LocalServer } from '../../src/app/serving.ts'
import type { App } from '../../src/cli/app.ts'
import { runProgram } from '../../src/cli/program.ts'
import type { Shell } from '../../src/cli/shell.ts'
import type { Account, ApiToken } from '../../src/domain/account.ts'
import type { DatabaseAddress } from '../../src/domain/database-address.ts'
import { DomainError } from '../../src/domain/errors.ts'
import { wholeMilliseconds } from '../../src/domain/time.ts'
import type { InstalledService } from '../../src/install/installed.ts'
import { nameDatabase } from '../../src/settings/database.ts'
import type { Config } from '../../src/settings/table.ts'
import { waitUntil } from '../support/waiting.ts'

export type Trial = ReturnType<typeof createTrial>

export function createTrial(
  given: {
    env?: Record<string, string>
    input?: string
    answers?: string[]
    isOutputTerminal?: boolean
    home?: string
    width?: number
    now?: number
    service?: InstalledService
    platform?: NodeJS.Platform
  } = {},
) {
  const out: string[] = []
  const err: string[] = []
  const exits: number[] = []
  const opened: { link: string; dataDir: string }[] = []
  const pages: string[] = []
  const stoppedProcesses: number[] = []
  const answers = [...(given.answers ?? [])]
  const signals: ((wish: 'stop' | 'reload') => void)[] = []
  const answer = async (question: string) => {
    err.push(question)
    return answers.shift() ?? ''
  }
  const shell: Shell = {
    os: {
      env: given.env ?? {},
      platform: given.platform ?? 'linux',
      home: given.home ?? '/home/ann',
      cwd: '/srv',
    },
    now: () => given.now ?? 0,
    uptime: () => wholeMilliseconds(0),
    readFile: () => {
      throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
    },
    print: (...lines) => out.push(...lines),
    printExactly: (text) => out.push(text),
    giveWay: () => undefined,
    writeBytes: async (bytes) => void out.push(Buffer.from(bytes).toString('latin1')),
    say: (...lines) => err.push(...lines),
    warn: (...warnings) => err.push(...warnings.map((warning) => `oncebox: warning: ${warning}`)),
    draw: (picture) => err.push(picture),
    sayLater: (line) => err.push(line),
    readInputBytes: async function* () {
      yield Buffer.from(given.input ?? '')
    },
    isTerminal: given.answers !== undefined,
    isInputTerminal: given.input === undefined,
    isOutputTerminal: given.isOutputTerminal ?? false,
    startProgress: () => ({ update: () => undefined, stop: () => undefined }),
    width: given.width ?? 80,
    ask: answer,
    askHidden: answer,
    onSignal: (listener) => signals.push(listener),
    passSignals: () => () => undefined,
    pause: async () => undefined,
    umask: 0o022,
    onCrash: () => undefined,
    exitNow: (code) => exits.push(code),
    network: { lookUp: async () => [], listAddresses: () => [], hostName: () => 'box' },
    openLink: (page) => {
      opened.push(page)
      return () => opened.pop()
    },
    openPage: (url) => {
      pages.push(url)
      return true
    },
    stopProcess: (pid) => {
      stoppedProcesses.push(pid)
      return true
    },
    self: ['oncebox'],
    findService: () => given.service ?? null,
  }
  const { app, state } = createMemoryApp()
  return {
    ...{ out, err, exits, opened, pages, stoppedProcesses, shell, app, state },
    /** Returns all of standard output and standard error, for loose expectations. */
    text: () => [...out, ...err].join('\n'),
    /** Resolves once the server has printed its address. */
    isReady: () => waitUntil(() => out.length > 0, 1),
    signal: (wish: 'stop' | 'reload' = 'stop') => {
      for (const listener of signals) listener(wish)
    },
    run: (...argv: string[]) => runProgram(argv, { shell, app }),
  }
}

function createMemoryApp() {
  const state = {
    accounts: [] as (Account & { password: string })[],
    apiTokens: [] as ApiToken[],
    /** Invitations and password links that the account created, and its webhooks. */
    made: { links: 0, webhooks: 0 },
    config: undefined as Config | undefined,
    setupPath: null as string | null,
    elsewhere: [] as string[],
    dataDir: '',
    database: null as DatabaseAddress | null,
    closed: 0,
    stopped: 0,
    reloaded: 0,
    findings: [] as Finding[],
    keptLink: null as string | null,
    serving: null as LocalServer | null,
    serverOnPort: null as string | null,
    fail: (_: Error) => {},
  }
  const find = (email: string) => {
    const account = state.accounts.find((candidate) => candidate.email === email)
    if (account === undefined) throw new DomainError('not_found', `There is no account for ${email}.`)
    return account
  }
  const app: App = {
    openClient: async (asked) => openClient(asked),
    randomText: async (characters) => randomText(characters),
    importCommand,
    examine: async () => state.findings,
    findServing: async () => state.serving,
    findServerOn: async () => state.serverOnPort,
    startServer: async ({ config }, { writeLog }) => {
      state.config = config
      writeLog('a line of the log')
      return {
        url: 'http://localhost:5100',
        hereUrl: 'http://localhost:5100',
        elsewhere: state.elsewhere,
        baseUrl: config.baseUrl,
        dataDir: config.dataDir,
        database: nameDatabase(config),
        setupPath: state.setupPath,
        keepSetupLink: (link) => {
          state.keptLink = link
          return '/srv/box/setup-link'
        },
        reload: async () => {
          state.reloaded += 1
        },
        noteCrash: () => undefined,
        trust: null,
        stop: async () => {
          state.stopped += 1
        },
        failed: new Promise((resolve) => {
          state.fail = resolve
        }),
      }
    },
    openAccounts: async ({ dataDir, database }) => {
      if (dataDir === '/missing') throw new DomainError('not_found', 'There is no data folder at /missing.')
      state.dataDir = dataDir
      state.database = database
      return {
        where: `Data folder: ${dataDir}`,
        countMade: async () => ({ tokens: state.apiTokens.length, ...state.made }),
        [Symbol.asyncDispose]: async () => {
          state.closed += 1
        },
        accounts: {
          addAccount: async ({ email, password, isAdmin }) => {
            const account = {
              id: 1,
              email,
              isAdmin,
              hasTwoFactor: false,
              hasAuthenticator: false,
              passkeys: 0,
              disabledAt: null,
              createdAt: 0,
              resets: 0,
              hasPassword: true,
              isService: false,
              password,
            }
            state.accounts.push(account)
            return account
          },
          listAccounts: async () => state.accounts,
          requireAccount: async (email) => find(email),
          findAccount: async (email) => state.accounts.find((account) => account.email === email) ?? null,
          setPassword: async ({ email, password, revoke }) => {
            find(email).password = password
            if (!revoke) return
            state.apiTokens.length = 0
            state.made = { links: 0, webhooks: 0 }
          },
          makeAdmin: async (email) => {
            find(email).isAdmin = true
          },
          unmakeAdmin: async (email) => {
            const others = state.accounts.filter((account) => account.isAdmin && account.email !== email)
            if (others.length === 0) throw new DomainError('conflict', 'This is the last administrator.')
            find(email).isAdmin = false
          },
          disableAccount: async (email) => {
            find(email).disabledAt = 1
          },
          turnOffTwoFactor: async (email) => {
            find(email).hasTwoFactor = false
          },
          findById: async () => null,
          setService: async () => undefined,
          enableAccount: async (email) => {
            find(email).disabledAt = null
          },
          removeAccount: async (email) => {
            state.accounts.splice(state.accounts.indexOf(find(email)), 1)
            return { pushes: 2 }
          },
        },
        apiTokens: {
          createApiToken: async ({ name = 'token-1' }) => {
            state.apiTokens.push({ id: 1, name, prefix: 'obx_abcd', createdAt: 0, lastUsedAt: null })
            return { apiToken: 'obx_abcdefgh', name, prefix: 'obx_abcd' }
          },
          revokeOwn: async () => undefined,
          listApiTokens: async () => state.apiTokens,
          revokeApiToken: async ({ nameOrPrefix }) => {
            const [apiToken] = state.apiTokens.splice(0, 1)
            if (apiToken?.name !== nameOrPrefix) throw new DomainError('not_found', 'No such token.')
            return apiToken
          },
          authenticate: async () => null,
        },
      }
    },
  }
  return { app, state }
}
