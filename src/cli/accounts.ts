// `oncebox user …` and `oncebox token …`: accounts and their API tokens, for users who may write to the data folder.

import type { AccountCommands } from '../app/account-commands.ts'
import type { Account } from '../domain/account.ts'
import { isDomainError } from '../domain/errors.ts'
import { formatTime } from '../domain/time.ts'
import { confirm, readNewPassword } from './ask.ts'
import type { Given } from './command.ts'
import { CommandFailure } from './failures.ts'
import { formatCount } from './format.ts'
import type { Shell } from './shell.ts'
import { alignColumns } from './table.ts'

type Visit<F = unknown> = Given<F> & AccountCommands

export async function addUser(given: Visit<{ admin: boolean; passwordStdin: boolean }>): Promise<void> {
  const { accounts, shell, flags, operands } = given
  const [email = ''] = operands
  // Checked before asking for a password twice; adding the account checks again.
  if ((await accounts.findAccount(email)) !== null) {
    throw new CommandFailure(`${email} already has an account: "oncebox user password" sets its password.`)
  }
  const password = await readNewPassword(shell, { fromInput: flags.passwordStdin })
  await accounts.addAccount({ email, password, isAdmin: flags.admin })
  shell.print(`${email} is added${flags.admin ? ' as an administrator' : ''}`)
  shell.say(`Next: "oncebox token create ${email}" creates a token for the API.`)
}

export async function listUsers({ accounts, shell }: Visit): Promise<void> {
  const list = await accounts.listAccounts()
  if (list.length === 0)
    return void shell.say('There are no accounts yet: "oncebox user add EMAIL" adds one.')
  const rows = list.map(({ email, isAdmin, disabledAt, createdAt }) => [
    email,
    isAdmin ? 'admin' : 'user',
    disabledAt === null ? 'active' : 'disabled',
    formatTime(createdAt),
  ])
  for (const line of alignColumns(['EMAIL', 'ROLE', 'STATE', 'CREATED'], rows)) shell.print(line)
}

type PasswordFlags = { passwordStdin: boolean; revokeTokens: boolean; keepTokens: boolean }

export async function setPassword(given: Visit<PasswordFlags>): Promise<void> {
  const { accounts, apiTokens, shell, flags, operands } = given
  const [email = ''] = operands
  await accounts.requireAccount(email)
  const password = await readNewPassword(shell, { fromInput: flags.passwordStdin })
  const tokens = (await apiTokens.listApiTokens(email)).length
  const revoke = await wantsToRevoke(tokens, flags, shell)
  await accounts.setPassword({ email, password, revoke })
  shell.print(`The password of ${email} is set${revoke ? ', and its tokens are revoked' : ''}`)
  if (revoke || tokens === 0) return
  const some = formatCount(tokens, 'token')
  shell.say(
    `Not revoked: ${some} of ${email}. If somebody else knew the password, repeat with --revoke-tokens.`,
  )
}

/** Asks at a terminal. An empty line means yes. */
async function wantsToRevoke(tokens: number, flags: PasswordFlags, shell: Shell): Promise<boolean> {
  if (flags.revokeTokens) return true
  if (flags.keepTokens || tokens === 0) return false
  if (!shell.isTerminal || flags.passwordStdin) return false
  const answer = await shell.ask(`Also revoke its ${formatCount(tokens, 'token')}? [Y/n] `)
  return !/^no?$/i.test(answer.trim())
}

export async function turnOffTwoFactor({ accounts, shell, operands: [email = ''] }: Visit): Promise<void> {
  await accounts.turnOffTwoFactor(email)
  shell.print(`${email} signs in with the password alone now`)
}

export async function makeAdmin({ accounts, shell, operands: [email = ''] }: Visit): Promise<void> {
  const { isAdmin, disabledAt } = await accounts.requireAccount(email)
  if (!isAdmin) await accounts.makeAdmin(email)
  shell.print(isAdmin ? `${email} is already an administrator` : `${email} is now an administrator`)
  if (disabledAt !== null)
    shell.say(`The account is disabled: "oncebox user enable ${email}" lets it sign in again.`)
}

export async function unmakeAdmin({ accounts, shell, operands: [email = ''] }: Visit): Promise<void> {
  const { isAdmin } = await accounts.requireAccount(email)
  if (!isAdmin) return void shell.print(`${email} is not an administrator`)
  await accounts.unmakeAdmin(email).catch((cause) => {
    if (!isDomainError(cause, 'conflict')) throw cause
    throw new CommandFailure(
      `${email} is the last administrator, and nothing was changed. Make another one first: "oncebox user admin EMAIL".`,
    )
  })
  shell.print(`${email} is no longer an administrator`)
}

export async function disableUser({ accounts, shell, operands: [email = ''] }: Visit): Promise<void> {
  await accounts.disableAccount(email)
  shell.print(`${email} is disabled`)
  warnWithoutAdmin(await accounts.listAccounts(), shell)
}

export async function enableUser({ accounts, shell, operands: [email = ''] }: Visit): Promise<void> {
  await accounts.enableAccount(email)
  shell.print(`${email} is enabled`)
}

export async function removeUser(given: Visit<{ yes: boolean }>): Promise<void> {
  const { accounts, shell, flags, operands } = given
  const [email = ''] = operands
  await accounts.requireAccount(email)
  const question = `Remove ${email} with all its tokens and pushes? This cannot be undone.`
  if (!flags.yes) await confirm(shell, question)
  const { pushes } = await accounts.removeAccount(email)
  shell.print(`${email} is removed, with its tokens and ${formatCount(pushes, 'push', 'pushes')}`)
  warnWithoutAdmin(await accounts.listAccounts(), shell)
}

function warnWithoutAdmin(accounts: Account[], shell: Shell): void {
  if (accounts.some(({ isAdmin, disabledAt }) => isAdmin && disabledAt === null)) return
  shell.say(
    'This server has no administrator now. Make an account one with "oncebox user admin EMAIL", ' +
      'or add one with "oncebox user add EMAIL --admin".',
  )
}

export async function createToken(given: Visit<{ name: string | null }>): Promise<void> {
  const { apiTokens, shell, flags, operands } = given
  const [email = ''] = operands
  const created = await apiTokens.createApiToken(
    flags.name === null ? { email } : { email, name: flags.name },
  )
  shell.print(created.apiToken)
  shell.say(
    `Save the token now; it is not shown again. Send it as "Authorization: Bearer …". Its name is ${created.name}.`,
  )
}

export async function listTokens({ apiTokens, shell, operands: [email = ''] }: Visit): Promise<void> {
  const tokens = await apiTokens.listApiTokens(email)
  if (tokens.length === 0)
    return void shell.say(`${email} has no tokens: "oncebox token create ${email}" creates one.`)
  const rows = tokens.map(({ name, prefix, createdAt, lastUsedAt }) => [
    name,
    prefix === '' ? '(imported)' : prefix,
    formatTime(createdAt),
    lastUsedAt === null ? 'never' : formatTime(lastUsedAt),
  ])
  for (const line of alignColumns(['NAME', 'PREFIX', 'CREATED', 'LAST USED'], rows)) shell.print(line)
}

export async function revokeToken({ apiTokens, shell, operands }: Visit): Promise<void> {
  const [email = '', nameOrPrefix = ''] = operands
  const { name, prefix } = await apiTokens.revokeApiToken({ email, nameOrPrefix })
  const shown = prefix === '' ? name : `${name} (${prefix}…)`
  shell.print(`The token ${shown} of ${email} is revoked`)
}
