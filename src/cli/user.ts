// `oncebox user …`: accounts, for whoever may write to the data folder.

import type { Command } from 'commander'
import type { AccountCommands } from '../app/account-commands.ts'
import type { Account } from '../domain/account.ts'
import { isDomainError } from '../domain/errors.ts'
import { formatTime } from '../domain/time.ts'
import { type AccountCommand, addAccountCommand, addGroup, type Visit } from './account-command.ts'
import type { App } from './app.ts'
import { confirm, readNewPassword } from './ask.ts'
import { CommandFailure } from './failures.ts'
import { formatCount } from './format.ts'
import type { Shell } from './shell.ts'
import { alignColumns } from './table.ts'

type Accounts = AccountCommands['accounts']

const HELP =
  'Adds, lists, changes and removes accounts, also while the server runs. ' +
  'An account owns what it pushes: it can list, audit and delete it.'

const EXAMPLES = `
Examples:
  oncebox user add ann@example.org --admin
  pwgen 20 1 | oncebox user add bob@example.org --password-stdin
  oncebox user admin bob@example.org
  oncebox user list

Next: "oncebox token create EMAIL" makes a token for the API.`

export function addUserCommands(program: Command, parts: { shell: Shell; app: App }): void {
  const { shell } = parts
  const user = addGroup(program, {
    name: 'user',
    summary: 'add, list, change and remove accounts',
    help: HELP,
    examples: EXAMPLES,
  })
  const add = (spec: AccountCommand) => addAccountCommand(user, { ...spec, ...parts })

  add({
    name: 'add',
    operands: ['EMAIL'],
    summary: 'add an account',
    help:
      'Adds an account. Asks for its password twice, unless --password-stdin is given. ' +
      'It makes the data folder when there is none yet.',
    creates: true,
    work: (visit, command) => addUser(visit, { command, shell }),
  })
    .option('--admin', 'the account may administer this instance')
    .option('--password-stdin', 'read the password from standard input')

  add({
    name: 'list',
    operands: [],
    summary: 'list the accounts',
    help: 'Lists the accounts.',
    work: ({ accounts }) => listUsers(accounts.listAccounts(), shell),
  })

  add({
    name: 'password',
    operands: ['EMAIL'],
    summary: 'set the password of an account',
    help:
      'Sets the password of an account and ends its sessions. Asks whether to revoke its tokens as well, ' +
      'with the invitations and links for new passwords that it made; without a terminal they stay, unless ' +
      '--revoke-tokens is given.',
    problems: (command) =>
      isGiven(command, 'revokeTokens') && isGiven(command, 'keepTokens')
        ? ['--revoke-tokens and --keep-tokens contradict each other: give one of them']
        : [],
    work: (visit, command) => setPassword(visit, { command, shell }),
  })
    .option('--password-stdin', 'read the password from standard input')
    .option('--revoke-tokens', 'revoke the tokens of the account, and what it made for others')
    .option('--keep-tokens', 'let the tokens go on working')

  add({
    name: 'two-factor-off',
    operands: ['EMAIL'],
    summary: 'let an account sign in without a code again',
    help: 'Turns the second factor of an account off: for who has lost the phone and the recovery codes.',
    work: async ({ accounts, email }) => {
      await accounts.turnOffTwoFactor(email)
      shell.print(`${email} signs in with the password alone again`)
    },
  })

  add({
    name: 'admin',
    operands: ['EMAIL'],
    summary: 'make an account an administrator',
    help:
      'Makes an account an administrator, at once: it may invite, reset, disable and remove accounts, ' +
      'and sees the settings and the state of the instance. It sees no pushes but its own.',
    work: ({ accounts, email }) => makeAdmin(accounts, email, shell),
  })

  add({
    name: 'no-admin',
    operands: ['EMAIL'],
    summary: 'make an administrator a plain account again',
    help:
      'Makes an administrator a plain account again, at once. Invitations and links for new passwords that ' +
      'it made stop working; its pushes and tokens stay. The last administrator cannot be changed.',
    work: ({ accounts, email }) => unmakeAdmin(accounts, email, shell),
  })

  add({
    name: 'disable',
    operands: ['EMAIL'],
    summary: 'stop an account and its tokens at once',
    help: 'Stops an account and its tokens at once. What it pushed stays; "enable" takes it back.',
    work: async ({ accounts, email }) => {
      await accounts.disableAccount(email)
      shell.print(`${email} is disabled`)
      warnWithoutAdmin(accounts.listAccounts(), shell)
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
      accounts.requireId(email)
      const question = `Remove ${email} with all its tokens and pushes? This cannot be undone.`
      if (command.getOptionValue('yes') !== true) await confirm(shell, question)
      const { pushes } = await accounts.removeAccount(email)
      shell.print(`${email} is removed, with its tokens and ${pushes} ${pushes === 1 ? 'push' : 'pushes'}`)
      warnWithoutAdmin(accounts.listAccounts(), shell)
    },
  }).option('--yes', 'do not ask')
}

