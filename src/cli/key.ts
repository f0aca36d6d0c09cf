// `oncebox key`: the instance keys.

import { resolve } from 'node:path'
import { type KeyPlace, makeNewKey, rotateKey, type ShownKey, type ShownKeys, showKeys } from '../app/keys.ts'
import { type DatabaseConfig, databaseAddressOf } from '../settings/database.ts'
import type { Config } from '../settings/table.ts'
import type { Given } from './command.ts'
import { formatCount } from './format.ts'

type Keys = Given<
  { json: boolean },
  Pick<Config, 'dataDir' | 'keyFile'> & Pick<DatabaseConfig, 'databaseUrl' | 'databasePassword'>
>

const PLURALS: Record<string, string> = {
  'live push': 'live pushes',
  'ended push': 'ended pushes',
  'name and link': 'names and links',
}

export function makeNew({ operands: [file = ''], shell }: Given): void {
  const path = resolve(shell.place.cwd, file)
  const fingerprint = makeNewKey(path)
  shell.print(`${path} holds a new instance key, fingerprint ${fingerprint}.`)
  shell.say('Keep a copy apart from the database and its backups: without the key every push is lost.')
}

export async function show({ flags, config, shell }: Keys): Promise<void> {
  const shown = await showKeys(placeOf(config))
  for (const line of flags.json ? [JSON.stringify(shown)] : present(shown)) shell.print(line)
}

export async function rotate({ flags, config, shell }: Keys): Promise<void> {
  const rotated = await rotateKey(placeOf(config))
  if (flags.json) return shell.print(JSON.stringify(rotated))
  for (const line of present(rotated)) shell.print(line)
  for (const { number, fingerprint } of rotated.removed)
    shell.print(`  key ${number}  ${fingerprint}  removed: nothing needed it any more`)
  const isShared = config.databaseUrl !== null
  shell.say(
    `Keep a copy of ${rotated.file} apart from the data, and the former one for backups that were made before. ` +
      (isShared ? 'Copy it to every node, and start them.' : 'Start the server now.'),
  )
}

function placeOf(config: Keys['config']): KeyPlace {
  return { dataDir: config.dataDir, keyFile: config.keyFile, address: databaseAddressOf(config) }
}

function present({ file, keys }: ShownKeys): string[] {
  return [`Keys in ${file}:`, ...keys.map((key, n) => `  ${presentKey(key, n === 0)}`)]
}

function presentKey({ number, fingerprint, uses }: ShownKey, isFirst: boolean): string {
  const needed = uses.map(({ kind, rows }) => formatCount(rows, kind, PLURALS[kind]))
  const said =
    needed.length > 0 ? `needed by ${needed.join(', ')}` : isFirst ? '' : 'nothing needs it any more'
  return [`key ${number}`, fingerprint, isFirst ? 'seals' : 'only opens', said].filter(Boolean).join('  ')
}
