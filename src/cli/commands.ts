// The table of commands, in the order of the help. Help, completion and the manual page are generated from
// it.

import type { Command } from './command.ts'
import { BACKUP } from './commands/backup.ts'
import { COPY } from './commands/copy.ts'
import { DESKTOP } from './commands/desktop.ts'
import { EXEC } from './commands/exec.ts'
import { EXPIRE_ALL } from './commands/expire-all.ts'
import { EXPORT } from './commands/export.ts'
import { GET } from './commands/get.ts'
import { IMPORTS } from './commands/imports.ts'
import { KEYS } from './commands/keys.ts'
import { LOGINS } from './commands/logins.ts'
import { MACHINE } from './commands/machine.ts'
import { MCP } from './commands/mcp.ts'
import { OWN_PUSHES } from './commands/own-pushes.ts'
import { PUSH } from './commands/push.ts'
import { REQUESTS } from './commands/requests.ts'
import { RESTORES } from './commands/restore.ts'
import { SERVER } from './commands/server.ts'
import { SERVICE } from './commands/service.ts'
import { TOKENS } from './commands/tokens.ts'
import { TRUST } from './commands/trust.ts'
import { UPGRADE } from './commands/upgrade.ts'
import { USERS } from './commands/users.ts'
import { WATCH } from './commands/watch.ts'

export const COMMANDS: readonly Command[] = [
  ...[...SERVER, ...USERS, ...TOKENS, ...IMPORTS],
  ...[BACKUP, ...RESTORES, EXPIRE_ALL, COPY, ...KEYS],
  ...[PUSH, GET, EXEC, MCP, ...REQUESTS, ...OWN_PUSHES, WATCH, EXPORT, ...LOGINS, TRUST, ...DESKTOP],
  ...[...SERVICE, UPGRADE, ...MACHINE],
]
