// Which database server keeps the rows, when it is not the data folder.

import { databasePassword, databaseUrl, showDatabaseUrl } from '../database-parsers.ts'
import { wholeNumber } from '../parsers.ts'
import type { Table } from '../setting.ts'

const group = 'Storage and network'

export const databaseSettings = {
  databaseUrl: {
    flag: 'database-url',
    group,
    placeholder: 'url',
    parse: databaseUrl,
    default: null,
    defaultWords: 'SQLite in the data folder',
    file: true,
    show: showDatabaseUrl,
    help:
      'PostgreSQL server for everything but files, such as postgres://oncebox@db.example/oncebox, or several (…@db1,db2/oncebox), of ' +
      'which the one that takes writes is used; TLS is verified unless it says otherwise (?sslmode=, ?sslrootcert=); needs --key-file',
  },
  databasePassword: {
    flag: 'database-password',
    group,
    placeholder: 'text',
    parse: databasePassword,
    default: null,
    file: true,
    secret: true,
    variableOnly: true,
    help: 'Password of the PostgreSQL user, in place of one in the address',
  },
  databaseConnections: {
    flag: 'database-connections',
    group,
    placeholder: 'number',
    parse: wholeNumber('2', '200'),
    default: '8',
    help: 'Most connections of this server to PostgreSQL; those of all nodes together must fit into its max_connections',
  },
} satisfies Table
