// Commands on the instance keys.

import { settings } from '../../settings/table.ts'
import { command, toggle } from '../command.ts'

const PLACE = {
  dataDir: settings.dataDir,
  keyFile: settings.keyFile,
  databaseUrl: settings.databaseUrl,
  databasePassword: settings.databasePassword,
}

const EXAMPLES = `  oncebox key show                                which keys there are, and what still needs them
  sudo systemctl stop oncebox && sudo oncebox key rotate && sudo systemctl start oncebox
  oncebox key rotate --database-url postgres://oncebox@db.example/oncebox --key-file /etc/oncebox/instance.key
  oncebox key new /etc/oncebox/instance.key       before the first start of several nodes`

export const KEYS = [
  command({
    name: 'key',
    summary: 'show the instance keys, and replace the one that seals',
    help:
      'Shows and replaces the instance keys. The key file holds numbered keys, one in each line: the first seals, and each opens ' +
      'what it has sealed. It opens the names, notes and links that accounts keep, and their second factors; without it every push is lost.',
    examples: EXAMPLES,
  }),
  command({
    name: 'key show',
    summary: 'show the fingerprints of the keys, and what still needs each',
    help:
      'Shows the number and the fingerprint of each key in the key file, and what in the database still needs it. Fails when the key ' +
      'file does not belong to the database. Works while the server runs.',
    flags: { json: toggle('json', 'Print the keys as JSON') },
    settings: PLACE,
    isOnData: true,
    act: async (given) => (await import('../key.ts')).show(given),
  }),
  command({
    name: 'key rotate',
    summary: 'put a new key in the place of the one that seals',
    help:
      'Makes a new key, which seals from then on, and seals under it what accounts keep: names, notes and links of their pushes, and ' +
      'second factors. The former key stays in the key file for as long as a push needs it that is still live: the next rotation ' +
      'removes each key that nothing needs any more. Stop the server first; on several nodes stop all, run this on one, copy its key file ' +
      'to the others, and start them. A run that was broken off leaves a key file that works: run it again.',
    notes: `
Keep a copy of the new key file apart from the data, and the former copy for as long as you keep backups that were made before.`,
    flags: { json: toggle('json', 'Print the keys as JSON') },
    settings: PLACE,
    isOnData: true,
    act: async (given) => (await import('../key.ts')).rotate(given),
  }),
  command({
    name: 'key new',
    operands: 'FILE',
    summary: 'make the instance key for several nodes',
    help:
      'Makes the file of a new instance key, which nobody else can read, and never over another file. The nodes of one PostgreSQL ' +
      'database (--database-url) all need the same --key-file. A server with a data folder makes its key by itself.',
    examples: `  oncebox key new /etc/oncebox/instance.key
  oncebox serve --database-url postgres://oncebox@db.example/oncebox --key-file /etc/oncebox/instance.key`,
    act: async (given) => (await import('../key.ts')).makeNew(given),
  }),
]
