// Tests the compiled binary with a bucket of a real object store: doctor, a gigabyte, ranges, kill -9 and
// deletion.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import { newKeyFile } from '../../src/crypto/keyring.ts'
import { runBinary, type Started, startBinary } from '../../test/support/binary.ts'
import { download, SIZE, timed, upload, watchMemory } from '../bench/gigabyte.ts'
import type { BucketServer } from './servers.ts'

const BUCKET = 'oncebox-trial'
const MIB = 1024 * 1024
/** How long removing objects may take, with retries. */
const GONE_MS = 900_000
const ACCOUNT = 'ann@example.org'

export type Result = { what: string; found: string; isRight: boolean }

/** Yields each result as soon as it is known. */
export async function* tryBucket(server: BucketServer, folder: string): AsyncGenerator<Result> {
  const client = new AwsClient({ ...server, service: 's3' })
  const made = await client.fetch(`${server.endpoint}/${BUCKET}`, { method: 'PUT' })
  if (!made.ok) throw new Error(`the bucket cannot be made: ${made.status} ${await made.text()}`)
  mkdirSync(folder, { recursive: true })
  const place = placeOf(server, folder)
  const first = await startBinary(place)
  yield await examine(place)
  const owner = await addOwner(first, place.env)
  const carried = await carry(first, owner)
  yield* carried.results
  yield await killWhileUploading(first, owner)
  const second = await startBinary(place)
  yield await downloadAgain(second, carried.link)
  yield await removeAll({ server: second, owner, listed: () => countKeys(client, server.endpoint) })
  await second.end()
}

type Place = { dataDir: string; env: Record<string, string> }

function placeOf({ endpoint, region, accessKeyId, secretAccessKey }: BucketServer, folder: string): Place {
  const keyFile = join(folder, 'instance.key')
  writeFileSync(keyFile, newKeyFile())
  chmodSync(keyFile, 0o600)
  const env = {
    ONCEBOX_KEY_FILE: keyFile,
    ONCEBOX_FILES_URL: `s3://${BUCKET}/some/prefix?endpoint=${endpoint}&region=${region}`,
    ONCEBOX_S3_ACCESS_KEY_ID: accessKeyId,
    ONCEBOX_S3_SECRET_ACCESS_KEY: secretAccessKey,
  }
  return { dataDir: join(folder, 'data'), env }
}

async function examine({ dataDir, env }: Place): Promise<Result> {
  const { stdout } = await runBinary(['doctor', '--json', '--data-dir', dataDir], { env })
  const { findings }: { findings: { part: string; state: string; said: string }[] } = JSON.parse(stdout)
  const files = findings.find(({ part }) => part === 'files')
  return { what: 'oncebox doctor', found: files?.said ?? 'nothing', isRight: files?.state === 'ok' }
}

type Owner = { url: string; token: string }

async function addOwner({ url, dataDir }: Started, env: Place['env']): Promise<Owner> {
  const run = (words: string[], input = '') => runBinary([...words, '--data-dir', dataDir], { input, env })
  await run(['user', 'add', ACCOUNT, '--password-stdin'], 'correct horse battery\n')
  const { stdout } = await run(['token', 'create', ACCOUNT])
  return { url: `${url}/api/v2/pushes`, token: stdout.trim() }
}

async function carry({ pid }: Started, owner: Owner): Promise<{ results: Result[]; link: string }> {
  const memory = watchMemory(pid)
  const up = await timed(() => upload(owner))
  const down = await timed(() => download(up.result))
  const most = memory()
  const part = await fetch(up.result, { headers: { range: `bytes=${SIZE - 3 * MIB}-${SIZE - 1}` } })
  const bytes = (await part.arrayBuffer()).byteLength
  const rates = `${up.rate.toFixed(0)} MiB/s up, ${down.rate.toFixed(0)} MiB/s down`
  return {
    link: up.result,
    results: [
      {
        what: 'a gigabyte up and down',
        found: `${rates}, at most ${most.toFixed(0)} MiB of memory`,
        isRight: true,
      },
      {
        what: 'a range of it',
        found: `${part.status}, ${bytes} bytes`,
        isRight: part.status === 206 && bytes === 3 * MIB,
      },
    ],
  }
}

async function killWhileUploading(server: Started, owner: Owner): Promise<Result> {
  const uploading = upload(owner).then(
    () => 'it was too quick',
    () => 'the upload was broken off',
  )
  await Bun.sleep(1000)
  await server.end('SIGKILL')
  const found = await uploading
  return { what: 'kill -9 during an upload', found, isRight: found === 'the upload was broken off' }
}

async function downloadAgain({ url }: Started, link: string): Promise<Result> {
  await download(`${url}${new URL(link).pathname}`)
  return { what: 'the gigabyte after the next start', found: 'whole', isRight: true }
}

type Removal = { server: Started; owner: Owner; listed: () => Promise<number> }

/** Deletes every push, and waits until the bucket is as empty as before. */
async function removeAll({ server, owner, listed }: Removal): Promise<Result> {
  const headers = { authorization: `Bearer ${owner.token}` }
  const pushes: { url_token: string }[] = await (
    await server.ask('/api/v2/pushes/active', { headers })
  ).json()
  for (const { url_token } of pushes) await server.retrieve(url_token, { method: 'DELETE', headers })
  const began = performance.now()
  let left = await listed()
  while (left > 0) {
    if (performance.now() - began > GONE_MS) break
    await Bun.sleep(500)
    left = await listed()
  }
  const took = ((performance.now() - began) / 1000).toFixed(1)
  const found = `${left} objects left after ${took} s`
  return { what: 'nothing is left behind', found, isRight: left === 0 }
}

async function countKeys(client: AwsClient, endpoint: string): Promise<number> {
  const listing = await (await client.fetch(`${endpoint}/${BUCKET}?list-type=2`)).text()
  return listing.split('<Contents>').length - 1
}
