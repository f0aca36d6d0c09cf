// `oncebox key …`: the instance keys.

import { resolve } from 'node:path'
import type { ShownKey, ShownKeys } from '../../app/keys.ts'
import { databaseAddressOf } from '../../settings/database.ts'
import type { Values } from '../../settings/setting.ts'
import { command, some, toggle } from '../command.ts'
import { formatCount } from '../format.ts'

const place = some('dataDir', 'keyFile', 'databaseUrl', 'databasePassword')
const json = toggle('json', 'Print the keys as JSON')

export const KEYS = [
  command({
    name: 'key',
    help:
      'Shows the instance keys, and replaces the one that seals. The key file holds numbered keys, one in each line: the first ' +
      'seals, and each opens what it has sealed. It opens the names, notes and links that accounts keep, and their second factors; ' +
      'without it every push is lost.',
    examples: `  oncebox key show                                which keys there are, and what still needs them
  sudo systemctl stop oncebox && sudo oncebox key rotate && sudo systemctl start oncebox
  oncebox key rotate --database-url postgres://oncebox@db.example/oncebox --key-file /etc/oncebox/instance.key
  oncebox key new /etc/oncebox/instance.key       before the first start of several nodes`,
  }),
  command({
    name: 'key show',
    help:
      'Shows the fingerprints of the keys, and what still needs each. Fails when the key file does not belong to the database. ' +
      'Works while the server runs.',
    flags: { json },
    settings: place,
    isOnData: true,
    act: async ({ flags, config, shell }) => {
      const { showKeys } = await import('../../app/keys.ts')
      const shown = await showKeys(placeOf(config))
      shell.print(...(flags.json ? [JSON.stringify(shown)] : present(shown)))
    },
  }),
  command({
    name: 'key rotate',
    help:
      'Puts a new key in the place of the one that seals. Seals under it what accounts keep: names, notes and links of their ' +
      'pushes, and second factors. The former key stays in the key file for as long as a push needs it that is still live: the next ' +
      'rotation removes each key that nothing needs any more. Stop the server first; on several nodes stop all, run this on one, ' +
      'copy its key file to the others, and start them. A run that was broken off leaves a key file that works: run it again. Keep a ' +
      'copy of the new key file apart from the data, and the former copy for as long as you keep backups that were made before.',
    flags: { json },
    settings: place,
    isOnData: true,
    act: async ({ flags, config, shell }) => {
      const { rotateKey } = await import('../../app/keys.ts')
      const rotated = await rotateKey(placeOf(config))
      if (flags.json) return shell.print(JSON.stringify(rotated))
      shell.print(...present(rotated))
      for (const { number, fingerprint } of rotated.removed)
        shell.print(`  key ${number}  ${fingerprint}  removed: nothing needed it any more`)
      shell.say(
        `Keep a copy of ${rotated.file} apart from the data, and the former one for backups that were made before. ` +
          (config.databaseUrl === null ? 'Start the server now.' : 'Copy it to every node, and start them.'),
      )
    },
  }),
  command({
    name: 'key new',
    operands: 'FILE',
    help:
      'Makes the instance key for several nodes. Nobody else can read its file, which never replaces another one. The nodes of one ' +
      'PostgreSQL database (--database-url) all need the same --key-file. A server with a data folder makes its key by itself.',
    examples: `  oncebox key new /etc/oncebox/instance.key
  oncebox serve --database-url postgres://oncebox@db.example/oncebox --key-file /etc/oncebox/instance.key`,
    act: async ({ operands: [file = ''], shell }) => {
      const { makeNewKey } = await import('../../app/keys.ts')
      const path = resolve(shell.place.cwd, file)
      shell.print(`${path} holds a new instance key, fingerprint ${makeNewKey(path)}.`)
      shell.say('Keep a copy apart from the database and its backups: without the key every push is lost.')
    },
  }),
]

function placeOf({ dataDir, keyFile, ...database }: Values<typeof place>) {
  return { dataDir, keyFile, address: databaseAddressOf(database) }
}

const PLURALS: Record<string, string> = {
  'live push': 'live pushes',
  'ended push': 'ended pushes',
  'name and link': 'names and links',
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
