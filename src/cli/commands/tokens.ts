// `oncebox token …`: the API tokens of accounts.

import { tokenNameProblem } from '../../domain/account.ts'
import { explainProblem } from '../../domain/problems.ts'
import { formatTime } from '../../domain/time.ts'
import { valued } from '../command.ts'
import { alignColumns } from '../table.ts'
import { accountCommand } from './users.ts'

export const TOKENS = [
  { name: 'token' },
  accountCommand({
    name: 'token create',
    operands: 'EMAIL',
    flags: {
      name: valued('name <name>', (text) => {
        const problem = tokenNameProblem(text)
        return problem === null ? { value: text } : { problem: explainProblem(problem) }
      }),
    },
    act: async ({ apiTokens, shell, flags: { name }, email }) => {
      const created = await apiTokens.createApiToken(name === null ? { email } : { email, name })
      shell.print(created.apiToken)
      shell.say(
        `Save the token now; it is not shown again. Send it as "Authorization: Bearer …". Its name is ${created.name}.`,
      )
    },
  }),
  accountCommand({
    name: 'token list',
    operands: 'EMAIL',
    act: async ({ apiTokens, shell, email }) => {
      const rows = (await apiTokens.listApiTokens(email)).map(({ name, prefix, createdAt, lastUsedAt }) => [
        name,
        prefix === '' ? '(imported)' : prefix,
        formatTime(createdAt),
        lastUsedAt === null ? 'never' : formatTime(lastUsedAt),
      ])
      if (rows.length === 0) shell.say(`${email} has no tokens: "oncebox token create ${email}" creates one.`)
      else shell.print(...alignColumns(['NAME', 'PREFIX', 'CREATED', 'LAST USED'], ...rows))
    },
  }),
  accountCommand({
    name: 'token revoke',
    operands: 'EMAIL NAME-OR-PREFIX',
    act: async ({ apiTokens, shell, email, operands: [, nameOrPrefix = ''] }) => {
      const { name, prefix } = await apiTokens.revokeApiToken({ email, nameOrPrefix })
      shell.print(`The token ${prefix === '' ? name : `${name} (${prefix}…)`} of ${email} is revoked`)
    },
  }),
]
