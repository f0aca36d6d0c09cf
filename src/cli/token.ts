// `oncebox token …`: an account's API tokens, for users who may write to the data folder.

import type { Command } from 'commander'
import { type ApiToken, tokenNameProblem } from '../domain/account.ts'
import { explainProblem } from '../domain/problems.ts'
import { formatTime } from '../domain/time.ts'
import { type AccountCommand, addAccountCommand, addGroup } from './account-command.ts'
import type { App } from './app.ts'
import { addTextFlag, textFlag } from './flags.ts'
import type { Shell } from './shell.ts'
import { alignColumns } from './table.ts'

const HELP =
  'Creates, lists and revokes API tokens, even while the server runs. ' +
  'Programs use a token instead of a password to call the API.'

const EXAMPLES = `
Examples:
  oncebox token create ann@example.org --name laptop
  oncebox token list ann@example.org
  oncebox token revoke ann@example.org laptop`

export function addTokenCommands(program: Command, parts: { shell: Shell; app: App }): void {
  const { shell } = parts
  const summary = 'create, list and revoke API tokens of an account'
  const token = addGroup(program, { name: 'token', summary, help: HELP, examples: EXAMPLES })
  const add = (spec: AccountCommand) => addAccountCommand(token, { ...spec, ...parts })

  const create = add({
    name: 'create',
    operands: ['EMAIL'],
    summary: 'create a token and print it, once',
    help: 'Creates a token and prints only the token on standard output. It is stored hashed and never shown again.',
    problems: (command) => {
      const problem = tokenNameProblem(textFlag(command, 'name') ?? 'unnamed')
      return problem === null ? [] : [`--name: ${explainProblem(problem)}`]
    },
    work: async ({ apiTokens, email }, command) => {
      const name = textFlag(command, 'name')
      const created = await apiTokens.createApiToken(name === undefined ? { email } : { email, name })
      shell.print(created.apiToken)
      shell.say(
        `Save the token now; it is not shown again. Send it as "Authorization: Bearer …". Its name is ${created.name}.`,
      )
    },
  })
  addTextFlag(create, '--name <name>', 'name that tells the token from others')

  add({
    name: 'list',
    operands: ['EMAIL'],
    summary: 'list the tokens of an account',
    help: 'Lists the tokens of an account by name and first characters.',
    work: async ({ apiTokens, email }) => listTokens(await apiTokens.listApiTokens(email), { email, shell }),
  })

  add({
    name: 'revoke',
    operands: ['EMAIL', 'NAME-OR-PREFIX'],
    summary: 'revoke a token at once',
    help: 'Revokes a token at once. NAME-OR-PREFIX is its name, or its first characters as listed.',
    work: async ({ apiTokens, email, second }) => {
      const revoked = await apiTokens.revokeApiToken({ email, nameOrPrefix: second })
      const { name, prefix } = revoked
      const shown = prefix === '' ? name : `${name} (${prefix}…)`
      shell.print(`The token ${shown} of ${email} is revoked`)
    },
  })
}

function listTokens(apiTokens: ApiToken[], { email, shell }: { email: string; shell: Shell }): void {
  if (apiTokens.length === 0) {
    shell.say(`${email} has no tokens: "oncebox token create ${email}" creates one.`)
    return
  }
  const rows = apiTokens.map(({ name, prefix, createdAt, lastUsedAt }) => [
    name,
    prefix === '' ? '(imported)' : prefix,
    formatTime(createdAt),
    lastUsedAt === null ? 'never' : formatTime(lastUsedAt),
  ])
  for (const line of alignColumns(['NAME', 'PREFIX', 'CREATED', 'LAST USED'], rows)) shell.print(line)
}
