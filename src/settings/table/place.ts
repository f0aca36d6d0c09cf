// Where Oncebox keeps its data and listens.

import { accessKey, baseUrl, bucketUrl, host, path, port } from '../parsers.ts'
import { defaultDataDir, type Table } from '../setting.ts'

const group = 'Storage and network'

export const placeSettings = {
  dataDir: {
    flag: 'data-dir',
    group,
    placeholder: 'folder',
    parse: path,
    default: defaultDataDir,
    defaultWords: "the platform's folder for a user's data",
    file: true,
    help: 'Folder of the database, the files and the instance key',
  },
  host: {
    flag: 'host',
    group,
    placeholder: 'address',
    parse: host,
    default: 'localhost',
    lan: '0.0.0.0',
    help: 'Address to listen on: localhost means 127.0.0.1 and ::1, 0.0.0.0 or :: every network of the machine, unix:/path a Unix socket',
  },
  port: {
    flag: 'port',
    group,
    placeholder: 'number',
    parse: port,
    default: '5100',
    help: 'Port to listen on; 0 picks a free one',
  },
  baseUrl: {
    flag: 'base-url',
    group,
    placeholder: 'url',
    parse: baseUrl,
    default: null,
    defaultWords: 'the address of the request',
    help: 'Address that all links start with, such as https://once.example; may contain a path',
  },
  keyFile: {
    flag: 'key-file',
    group,
    placeholder: 'file',
    parse: path,
    default: null,
    defaultWords: 'instance.key in the data folder',
    file: true,
    help: 'File of the instance key, to store it apart from the data',
  },
  filesUrl: {
    flag: 'files-url',
    group,
    placeholder: 'url',
    parse: bucketUrl,
    default: null,
    defaultWords: 'files in the data folder',
    help:
      'Bucket of an S3-compatible store for the sealed files, such as s3://bucket/prefix?endpoint=https://s3.example; needs ' +
      '--key-file and the access key, which has variables without a flag',
  },
  s3AccessKeyId: {
    flag: 's3-access-key-id',
    group,
    placeholder: 'text',
    parse: accessKey,
    default: null,
    fallback: 'AWS_ACCESS_KEY_ID',
    file: true,
    secret: true,
    variableOnly: true,
    help: 'Access key id for the bucket of --files-url; else AWS_ACCESS_KEY_ID',
  },
  s3SecretAccessKey: {
    flag: 's3-secret-access-key',
    group,
    placeholder: 'text',
    parse: accessKey,
    default: null,
    fallback: 'AWS_SECRET_ACCESS_KEY',
    file: true,
    secret: true,
    variableOnly: true,
    help: 'Secret key for the bucket of --files-url; else AWS_SECRET_ACCESS_KEY',
  },
} satisfies Table
