// `oncebox token …`: an account's API tokens, for users who may write to the data folder.

import type { AccountCommands } from '../app/account-commands.ts'
import { formatTime } from '../domain/time.ts'
import type { Given } from './command.ts'
import { alignColumns } from './table.ts'

type Visit<F = unknown> = Given<F> & AccountCommands

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
