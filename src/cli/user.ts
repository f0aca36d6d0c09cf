// `oncebox user …`: accounts, for users who may write to the data folder.

import type { Command } from 'commander'
import type { AccountCommands } from '../app/account-commands.ts'
import type { Account } from '../domain/account.ts'
import { isDomainError } from '../domain/errors.ts'
import { formatTime } from '../domain/time.ts'
import { addAccountCommand, addGroup, type Visit } from './account-command.ts'
import type { App } from './app.ts'
import { confirm, readNewPassword } from './ask.ts'
import { CommandFailure } from './failures.ts'
import { isGiven } from './flags.ts'
import type { Shell } from './shell.ts'
import { alignColumns } from './table.ts'
import { type Add, addCredentialCommands } from './user-credentials.ts'

type Accounts = AccountCommands['accounts']

const HELP =
  'Adds, lists, changes and removes accounts, even while the server runs. ' +
  'An account owns its pushes: it can list and expire them, and see their logs. ' +
  'A PostgreSQL database that no node would serve, because it was set back or a failover left it behind, is refused.'

const EXAMPLES = `
Examples:
  oncebox user add ann@example.org --admin
  pwgen 20 1 | oncebox user add bob@example.org --password-stdin
  oncebox user admin bob@example.org
  oncebox user list

Next: "oncebox token create EMAIL" creates a token for the API.`

export function addUserCommands(program: Command, parts: { shell: Shell; app: App }): void {
  const { shell } = parts
  const user = addGroup(program, {
    name: 'user',
    summary: 'add, list, change and remove accounts',
    help: HELP,
    examples: EXAMPLES,
  })
  const add: Add = (spec) => addAccountCommand(user, { ...spec, ...parts })
  addNewAndList(add, shell)
  addCredentialCommands(add, shell)
  addRights(add, shell)
  addDisableAndRemove(add, shell)
}

function addNewAndList(add: Add, shell: Shell): void {
  add({
    name: 'add',
    operands: ['EMAIL'],
    summary: 'add an account',
    help:
      'Adds an account. Asks for its password twice, unless --password-stdin is given. ' +
      'Creates the data folder, or the tables in an empty PostgreSQL database, if there are none yet.',
    creates: true,
    work: (visit, command) => addUser(visit, { command, shell }),
  })
    .option('--admin', 'make the account an administrator of this server')
    .option('--password-stdin', 'read the password from standard input')

  add({
    name: 'list',
    operands: [],
    summary: 'list the accounts',
    help: 'Lists the accounts.',
    work: async ({ accounts }) => listUsers(await accounts.listAccounts(), shell),
  })
}

function addRights(add: Add, shell: Shell): void {
  add({
    name: 'admin',
    operands: ['EMAIL'],
    summary: 'make an account an administrator',
    help:
      'Makes an account an administrator at once. Administrators may invite, reset, disable and remove accounts, ' +
      'and see the settings and the state of the server. They see only their own pushes.',
    work: ({ accounts, email }) => makeAdmin(accounts, email, shell),
  })

  add({
    name: 'no-admin',
    operands: ['EMAIL'],
    summary: 'make an administrator an ordinary account',
    help:
      'Makes an administrator an ordinary account at once. Its invitations and password links stop working; ' +
      'its pushes and tokens stay. Refuses the last administrator.',
    work: ({ accounts, email }) => unmakeAdmin(accounts, email, shell),
  })
}

function addDisableAndRemove(add: Add, shell: Shell): void {
  add({
    name: 'disable',
    operands: ['EMAIL'],
    summary: 'stop an account and its tokens at once',
    help: 'Stops an account and its tokens at once. Its pushes stay; "enable" undoes this.',
    work: async ({ accounts, email }) => {
      await accounts.disableAccount(email)
      shell.print(`${email} is disabled`)
      warnWithoutAdmin(await accounts.listAccounts(), shell)
    },
  })

  add({
    name: 'enable',
    operands: ['EMAIL'],
    summary: 'let a disabled account work again',
    help: 'Lets a disabled account and its tokens work again.',
    work: async ({ accounts, email }) => {
      await accounts.enableAccount(email)
      shell.print(`${email} is enabled`)
    },
  })

  add({
    name: 'remove',
    operands: ['EMAIL'],
    summary: 'remove an account, its tokens and its pushes',
    help: 'Removes an account, its tokens and its pushes, for ever. Asks first, unless --yes is given.',
    work: async ({ accounts, email }, command) => {
      await accounts.requireId(email)
      const question = `Remove ${email} with all its tokens and pushes? This cannot be undone.`
      if (!isGiven(command, 'yes')) await confirm(shell, question)
      const { pushes } = await accounts.removeAccount(email)
      shell.print(`${email} is removed, with its tokens and ${pushes} ${pushes === 1 ? 'push' : 'pushes'}`)
      warnWithoutAdmin(await accounts.listAccounts(), shell)
    },
  }).option('--yes', 'do not ask')
}

async function addUser({ accounts, email }: Visit, given: { command: Command; shell: Shell }): Promise<void> {
  const { command, shell } = given
  const isAdmin = isGiven(command, 'admin')
  // Checked before asking for a password twice; adding the account checks again.
  if ((await accounts.findId(email)) !== null) {
    throw new CommandFailure(`${email} already has an account: "oncebox user password" sets its password.`)
  }
  const password = await readNewPassword(shell, { fromInput: isGiven(command, 'passwordStdin') })
  await accounts.addAccount({ email, password, isAdmin })
  shell.print(`${email} is added${isAdmin ? ' as an administrator' : ''}`)
  shell.say(`Next: "oncebox token create ${email}" creates a token for the API.`)
}

async function makeAdmin(accounts: Accounts, email: string, shell: Shell): Promise<void> {
  const { isAdmin, disabledAt } = await accounts.requireAccount(email)
  if (!isAdmin) await accounts.makeAdmin(email)
  shell.print(isAdmin ? `${email} is already an administrator` : `${email} is now an administrator`)
  if (disabledAt !== null)
    shell.say(`The account is disabled: "oncebox user enable ${email}" lets it sign in again.`)
}

async function unmakeAdmin(accounts: Accounts, email: string, shell: Shell): Promise<void> {
  const { isAdmin } = await accounts.requireAccount(email)
  if (!isAdmin) {
    shell.print(`${email} is not an administrator`)
    return
  }
  await accounts.unmakeAdmin(email).catch((cause) => {
    if (!isDomainError(cause, 'conflict')) throw cause
    throw new CommandFailure(
      `${email} is the last administrator, and nothing was changed. Make another one first: "oncebox user admin EMAIL".`,
    )
  })
  shell.print(`${email} is no longer an administrator`)
}

function warnWithoutAdmin(accounts: Account[], shell: Shell): void {
  if (accounts.some(({ isAdmin, disabledAt }) => isAdmin && disabledAt === null)) return
  shell.say(
    'This server has no administrator now. Make an account one with "oncebox user admin EMAIL", ' +
      'or add one with "oncebox user add EMAIL --admin".',
  )
}

function listUsers(accounts: Account[], shell: Shell): void {
  if (accounts.length === 0) {
    shell.say('There are no accounts yet: "oncebox user add EMAIL" adds one.')
    return
  }
  const rows = accounts.map(({ email, isAdmin, disabledAt, createdAt }) => [
    email,
    isAdmin ? 'admin' : 'user',
    disabledAt === null ? 'active' : 'disabled',
    formatTime(createdAt),
  ])
  for (const line of alignColumns(['EMAIL', 'ROLE', 'STATE', 'CREATED'], rows)) shell.print(line)
}
