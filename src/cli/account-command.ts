// The common part of commands on accounts and tokens: arguments, opening and closing the data folder or the database.

import type { Command } from 'commander'
import type { AccountCommands } from '../app/account-commands.ts'
import { parseEmail } from '../domain/account.ts'
import { databaseAddressOf, databaseWarnings } from '../settings/database.ts'
import { readSettings } from '../settings/fold.ts'
import { settings } from '../settings/table.ts'
import type { App } from './app.ts'
import { UsageError } from './failures.ts'
import { addSettingFlags, givenFlags, readOperands } from './flags.ts'
import { placeWithService } from './service/service-settings.ts'
import type { Shell } from './shell.ts'
import { didYouMean } from './suggestions.ts'

const TABLE = {
  dataDir: settings.dataDir,
  databaseUrl: settings.databaseUrl,
  databasePassword: settings.databasePassword,
}
/** To put the key where the server looks for it. */
const KEY_TABLE = { keyFile: settings.keyFile }

export type Visit = AccountCommands & {
  /** The first argument of commands that take EMAIL; else empty. */
  email: string
  /** The second argument; empty when there is none. */
  second: string
}

export type AccountCommand = {
  name: string
  /** The required arguments, by their names in the help. EMAIL comes first if there are any. */
  operands: string[]
  summary: string
  help: string
  /** Creates a missing data folder. */
  creates?: true
  /** Problems with the command's own flags. */
  problems?: (command: Command) => string[]
  work: (visit: Visit, command: Command) => Promise<void> | void
}

/** A group such as `oncebox user`, which needs a subcommand. */
export function addGroup(
  program: Command,
  group: { name: string; summary: string; help: string; examples: string },
): Command {
  const command = program.command(group.name).summary(group.summary).description(group.help)
  command.helpCommand(true).usage('COMMAND').addHelpText('after', group.examples)
  return command.action(() => {
    const [first] = command.args
    if (first === undefined) command.help({ error: true })
    const names = command.commands.map((child) => child.name())
    const known = names.join(', ')
    const problem = first?.startsWith('-')
      ? `flags come after the command (one of ${known})`
      : `unknown command ${JSON.stringify(`${group.name} ${first}`)}${didYouMean(first ?? '', names) || ` (there are ${known})`}`
    throw new UsageError([problem], `oncebox ${group.name}`)
  })
}

export function addAccountCommand(
  group: Command,
  spec: AccountCommand & { shell: Shell; app: App },
): Command {
  const { shell, app } = spec
  const command = group.command(spec.name).summary(spec.summary).description(spec.help)
  command.usage([...spec.operands, '[flags]'].join(' '))
  addSettingFlags(command, { ...TABLE, ...KEY_TABLE })
  return command.action(async () => {
    const { email, second, ...place } = readCommandLine(command, spec)
    const opened = await app.openAccounts(place, { now: shell.now, writeLog: shell.say })
    shell.say(opened.where)
    try {
      await spec.work({ ...opened, email, second }, command)
    } finally {
      await opened.close()
    }
  })
}

function readCommandLine(command: Command, spec: AccountCommand & { shell: Shell }) {
  const { readFile } = spec.shell
  const { operands, problems } = readOperands(command, { names: spec.operands })
  const [address, second = ''] = operands
  const email = address === undefined ? '' : parseEmail(address)
  const flags = givenFlags(command, TABLE)
  const place = placeWithService(spec.shell, flags)
  const reading = readSettings(TABLE, { flags, place, readFile })
  const key = readSettings(KEY_TABLE, { flags: givenFlags(command, KEY_TABLE), place, readFile })
  const database = reading.config === undefined ? null : databaseAddressOf(reading.config)
  const all = [
    ...problems,
    ...(email === null
      ? [`EMAIL ${JSON.stringify(address)}: must be an address such as ann@example.org`]
      : []),
    ...(spec.problems?.(command) ?? []),
    ...(reading.problems ?? []),
    ...(key.problems ?? []),
  ]
  if (all.length > 0 || email === null || reading.config === undefined) {
    throw new UsageError(all, `oncebox ${command.parent?.name()} ${command.name()}`)
  }
  for (const warning of databaseWarnings(flags)) spec.shell.say(`oncebox: warning: ${warning}`)
  const { dataDir } = reading.config
  const create = spec.creates ? key.config : undefined
  return { dataDir, database, create, email, second }
}
