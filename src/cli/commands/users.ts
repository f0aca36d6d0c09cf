// `oncebox user …`: manages accounts, with write access to the data folder or the database's password.

import type { AccountCommands } from '../../app/account-commands.ts'
import { isDomainError } from '../../domain/errors.ts'
import { formatTime } from '../../domain/time.ts'
import { databaseAddressOf } from '../../settings/database.ts'
import type { SettingsTable, Values } from '../../settings/setting.ts'
import { confirm, readNewPassword } from '../ask.ts'
import { type Command, type CommandInput, command, some, toggle } from '../command.ts'
import { CommandFailure } from '../failures.ts'
import { formatCount } from '../format.ts'
import type { Shell } from '../shell.ts'
import { alignColumns } from '../table.ts'

type AccountCommand<F extends SettingsTable> = Pick<Command<F>, 'name' | 'operands' | 'flags' | 'oneOf'> & {
  /** Whether a missing data folder is created. */
  creates?: true
  /** Runs the command. `email` is its first argument. */
  act(given: CommandInput<Values<F>> & AccountCommands & { email: string }): Promise<void>
}

/** Defines a command whose action gets the opened accounts, which are closed after it. */
export function accountCommand<F extends SettingsTable>(accountRow: AccountCommand<F>): Command {
  const { act, creates, ...row } = accountRow
  return command({
    ...row,
    settings: some('dataDir', 'databaseUrl', 'databasePassword', 'keyFile'),
    isOnData: true,
    act: async (given) => {
      const { shell, app, config } = given
      const { dataDir, keyFile } = config
      const database = databaseAddressOf(config)
      const create = creates && { keyFile }
      await using opened = await app.openAccounts({
        dataDir,
        database,
        create,
        now: shell.now,
        warn: shell.warn,
      })
      shell.say(opened.where)
      await act({ ...given, ...opened, email: given.operands[0] ?? '' })
    },
  })
}

const passwordStdin = toggle('password-stdin')

