// The settings of a bucket: what its URL needs, and where the access key is read from.

import { expect, test } from 'bun:test'
import { bucketSettingsOf } from '../../src/settings/bucket.ts'
import { readConfig } from '../../src/settings/fold.ts'

const URL = 's3://boxes/office?endpoint=https://s3.example'
const FLAGS = { 'files-url': [URL], 'key-file': ['/keys/instance.key'] }
const AWS = { AWS_ACCESS_KEY_ID: 'aws-id', AWS_SECRET_ACCESS_KEY: 'aws-secret' }

function read(flags: Record<string, string[]>, env: Record<string, string> = {}) {
  const os = { env, platform: 'linux', home: '/home/ann', cwd: '/' } as const
  const files: Record<string, string> = { '/run/id': 'file-id\n', '/run/secret': 'file-secret\n' }
  return readConfig({ flags, os, readFile: (path) => files[path] ?? '' })
}

function credentialsOf(env: Record<string, string>) {
  const { config } = read(FLAGS, env)
  return config && bucketSettingsOf(config)?.credentials
}

test('the access key is read from variables, else from files, else from the variables of other programs', () => {
  const fromFiles = {
    ...AWS,
    ONCEBOX_S3_ACCESS_KEY_ID_FILE: '/run/id',
    ONCEBOX_S3_SECRET_ACCESS_KEY_FILE: '/run/secret',
  }
  expect(credentialsOf(AWS)).toEqual({ accessKeyId: 'aws-id', secretAccessKey: 'aws-secret' })
  expect(credentialsOf(fromFiles)).toEqual({ accessKeyId: 'file-id', secretAccessKey: 'file-secret' })
  expect(credentialsOf({ ...fromFiles, ONCEBOX_S3_ACCESS_KEY_ID: 'own-id' })).toEqual({
    accessKeyId: 'own-id',
    secretAccessKey: 'file-secret',
  })
})

test('the access key has no flag, because other users could see it', () => {
  const { config } = read({ ...FLAGS, 's3-access-key-id': ['seen'] }, AWS)
  expect(config?.s3AccessKeyId).toBe('aws-id')
})

test.each([
  ['the key file', { 'files-url': [URL] }, AWS, '--files-url needs --key-file'],
  ['the access key', FLAGS, {}, 'ONCEBOX_S3_ACCESS_KEY_ID_FILE'],
  ['a lasting access key', FLAGS, { ...AWS, AWS_ACCESS_KEY_ID: 'ASIA123' }, 'temporary'],
])('a bucket without %s is refused', (_, flags, env, words) => {
  expect(read(flags, env).problems?.join('\n')).toContain(words)
})

test('without a bucket, its other settings are not needed', () => {
  expect(read({}).problems).toBeUndefined()
  const { config } = read({}, AWS)
  expect(config && bucketSettingsOf(config)).toBeNull()
})

test.each([
  ['s3://id:hidden@boxes?region=a', 'must have no credentials'],
  ['s3://boxes?region=a&secret_access_key=hidden', 'must have no options but'],
  ['s3://boxes?region=a&endpoint=https://id:hidden@s3.example', 'must have an endpoint'],
])('a URL with a password in it is refused without being repeated: %s', (url, words) => {
  const told = read({ ...FLAGS, 'files-url': [url] }, AWS).problems?.join('\n')
  expect(told).toContain(words)
  expect(told).not.toContain('hidden@')
  expect(told).not.toContain('=hidden')
})
