// `oncebox upgrade`: replaces this program by a signed release from a file, or restores the former one.

import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { placesFor } from '../../install/places.ts'
import { ownExecutable, realOf } from '../../install/service.ts'
import type { UpgradePlace } from '../../install/upgrade.ts'
import { confirm } from '../ask.ts'
import { command, some, toggle, valued } from '../command.ts'
import { UsageError } from '../failures.ts'
import { anyPath } from '../paths.ts'
import type { Shell } from '../shell.ts'
import { restartService } from './service.ts'

export const UPGRADE = command({
  name: 'upgrade',
  operands: '[FILE]',
  flags: {
    back: toggle('back'),
    yes: toggle('yes'),
    publicKey: valued('public-key <key>', anyPath),
  },
  settings: some('dataDir', 'databaseUrl'),
  isOnData: true,
  problems: ({ operands: [file], flags }) => [
    file === undefined && !flags.back && 'FILE is missing (or --back)',
    file !== undefined && flags.back && 'FILE and --back: give only one of them',
  ],
  act: async ({ operands: [file], flags, config, shell }) => {
    const { upgradeProgram } = await import('../../install/upgrade.ts')
    const keys = await readKeys(flags.publicKey, shell)
    const place = {
      dataDir: config.dataDir,
      isInFolder: config.databaseUrl === null,
      executable: ownExecutable(shell.self, 'Only the built executable can be upgraded.'),
      tell: (step: string) => shell.say(`… ${step}`),
    }
    if (file === undefined) await returnBack(place, flags.yes, shell)
    else {
      const { from, to, former } = await upgradeProgram({ file: resolve(shell.os.cwd, file), keys }, place)
      shell.print(
        `${place.executable} is Oncebox ${to} now. The former program (${from}) is kept as ${former}.`,
        ...(place.isInFolder ? [] : ['Upgrade the other nodes as well, one after another.']),
      )
    }
    await restart(place.executable, shell)
  },
})

/** Restores the former program. Asks first if the database must be rolled back as well. */
async function returnBack(place: UpgradePlace, isAgreed: boolean, shell: Shell): Promise<void> {
  const { findWayBack, goBack } = await import('../../install/upgrade.ts')
  const way = await findWayBack(place)
  if (way.copy !== null) {
    shell.say(
      `Oncebox ${way.to} cannot open ${place.dataDir} any more, because an update has changed its tables.`,
      `Going back replaces the database by ${way.copy}, its copy from before that update:`,
      '  - Accounts, API tokens, lists and logs return to their state then. All later changes are lost.',
      '  - Every push is expired, for ever: the copy contains no keys.',
    )
    if (!isAgreed) await confirm(shell, 'Go back now?')
  }
  goBack(place, way)
  shell.print(`${place.executable} is Oncebox ${way.to} again.`)
  if (!place.isInFolder) shell.print('It refuses to start if the tables are too new for it by now.')
}

/** Reads the public keys of --public-key. Resolves to null for the built-in ones. */
async function readKeys(text: string | null, { os }: Shell) {
  if (text === null) return null
  const { parsePublicKeys } = await import('../../install/upgrade.ts')
  const path = resolve(os.cwd, text)
  const keys =
    parsePublicKeys(text) ?? (existsSync(path) ? parsePublicKeys(readFileSync(path, 'utf8')) : null)
  if (keys !== null && keys.length > 0) return keys
  throw new UsageError(
    ['--public-key: must be a public key of minisign (RW…), or name a file with one'],
    'oncebox upgrade',
  )
}

/**
 * Restarts the service if it runs this program. Servers that run otherwise continue with the former program.
 */
async function restart(executable: string, shell: Shell): Promise<void> {
  const scope = shell.findService()?.scope
  if (scope !== undefined) {
    const { executable: program } = placesFor(scope, { os: shell.os, self: executable })
    if (realOf(program) === executable && (await restartService(scope, shell))) return
  }
  shell.print('A running server still runs the former program: restart it.')
}
