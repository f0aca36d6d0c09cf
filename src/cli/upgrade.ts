// `oncebox upgrade`: replaces this program by a signed release from a file, or returns to the former one.

import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { type PublicKey, parsePublicKeys } from '../install/upgrade.ts'
import { readSettings } from '../settings/fold.ts'
import { settings } from '../settings/table.ts'
import type { App } from './app.ts'
import { CommandFailure, UsageError } from './failures.ts'
import { addSettingFlags, addTextFlag, givenFlags, readOperands, textFlag } from './flags.ts'
import { placeWithService } from './service/service-settings.ts'
import { restartService } from './service/status.ts'
import type { Shell } from './shell.ts'

type Parts = { shell: Shell; app: App }

const TABLE = { dataDir: settings.dataDir, databaseUrl: settings.databaseUrl }

const HELP =
  'Replaces this program by a release from FILE, while the server runs. Checks the signature in FILE.minisig, the system and ' +
  'the version that it names, and starts the new program once. The former program stays beside the new one; --back returns ' +
  'to it, as long as it can open the data. Nothing is ever fetched. With --database-url upgrade the nodes one after another, ' +
  'because those of the version before go on beside it.'

const EXAMPLES = `
Examples:
  sudo oncebox upgrade oncebox-3.1.0-linux-x64    with oncebox-3.1.0-linux-x64.minisig beside it
  sudo oncebox upgrade --back                     return to the former program`

export function addUpgradeCommand(program: Command, parts: Parts): void {
  const { shell, app } = parts
  const command = program
    .command('upgrade')
    .usage('FILE [flags]')
    .summary('replace this program by a signed release from a file, or return')
    .description(HELP)
    .addHelpText('after', EXAMPLES)
    .option('--back', 'Return to the former program')
    .addOption(new Option('--schema').hideHelp())
  addTextFlag(
    command,
    '--public-key <key>',
    'Public key of minisign, or a file with one, in place of the built-in keys',
  )
  addSettingFlags(command, TABLE)
  command.action(async () => {
    if (command.getOptionValue('schema') === true) return printSchema(command, parts)
    const { file, keys, place } = readCommandLine(command, shell)
    const executable = ownExecutable(shell)
    const where = { ...place, executable, tell: (step: string) => shell.say(`… ${step}`) }
    if (file === null) {
      const { to } = await app.goBack(where)
      shell.print(`${executable} is Oncebox ${to} again.`)
      if (!place.isInFolder) shell.print('It refuses to start if the tables are too new for it by now.')
    } else {
      const { from, to, former } = await app.upgradeProgram({ file, keys }, where)
      shell.print(`${executable} is Oncebox ${to} now. The former one (${from}) is kept as ${former}.`)
      if (!place.isInFolder) shell.print('Upgrade the other nodes as well, one after another.')
    }
    await restart(executable, shell)
  })
}

/** Answers `upgrade --back`, which runs this program again as the owner of the data. */
function printSchema(command: Command, { shell, app }: Parts): void {
  const { place, readFile } = shell
  const { config, problems } = readSettings(TABLE, { flags: givenFlags(command, TABLE), place, readFile })
  if (config === undefined) throw new UsageError(problems, 'oncebox upgrade')
  shell.printExactly(`${JSON.stringify(app.schemaForUpgrade(config.dataDir))}\n`)
}

function readCommandLine(command: Command, shell: Shell) {
  const { operands, problems } = readOperands(command, { names: ['FILE'], optional: 1 })
  const [file] = operands
  const isBack = command.getOptionValue('back') === true
  const flags = givenFlags(command, TABLE)
  const place = placeWithService(shell, flags)
  const reading = readSettings(TABLE, { flags, place, readFile: shell.readFile })
  const keys = readKeys(textFlag(command, 'public-key'), shell)
  const all = [
    ...problems,
    ...(file === undefined && !isBack && problems.length === 0 ? ['FILE is missing (or --back)'] : []),
    ...(file !== undefined && isBack ? ['FILE and --back: give only one of them'] : []),
    ...(keys === 'wrong'
      ? ['--public-key: must be a public key of minisign (RW…), or name a file with one']
      : []),
    ...(reading.problems ?? []),
  ]
  if (all.length > 0 || reading.config === undefined || keys === 'wrong')
    throw new UsageError(all, 'oncebox upgrade')
  const { databaseUrl, ...where } = reading.config
  return {
    file: file === undefined ? null : resolve(shell.place.cwd, file),
    keys,
    place: { ...where, isInFolder: databaseUrl === null },
  }
}

function readKeys(
  text: string | undefined,
  { readFile, place }: Shell,
): readonly PublicKey[] | null | 'wrong' {
  if (text === undefined) return null
  const keys = parsePublicKeys(text) ?? parsePublicKeys(readText(resolve(place.cwd, text), readFile))
  return keys === null || keys.length === 0 ? 'wrong' : keys
}

/** Empty when it cannot be read. */
function readText(path: string, readFile: Shell['readFile']): string {
  try {
    return readFile(path)
  } catch {
    return ''
  }
}

function ownExecutable({ self }: Shell): string {
  const [program = '', ...entry] = self
  if (entry.length > 0) throw new CommandFailure('Only the built executable can be upgraded.')
  return existsSync(program) ? realpathSync(program) : program
}

/** Restarts a service that runs this program. Any other server keeps running the program that it was started with. */
async function restart(executable: string, shell: Shell): Promise<void> {
  const service = shell.findService()
  const isOurs =
    service?.executable != null &&
    existsSync(service.executable) &&
    realpathSync(service.executable) === executable
  if (service !== null && isOurs && (await restartService(service.scope, shell))) return
  shell.print('A server that runs goes on with the program that it was started with: restart it.')
}