async function addUser({ accounts, email }: Visit, given: { command: Command; shell: Shell }): Promise<void> {
  const { command, shell } = given
  const isAdmin = command.getOptionValue('admin') === true
  // Told before somebody types a password twice; adding checks again.
  if (accounts.findId(email) !== null) {
    throw new CommandFailure(`${email} has an account already: "oncebox user password" sets its password.`)
  }
  const password = await readNewPassword(shell, {
    fromInput: command.getOptionValue('passwordStdin') === true,
  })
  await accounts.addAccount({ email, password, isAdmin })
  shell.print(`${email} is added${isAdmin ? ' as an administrator' : ''}`)
  shell.say(`Next: "oncebox token create ${email}" makes a token for the API.`)
}

async function setPassword(visit: Visit, given: { command: Command; shell: Shell }): Promise<void> {
  const { accounts, apiTokens, email } = visit
  const { command, shell } = given
  accounts.requireAccount(email)
  const password = await readNewPassword(shell, { fromInput: isGiven(command, 'passwordStdin') })
  const tokens = apiTokens.listApiTokens(email).length
  const revoke = await wantsToRevoke(tokens, given)
  await accounts.setPassword({ email, password, revoke })
  shell.print(`The password of ${email} is set${revoke ? ', and its tokens are revoked' : ''}`)
  if (revoke || tokens === 0) return
  const some = formatCount(tokens, 'token')
  shell.say(
    `Not revoked: ${some} of ${email}. --revoke-tokens does that, when somebody else knew the password.`,
  )
}

/** Asked for at a terminal; yes is the answer to an empty line. */
async function wantsToRevoke(
  tokens: number,
  { command, shell }: { command: Command; shell: Shell },
): Promise<boolean> {
  if (isGiven(command, 'revokeTokens')) return true
  if (isGiven(command, 'keepTokens') || tokens === 0) return false
  if (!shell.isTerminal || isGiven(command, 'passwordStdin')) return false
  const answer = await shell.ask(`Revoke its ${formatCount(tokens, 'token')} as well? [Y/n] `)
  return !/^no?$/i.test(answer.trim())
}

function isGiven(command: Command, option: string): boolean {
  return command.getOptionValue(option) === true
}

async function makeAdmin(accounts: Accounts, email: string, shell: Shell): Promise<void> {
  const { isAdmin, disabledAt } = accounts.requireAccount(email)
  if (!isAdmin) await accounts.makeAdmin(email)
  shell.print(isAdmin ? `${email} is an administrator already` : `${email} is an administrator now`)
  if (disabledAt !== null)
    shell.say(`The account is disabled: "oncebox user enable ${email}" lets it sign in again.`)
}

async function unmakeAdmin(accounts: Accounts, email: string, shell: Shell): Promise<void> {
  const { isAdmin } = accounts.requireAccount(email)
  if (!isAdmin) {
    shell.print(`${email} is no administrator`)
    return
  }
  await accounts.unmakeAdmin(email).catch((cause) => {
    if (!isDomainError(cause, 'conflict')) throw cause
    throw new CommandFailure(
      `${email} is the last administrator, and nothing was changed: "oncebox user admin EMAIL" makes another one first.`,
    )
  })
  shell.print(`${email} is no administrator any more`)
}

function warnWithoutAdmin(accounts: Account[], shell: Shell): void {
  if (accounts.some(({ isAdmin, disabledAt }) => isAdmin && disabledAt === null)) return
  shell.say(
    'Nobody administers this instance now: "oncebox user admin EMAIL" makes an account an administrator, ' +
      '"oncebox user add EMAIL --admin" a new one.',
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
