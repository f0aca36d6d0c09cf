// `oncebox upgrade`: replaces this program by a signed release from a file, or returns to the former one.

import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  findWayBack,
  goBack,
  type PublicKey,
  parsePublicKeys,
  type UpgradePlace,
  upgradeProgram,
} from '../install/upgrade.ts'
import type { Config } from '../settings/table.ts'
import { confirm } from './ask.ts'
import type { Given } from './command.ts'
import { CommandFailure, UsageError } from './failures.ts'
import { restartService } from './service.ts'
import type { Shell } from './shell.ts'

type Upgrade = Given<
  { back: boolean; yes: boolean; publicKey: string | null },
  Pick<Config, 'dataDir' | 'databaseUrl'>
>

export async function upgrade(given: Upgrade): Promise<void> {
  const { operands, flags, config, shell } = given
  const [file] = operands
  const keys = readKeys(flags.publicKey, shell)
  const place = {
    dataDir: config.dataDir,
    isInFolder: config.databaseUrl === null,
    executable: ownExecutable(shell),
    tell: (step: string) => shell.say(`… ${step}`),
  }
  if (file === undefined) await returnBack(place, given)
  else {
    const { from, to, former } = await upgradeProgram({ file: resolve(shell.place.cwd, file), keys }, place)
    shell.print(`${place.executable} is Oncebox ${to} now. The former one (${from}) is kept as ${former}.`)
    if (!place.isInFolder) shell.print('Upgrade the other nodes as well, one after another.')
  }
  await restart(place.executable, shell)
}

/** Asks first when the data has to go back too. */
async function returnBack(place: UpgradePlace, { flags, shell }: Upgrade): Promise<void> {
  const way = await findWayBack(place)
  if (way.copy !== null) {
    shell.say(
      `Oncebox ${way.to} cannot open ${place.dataDir} any more, because an update has changed its tables.`,
    )
    shell.say(`Going back puts ${way.copy} in the place of the database, as it was before that update:`)
    shell.say('  - Accounts, API tokens, lists and logs are as they were then. Everything since is lost.')
    shell.say('  - Every push is expired, for ever: the copy holds no keys.')
    if (!flags.yes) await confirm(shell, 'Go back now?')
  }
  goBack(place, way)
  shell.print(`${place.executable} is Oncebox ${way.to} again.`)
  if (!place.isInFolder) shell.print('It refuses to start if the tables are too new for it by now.')
}

/** Null for the built-in ones. */
function readKeys(text: string | null, { readFile, place }: Shell): readonly PublicKey[] | null {
  if (text === null) return null
  const keys = parsePublicKeys(text) ?? parsePublicKeys(readText(resolve(place.cwd, text), readFile))
  if (keys !== null && keys.length > 0) return keys
  throw new UsageError(
    ['--public-key: must be a public key of minisign (RW…), or name a file with one'],
    'oncebox upgrade',
  )
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
