// Commands on accounts and their API tokens, for users who may write to the data folder or know the database's password.

import type { AccountCommands } from '../../app/account-commands.ts'
import { tokenNameProblem } from '../../domain/account.ts'
import { explainProblem } from '../../domain/problems.ts'
import { databaseAddressOf } from '../../settings/database.ts'
import type { Table, Values } from '../../settings/setting.ts'
import { settings } from '../../settings/table.ts'
import { type Command, command, type Given, toggle, valued } from '../command.ts'

const PLACE = {
  dataDir: settings.dataDir,
  databaseUrl: settings.databaseUrl,
  databasePassword: settings.databasePassword,
  keyFile: settings.keyFile,
}

type AccountCommand<F extends Table> = Pick<
  Command<F>,
  'name' | 'operands' | 'summary' | 'help' | 'flags' | 'oneOf'
> & {
  /** Creates a missing data folder. */
  creates?: true
  act(given: Given<Values<F>> & AccountCommands): Promise<void>
}

/** Opens the accounts for the action, and closes them after it. */
function accountCommand<F extends Table>({ act, creates, ...row }: AccountCommand<F>): Command {
  return command({
    ...row,
    settings: PLACE,
    isOnData: true,
    act: async (given) => {
      const { shell, app, config } = given
      const { dataDir, keyFile } = config
      const opened = await app.openAccounts(
        { dataDir, database: databaseAddressOf(config), create: creates && { keyFile } },
        { now: shell.now, writeLog: shell.say },
      )
      shell.say(opened.where)
      try {
        await act({ ...given, ...opened })
      } finally {
        await opened.close()
      }
    },
  })
}

const USER =
  'Adds, lists, changes and removes accounts, even while the server runs. ' +
  'An account owns its pushes: it can list and expire them, and see their logs. ' +
  'A PostgreSQL database that no node would serve, because it was set back or a failover left it behind, is refused.'

const USER_EXAMPLES = `  oncebox user add ann@example.org --admin
  pwgen 20 1 | oncebox user add bob@example.org --password-stdin
  oncebox user admin bob@example.org
  oncebox user list

Next: "oncebox token create EMAIL" creates a token for the API.`

const TOKEN_EXAMPLES = `  oncebox token create ann@example.org --name laptop
  oncebox token list ann@example.org
  oncebox token revoke ann@example.org laptop`

const passwordStdin = toggle('password-stdin', 'read the password from standard input')

export const ACCOUNTS = [
  command({
    name: 'user',
    summary: 'add, list, change and remove accounts',
    help: USER,
    examples: USER_EXAMPLES,
  }),
  accountCommand({
    name: 'user add',
    operands: 'EMAIL',
    summary: 'add an account',
    help:
      'Adds an account. Asks for its password twice, unless --password-stdin is given. ' +
      'Creates the data folder, or the tables in an empty PostgreSQL database, if there are none yet.',
    creates: true,
    flags: { admin: toggle('admin', 'make the account an administrator of this server'), passwordStdin },
    act: async (given) => (await import('../accounts.ts')).addUser(given),
  }),
  accountCommand({
    name: 'user list',
    summary: 'list the accounts',
    help: 'Lists the accounts.',
    act: async (given) => (await import('../accounts.ts')).listUsers(given),
  }),
  accountCommand({
    name: 'user password',
    operands: 'EMAIL',
    summary: 'set the password of an account',
    help:
      'Sets the password of an account and ends its sessions. Asks whether to revoke its tokens, and the ' +
      'invitations and password links that it created; without a terminal it keeps them, unless ' +
      '--revoke-tokens is given.',
    flags: {
      passwordStdin,
      revokeTokens: toggle(
        'revoke-tokens',
        'revoke the tokens, invitations and password links of the account',
      ),
      keepTokens: toggle('keep-tokens', 'keep the tokens valid'),
    },
    oneOf: [['revokeTokens', 'keepTokens']],
    act: async (given) => (await import('../accounts.ts')).setPassword(given),
  }),
  accountCommand({
    name: 'user two-factor-off',
    operands: 'EMAIL',
    summary: 'turn off the second factor of an account',
    help: 'Turns off the second factor of an account whose owner has lost the phone and the recovery codes.',
    act: async (given) => (await import('../accounts.ts')).turnOffTwoFactor(given),
  }),
  accountCommand({
    name: 'user admin',
    operands: 'EMAIL',
    summary: 'make an account an administrator',
    help:
      'Makes an account an administrator at once. Administrators may invite, reset, disable and remove accounts, ' +
      'and see the settings and the state of the server. They see only their own pushes.',
    act: async (given) => (await import('../accounts.ts')).makeAdmin(given),
  }),
  accountCommand({
    name: 'user no-admin',
    operands: 'EMAIL',
    summary: 'make an administrator an ordinary account',
    help:
      'Makes an administrator an ordinary account at once. Its invitations and password links stop working; ' +
      'its pushes and tokens stay. Refuses the last administrator.',
    act: async (given) => (await import('../accounts.ts')).unmakeAdmin(given),
  }),
  accountCommand({
    name: 'user disable',
    operands: 'EMAIL',
    summary: 'stop an account and its tokens at once',
    help: 'Stops an account and its tokens at once. Its pushes stay; "enable" undoes this.',
    act: async (given) => (await import('../accounts.ts')).disableUser(given),
  }),
  accountCommand({
    name: 'user enable',
    operands: 'EMAIL',
    summary: 'let a disabled account work again',
    help: 'Lets a disabled account and its tokens work again.',
    act: async (given) => (await import('../accounts.ts')).enableUser(given),
  }),
  accountCommand({
    name: 'user remove',
    operands: 'EMAIL',
    summary: 'remove an account, its tokens and its pushes',
    help: 'Removes an account, its tokens and its pushes, for ever. Asks first, unless --yes is given.',
    flags: { yes: toggle('yes', 'do not ask') },
    act: async (given) => (await import('../accounts.ts')).removeUser(given),
  }),
  command({
    name: 'token',
    summary: 'create, list and revoke API tokens of an account',
    help:
      'Creates, lists and revokes API tokens, even while the server runs. ' +
      'Programs use a token instead of a password to call the API.',
    examples: TOKEN_EXAMPLES,
  }),
  accountCommand({
    name: 'token create',
    operands: 'EMAIL',
    summary: 'create a token and print it, once',
    help: 'Creates a token and prints only the token on standard output. It is stored hashed and never shown again.',
    flags: {
      name: valued('name <name>', 'name that tells the token from others', (text) => {
        const problem = tokenNameProblem(text)
        return problem === null ? { value: text } : { problem: explainProblem(problem) }
      }),
    },
    act: async (given) => (await import('../accounts.ts')).createToken(given),
  }),
  accountCommand({
    name: 'token list',
    operands: 'EMAIL',
    summary: 'list the tokens of an account',
    help: 'Lists the tokens of an account by name and first characters.',
    act: async (given) => (await import('../accounts.ts')).listTokens(given),
  }),
  accountCommand({
    name: 'token revoke',
    operands: 'EMAIL NAME-OR-PREFIX',
    summary: 'revoke a token at once',
    help: 'Revokes a token at once. NAME-OR-PREFIX is its name, or its first characters as listed.',
    act: async (given) => (await import('../accounts.ts')).revokeToken(given),
  }),
]
