// Converts the settings of the bucket for files to the options of the store.

import { bucketPlaceOf } from '../domain/bucket-place.ts'
import type { Config } from './table.ts'

type BucketPlaceConfig = Pick<Config, 'filesUrl' | 's3AccessKeyId' | 's3SecretAccessKey'>
export type BucketConfig = BucketPlaceConfig & Pick<Config, 'keyFile'>

/** Returns null when files are in the data folder. */
export function bucketSettingsOf(config: BucketPlaceConfig & Pick<Config, 'maxFileBytes'>) {
  const { filesUrl, s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey, maxFileBytes } = config
  if (filesUrl === null || accessKeyId === null || secretAccessKey === null) return null
  return { place: bucketPlaceOf(filesUrl), credentials: { accessKeyId, secretAccessKey }, maxFileBytes }
}

/** Returns a sentence for each setting that --files-url needs and that is missing. */
export function bucketProblemsIn(config: BucketConfig): string[] {
  const isKeyMissing = config.filesUrl !== null && config.keyFile === null
  return [...(isKeyMissing ? [KEY_IS_MISSING] : []), ...credentialProblemsIn(config)]
}

const KEY_IS_MISSING =
  '--files-url needs --key-file: the key must be kept apart from the data folder and the bucket, and be backed up by itself'

/** Like bucketProblemsIn, but for commands that open the bucket without needing the instance key. */
export function credentialProblemsIn(config: BucketPlaceConfig): string[] {
  const { filesUrl, s3AccessKeyId, s3SecretAccessKey } = config
  if (filesUrl === null) return []
  if (s3AccessKeyId === null || s3SecretAccessKey === null) return [KEYS_ARE_MISSING]
  return s3AccessKeyId.startsWith('ASIA') ? [KEYS_ARE_TEMPORARY] : []
}

const KEYS_ARE_MISSING =
  '--files-url needs the access key of the bucket: ONCEBOX_S3_ACCESS_KEY_ID and ONCEBOX_S3_SECRET_ACCESS_KEY, or files ' +
  'named by ONCEBOX_S3_ACCESS_KEY_ID_FILE and ONCEBOX_S3_SECRET_ACCESS_KEY_FILE'
const KEYS_ARE_TEMPORARY =
  'the access key of the bucket is temporary (it begins with ASIA) and would expire: use one that does not expire'
