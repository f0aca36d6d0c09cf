// `oncebox key …`: the instance keys.

import { resolve } from 'node:path'
import type { ShownKey } from '../../app/keys.ts'
import { parseLinkOrToken } from '../../client/link.ts'
import { databaseAddressOf } from '../../settings/database.ts'
import type { Values } from '../../settings/setting.ts'
import { command, some, toggle } from '../command.ts'
import { formatCount } from '../format.ts'
import { STANDARD } from '../paths.ts'
import { readLink } from '../server-command.ts'

const storage = some('dataDir', 'keyFile', 'databaseUrl', 'databasePassword')
const json = toggle('json')

export const KEYS = [
  command({
    name: 'key',
    operands: 'LINK|-',
    act: async ({ operands: [operand = ''], shell }) => {
      const link = operand === STANDARD ? await readLink(shell) : operand
      const { identityInLink } = await import('../age-keys.ts')
      shell.print(await identityInLink(parseLinkOrToken(link)?.fragment ?? null))
    },
  }),
  command({
    name: 'key show',
    flags: { json },
    settings: storage,
    isOnData: true,
    act: async ({ flags, config, shell }) => {
      const { showKeys } = await import('../../app/keys.ts')
      const shown = await showKeys(storageOf(config))
      shell.print(...(flags.json ? [JSON.stringify(shown)] : present(shown)))
    },
  }),
  command({
    name: 'key rotate',
    flags: { json },
    settings: storage,
    isOnData: true,
    act: async ({ flags, config, shell }) => {
      const { rotateKey } = await import('../../app/keys.ts')
      const rotated = await rotateKey(storageOf(config))
      if (flags.json) return shell.print(JSON.stringify(rotated))
      shell.print(...present(rotated))
      for (const { number, fingerprint } of rotated.removed)
        shell.print(`  key ${number}  ${fingerprint}  removed: no longer needed`)
      shell.say(
        `Keep a copy of ${rotated.file} apart from the data, and the previous file for older backups. ` +
          (config.databaseUrl === null
            ? 'Start the server now.'
            : 'Copy it to every node, then start the nodes.'),
      )
    },
  }),
  command({
    name: 'key new',
    operands: 'FILE',
    act: async ({ operands: [file = ''], shell }) => {
      const { makeNewKey } = await import('../../app/keys.ts')
      const path = resolve(shell.os.cwd, file)
      shell.print(`${path} holds a new instance key, fingerprint ${makeNewKey(path)}.`)
      shell.say('Keep a copy apart from the database and its backups: without the key every push is lost.')
    },
  }),
]

function storageOf({ dataDir, keyFile, ...database }: Values<typeof storage>) {
  return { dataDir, keyFile, address: databaseAddressOf(database) }
}

const PLURALS: Record<string, string> = {
  'live push': 'live pushes',
  'ended push': 'ended pushes',
  'name and link': 'names and links',
}

function present({ file, keys }: { file: string; keys: ShownKey[] }): string[] {
  return [`Keys in ${file}:`, ...keys.map((key, n) => `  ${presentKey(key, n === 0)}`)]
}

function presentKey({ number, fingerprint, uses }: ShownKey, isFirst: boolean): string {
  const needed = uses.map(({ kind, rows }) => formatCount(rows, kind, PLURALS[kind]))
  const said =
    needed.length > 0 ? `needed by ${needed.join(', ')}` : isFirst ? '' : 'nothing needs it any more'
  return [`key ${number}`, fingerprint, isFirst ? 'seals' : 'only opens', said].filter(Boolean).join('  ')
}
