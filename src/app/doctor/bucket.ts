// What the doctor says of the bucket that holds the files.

import { type BucketConfig, bucketSettingsOf } from '../../settings/bucket.ts'
import { type ProbeStep, probeBucket } from '../../store/s3/probe.ts'
import { type Finding, fine, problem, warning } from './finding.ts'

/** Writes a small object, reads and lists it, begins and aborts an upload, and deletes the object. */
export async function examineBucket(config: BucketConfig): Promise<Finding[]> {
  const settings = bucketSettingsOf(config)
  if (settings === null) return []
  const { name, failures, listsUploads, isVersioned } = await probeBucket(settings)
  const problems = failures.map(({ step, words, isRefusal }) =>
    problem(
      'files',
      `In the bucket ${name}, ${TRIED[step]} failed: ${words}.`,
      isRefusal ? REMEDIES[step] : STORE,
    ),
  )
  if (problems.length > 0) return problems
  const works = fine('files', `The bucket ${name} takes, gives back, lists and deletes objects.`)
  return [
    works,
    ...(listsUploads ? [] : [warning('files', LEFTOVERS, LIFECYCLE)]),
    ...(isVersioned ? [warning('files', KEPT, UNVERSIONED)] : []),
  ]
}

const TRIED: Record<ProbeStep, string> = {
  write: 'writing an object',
  read: 'reading a part of an object',
  list: 'listing objects',
  upload: 'beginning and aborting an upload in parts',
  delete: 'deleting an object',
}

const STORE =
  'See that the store runs, has room, and is the one that --files-url names (endpoint=), and try again.'
const RIGHTS = 'Correct --files-url and the access key, and see that the key may'
const REMEDIES: Record<ProbeStep, string> = {
  write: `${RIGHTS} write objects (s3:PutObject).`,
  read: `${RIGHTS} read objects (s3:GetObject).`,
  list: `${RIGHTS} list the bucket (s3:ListBucket).`,
  upload: `${RIGHTS} abort and list uploads (s3:AbortMultipartUpload, s3:ListBucketMultipartUploads).`,
  delete: `${RIGHTS} delete objects (s3:DeleteObject); a small object named probe-… stays behind.`,
}

const LEFTOVERS =
  'The store does not list unfinished uploads: parts that a killed server leaves are not found.'
const LIFECYCLE = 'Give the bucket a rule that removes unfinished uploads after a day.'

const KEPT = 'The bucket keeps versions, so the sealed files of pushes that ended stay in it.'
const UNVERSIONED =
  'Take a bucket without versioning and object lock; where that cannot be, give it a rule that removes noncurrent versions after a day.'