export const USERS = [
  { name: 'user' },
  accountCommand({
    name: 'user add',
    operands: 'EMAIL',
    creates: true,
    flags: { admin: toggle('admin'), passwordStdin },
    act: async ({ accounts, shell, flags, email }) => {
      // Checks before asking for a password; adding the account checks again.
      if ((await accounts.findAccount(email)) !== null) {
        throw new CommandFailure(
          `${email} already has an account: "oncebox user password" sets its password.`,
        )
      }
      const password = await readNewPassword(shell, { fromInput: flags.passwordStdin })
      await accounts.addAccount({ email, password, isAdmin: flags.admin })
      shell.print(`${email} is added${flags.admin ? ' as an administrator' : ''}`)
      shell.say(`Next: "oncebox token create ${email}" creates a token for the API.`)
    },
  }),
  accountCommand({
    name: 'user list',
    act: async ({ accounts, shell }) => {
      const rows = (await accounts.listAccounts()).map(({ email, isAdmin, disabledAt, createdAt }) => [
        email,
        isAdmin ? 'admin' : 'user',
        disabledAt === null ? 'active' : 'disabled',
        formatTime(createdAt),
      ])
      if (rows.length === 0) shell.say('There are no accounts yet: "oncebox user add EMAIL" adds one.')
      else shell.print(...alignColumns(['EMAIL', 'ROLE', 'STATE', 'CREATED'], ...rows))
    },
  }),
  accountCommand({
    name: 'user password',
    operands: 'EMAIL',
    flags: {
      passwordStdin,
      revokeTokens: toggle('revoke-tokens'),
      keepTokens: toggle('keep-tokens'),
    },
    oneOf: [['revokeTokens', 'keepTokens']],
    act: async ({ accounts, countMade, shell, flags, email }) => {
      const account = await accounts.requireAccount(email)
      const password = await readNewPassword(shell, { fromInput: flags.passwordStdin })
      const { tokens, links, webhooks } = await countMade(account)
      const counts = [
        [tokens, 'token', 'tokens'],
        [links, 'invitation or password link', 'invitations and password links'],
        [webhooks, 'webhook', 'webhooks'],
      ] as const
      const made = counts.flatMap(([n, one, many]) => (n === 0 ? [] : [formatCount(n, one, many)])).join(', ')
      const isDecided = flags.keepTokens || flags.revokeTokens || flags.passwordStdin || !shell.isTerminal
      const answer = isDecided || made === '' ? '' : await shell.ask(`Also revoke its ${made}? [Y/n] `)
      const revoke = !flags.keepTokens && !/^no?$/i.test(answer.trim())
      await accounts.setPassword({ email, password, revoke })
      const revoked = revoke && made !== '' ? `. Revoked: ${made}` : ''
      shell.print(`The password of ${email} is set, and its sessions have ended${revoked}`)
      if (!revoke && made !== '')
        shell.say(
          `Not revoked: ${made} of ${email}. If another person knew the password, repeat with --revoke-tokens.`,
        )
      const shared = account.isAdmin ? ', and webhooks for all accounts (/admin/webhooks)' : ''
      shell.say(`Not changed: its pushes, requests for secrets, running downloads, second factor${shared}.`)
    },
  }),
  accountCommand({
    name: 'user two-factor-off',
    operands: 'EMAIL',
    act: async ({ accounts, shell, email }) => {
      await accounts.turnOffTwoFactor(email)
      shell.print(`${email} signs in with the password alone now`)
      shell.say(
        `Its sessions, tokens and links stay. If the phone was stolen: "oncebox user password ${email}".`,
      )
    },
  }),
  accountCommand({
    name: 'user admin',
    operands: 'EMAIL',
    act: async ({ accounts, shell, email }) => {
      const { isAdmin, disabledAt } = await accounts.requireAccount(email)
      if (!isAdmin) await accounts.makeAdmin(email)
      shell.print(`${email} is ${isAdmin ? 'already' : 'now'} an administrator`)
      if (disabledAt !== null)
        shell.say(`The account is disabled: "oncebox user enable ${email}" lets it sign in again.`)
    },
  }),
  accountCommand({
    name: 'user no-admin',
    operands: 'EMAIL',
    act: async ({ accounts, shell, email }) => {
      const { isAdmin } = await accounts.requireAccount(email)
      if (!isAdmin) return shell.print(`${email} is not an administrator`)
      await accounts.unmakeAdmin(email).catch((cause) => {
        if (!isDomainError(cause, 'conflict')) throw cause
        throw new CommandFailure(
          `${email} is the last administrator, and nothing was changed. Make another one first: "oncebox user admin EMAIL".`,
        )
      })
      shell.print(`${email} is no longer an administrator`)
      shell.say(
        'Its sessions, tokens and webhooks stay, and so do its webhooks for all accounts: see /admin/webhooks.',
      )
    },
  }),
  accountCommand({
    name: 'user disable',
    operands: 'EMAIL',
    act: async ({ accounts, shell, email }) => {
      await accounts.disableAccount(email)
      shell.print(`${email} is disabled`)
      shell.say(
        `Its tokens, webhooks and requests are suspended until it is enabled; "oncebox user password" revokes tokens and webhooks.`,
      )
      await warnWithoutAdmin(accounts, shell)
    },
  }),
  accountCommand({
    name: 'user enable',
    operands: 'EMAIL',
    act: async ({ accounts, shell, email }) => {
      await accounts.enableAccount(email)
      shell.print(`${email} is enabled`)
    },
  }),
  accountCommand({
    name: 'user remove',
    operands: 'EMAIL',
    flags: { yes: toggle('yes') },
    act: async ({ accounts, shell, flags, email }) => {
      await accounts.requireAccount(email)
      if (!flags.yes)
        await confirm(shell, `Remove ${email} with all its tokens and pushes? This cannot be undone.`)
      const { pushes } = await accounts.removeAccount(email)
      shell.print(`${email} is removed, with its tokens and ${formatCount(pushes, 'push', 'pushes')}`)
      await warnWithoutAdmin(accounts, shell)
    },
  }),
]

async function warnWithoutAdmin({ listAccounts }: AccountCommands['accounts'], shell: Shell): Promise<void> {
  const accounts = await listAccounts()
  if (accounts.some(({ isAdmin, disabledAt }) => isAdmin && disabledAt === null)) return
  shell.say(
    'This server has no administrator now. Make an account one with "oncebox user admin EMAIL", ' +
      'or add one with "oncebox user add EMAIL --admin".',
  )
}
