// A gigabyte up to a bucket and down again, through a node: rates, and the memory that it adds.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import { openTestBucket } from '../../test/support/bucket.ts'
import { type BucketServer, KINDS } from '../buckets/servers.ts'
import { addOwners } from './accounts.ts'
import { download, timed, upload, watchMemory } from './gigabyte.ts'
import { residentMebibytes } from './memory.ts'
import { startOncebox } from './servers.ts'
import type { Stage } from './stage.ts'
import { targets } from './targets.ts'

const BUCKET = 'oncebox-bench'

export type Place = {
  name: string
  /** What a node needs to use it. */
  env: Record<string, string>
  end(): Promise<void>
}

type From = { place: Place; env: Record<string, string> }

export async function measureBucket(stage: Stage, { place, env }: From): Promise<void> {
  const { sandbox, binary, cores, report } = stage
  const dataDir = join(sandbox.folder, 'node-files')
  const server = await startOncebox({ sandbox, binary, dataDir, prefix: cores.serverPrefix, env })
  const [token = ''] = await addOwners({ sandbox, binary, dataDir, env }, 1)
  const owner = { url: `http://127.0.0.1:${server.port}/api/v2/pushes`, token }
  const before = residentMebibytes(server.pid) ?? 0
  console.error(`… a gigabyte up to ${place.name} and down`)
  const memory = watchMemory(server.pid)
  const up = await timed(() => upload(owner))
  const down = await timed(() => download(up.result))
  const measured = memory() - before
  await server.stop()
  const remark = `${before.toFixed(0)} MiB before; ${up.rate.toFixed(0)} MiB/s up, ${down.rate.toFixed(0)} down`
  const what = `memory added by 1 GiB through ${place.name}`
  report.judge({ what, measured, unit: 'MiB', limit: targets.bucketMemory, remark })
}

/** A real server of objects where one is installed, else s3rver in this process. */
export async function openPlace(folder: string): Promise<Place> {
  for (const { name, find, start } of KINDS) {
    const program = find()
    if (program === null) continue
    const home = join(folder, name)
    mkdirSync(home)
    const server = await start(program, home)
    await new AwsClient({ ...server, service: 's3' }).fetch(`${server.endpoint}/${BUCKET}`, { method: 'PUT' })
    return { name, env: variablesOf(server, `s3://${BUCKET}/x?endpoint=${server.endpoint}`), end: server.end }
  }
  const bucket = await openTestBucket()
  return { name: 's3rver', env: variablesOf(bucket.credentials, bucket.url), end: bucket.close }
}

function variablesOf(
  { accessKeyId, secretAccessKey }: Pick<BucketServer, 'accessKeyId' | 'secretAccessKey'>,
  url: string,
): Record<string, string> {
  return {
    ONCEBOX_FILES_URL: url,
    ONCEBOX_S3_ACCESS_KEY_ID: accessKeyId,
    ONCEBOX_S3_SECRET_ACCESS_KEY: secretAccessKey,
  }
}
