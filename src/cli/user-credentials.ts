// `oncebox user password` and `two-factor-off`: what an account signs in with.

import type { Command } from 'commander'
import type { AccountCommand, Visit } from './account-command.ts'
import { readNewPassword } from './ask.ts'
import { isGiven } from './flags.ts'
import { formatCount } from './format.ts'
import type { Shell } from './shell.ts'

/** Adds a command to `oncebox user`. */
export type Add = (spec: AccountCommand) => Command

export function addCredentialCommands(add: Add, shell: Shell): void {
  add({
    name: 'password',
    operands: ['EMAIL'],
    summary: 'set the password of an account',
    help:
      'Sets the password of an account and ends its sessions. Asks whether to revoke its tokens, and the ' +
      'invitations and password links that it created; without a terminal it keeps them, unless ' +
      '--revoke-tokens is given.',
    problems: (command) =>
      isGiven(command, 'revokeTokens') && isGiven(command, 'keepTokens')
        ? ['--revoke-tokens and --keep-tokens: give only one of them']
        : [],
    work: (visit, command) => setPassword(visit, { command, shell }),
  })
    .option('--password-stdin', 'read the password from standard input')
    .option('--revoke-tokens', 'revoke the tokens, invitations and password links of the account')
    .option('--keep-tokens', 'keep the tokens valid')

  add({
    name: 'two-factor-off',
    operands: ['EMAIL'],
    summary: 'turn off the second factor of an account',
    help: 'Turns off the second factor of an account whose owner has lost the phone and the recovery codes.',
    work: async ({ accounts, email }) => {
      await accounts.turnOffTwoFactor(email)
      shell.print(`${email} signs in with the password alone now`)
    },
  })
}

async function setPassword(visit: Visit, given: { command: Command; shell: Shell }): Promise<void> {
  const { accounts, apiTokens, email } = visit
  const { command, shell } = given
  await accounts.requireAccount(email)
  const password = await readNewPassword(shell, { fromInput: isGiven(command, 'passwordStdin') })
  const tokens = (await apiTokens.listApiTokens(email)).length
  const revoke = await wantsToRevoke(tokens, given)
  await accounts.setPassword({ email, password, revoke })
  shell.print(`The password of ${email} is set${revoke ? ', and its tokens are revoked' : ''}`)
  if (revoke || tokens === 0) return
  const some = formatCount(tokens, 'token')
  shell.say(
    `Not revoked: ${some} of ${email}. If somebody else knew the password, repeat with --revoke-tokens.`,
  )
}

/** Asks at a terminal. An empty line means yes. */
async function wantsToRevoke(
  tokens: number,
  { command, shell }: { command: Command; shell: Shell },
): Promise<boolean> {
  if (isGiven(command, 'revokeTokens')) return true
  if (isGiven(command, 'keepTokens') || tokens === 0) return false
  if (!shell.isTerminal || isGiven(command, 'passwordStdin')) return false
  const answer = await shell.ask(`Also revoke its ${formatCount(tokens, 'token')}? [Y/n] `)
  return !/^no?$/i.test(answer.trim())
}
