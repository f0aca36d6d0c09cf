// Settings of storage, of the addresses to listen on, and of the database.

import { databasePassword, databaseUrl, showDatabaseUrl } from '../database-parsers.ts'
import { accessKey, baseUrl, bucketUrl, host, port } from '../parsers.ts'
import { defaultDataDir, file, folder, numbers, section } from '../setting.ts'

const secretText = {
  placeholder: 'text',
  default: null,
  file: true,
  secret: true,
  variableOnly: true,
} as const

export const storageSettings = section('Storage and network', {
  dataDir: {
    ...folder,
    default: defaultDataDir,
    defaultWords: "the platform's folder for a user's data",
    file: true,
    help: 'Folder of the database, the files and the instance key',
  },
  host: {
    placeholder: 'address',
    parse: host,
    default: 'localhost',
    lan: '0.0.0.0',
    help: 'Address to listen on: localhost means 127.0.0.1 and ::1, 0.0.0.0 or :: every network of the machine, unix:/path a Unix socket',
  },
  port: {
    placeholder: 'number',
    parse: port,
    default: '5100',
    help: 'Port to listen on; 0 picks a free one',
  },
  baseUrl: {
    placeholder: 'url',
    parse: baseUrl,
    default: null,
    defaultWords: 'the address of the request',
    help: 'Address that all links start with, such as https://once.example; may contain a path; passkeys belong to its host name',
  },
  keyFile: {
    ...file,
    defaultWords: 'instance.key in the data folder',
    file: true,
    help: 'File of the instance key, to store it apart from the data',
  },
  filesUrl: {
    placeholder: 'url',
    parse: bucketUrl,
    default: null,
    defaultWords: 'files in the data folder',
    help:
      'Bucket of an S3-compatible store for the sealed files, such as s3://bucket/prefix?endpoint=https://s3.example; needs ' +
      '--key-file and the access key, which has variables without a flag',
  },
  s3AccessKeyId: {
    ...secretText,
    parse: accessKey,
    fallback: 'AWS_ACCESS_KEY_ID',
    help: 'Access key id for the bucket of --files-url; else AWS_ACCESS_KEY_ID',
  },
  s3SecretAccessKey: {
    ...secretText,
    parse: accessKey,
    fallback: 'AWS_SECRET_ACCESS_KEY',
    help: 'Secret key for the bucket of --files-url; else AWS_SECRET_ACCESS_KEY',
  },
  databaseUrl: {
    placeholder: 'url',
    parse: databaseUrl,
    default: null,
    defaultWords: 'SQLite in the data folder',
    file: true,
    show: showDatabaseUrl,
    help:
      'PostgreSQL server for everything but files, such as postgres://oncebox@db.example/oncebox; TLS is verified unless it says ' +
      'otherwise (?sslmode=, ?sslrootcert=); needs --key-file',
  },
  databasePassword: {
    ...secretText,
    parse: databasePassword,
    help: 'Password of the PostgreSQL user, in place of one in the address',
  },
  databaseConnections: {
    ...numbers('2', '200'),
    default: '8',
    help: 'Most connections of this server to PostgreSQL; those of all nodes together must fit into its max_connections',
  },
})
