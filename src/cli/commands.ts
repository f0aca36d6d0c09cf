// The table of commands, in the order of the help. Help, completion and the manual page are made of it.

import type { Command } from './command.ts'
import { ACCOUNTS } from './commands/accounts.ts'
import { BACKUPS } from './commands/backups.ts'
import { IMPORTS } from './commands/imports.ts'
import { KEYS } from './commands/keys.ts'
import { LOGINS } from './commands/logins.ts'
import { MACHINE } from './commands/machine.ts'
import { SERVER } from './commands/server.ts'
import { SHARING } from './commands/sharing.ts'

export const COMMANDS: readonly Command[] = [
  ...SERVER,
  ...ACCOUNTS,
  ...IMPORTS,
  ...BACKUPS,
  ...KEYS,
  ...SHARING,
  ...LOGINS,
  ...MACHINE,
]
