// The server of the bucket is slow, fails, or is full.

import type { Fault, Seen } from '../../test/support/bucket.ts'
import { createClient } from './client.ts'
import { createLoad } from './load.ts'
import { moment, recover, type Scenario, type Trial } from './scenario.ts'

const FULL = { status: 507, code: 'InsufficientStorage' } as const
const BROKEN = { status: 503, code: 'ServiceUnavailable' } as const
/** How long nodes may take to notice that the server of the bucket works again. */
const NOTICE_MS = 40_000

export const bucket: Scenario = {
  name: 'bucket',
  what: 'the server of the bucket failing at random: it resets, swallows answers, or refuses',
  rounds: 3,
  run: async (trial) => {
    const { office, rounds, draw, onStep } = trial
    const load = createLoad(trial)
    for (let round = 0; round < rounds; round += 1) {
      for (const fault of ['reset', 'swallow', BROKEN] as const) {
        onStep(`round ${round + 1} of ${rounds}, ${load.client.countRequests()} requests`)
        office.bucket.failWith(() => (draw(4) === 0 ? fault : null))
        const stop = load.start()
        await Bun.sleep(moment(draw, 1500))
        office.bucket.failWith(() => null)
        await stop()
        await takesFiles(trial, load.faults)
        await load.check(100)
      }
    }
    const checked = await load.check(Number.POSITIVE_INFINITY)
    const tried = `${rounds} rounds, ${load.client.countRequests()} requests, ${checked} pushes checked`
    return { tried: `${tried}, longest answer ${Math.round(load.client.longest())} ms`, faults: load.faults }
  },
}

export const silentBucket: Scenario = {
  name: 'silent-bucket',
  what: 'the server of the bucket stalling, refusing everything, and full: only files are refused',
  rounds: 3,
  run: async (trial) => {
    const { rounds, onStep } = trial
    const load = createLoad(trial)
    for (let round = 0; round < rounds; round += 1) {
      for (const fault of ['stall', BROKEN, FULL] as const) {
        onStep(`round ${round + 1} of ${rounds}: ${JSON.stringify(fault)}`)
        await refuseOnlyFiles(trial, { fault, faults: load.faults })
        await recover(trial, load)
      }
    }
    return { tried: `${rounds} rounds, ${load.client.countRequests()} requests`, faults: load.faults }
  },
}

type Failing = { fault: Fault; faults: string[] }

/** Checks that during the outage pushes with files are refused quickly, and that other pushes work. */
async function refuseOnlyFiles(trial: Trial, { fault, faults }: Failing): Promise<void> {
  const { office } = trial
  const isWrite = ({ method }: Seen) => method === 'PUT' || method === 'POST'
  office.bucket.failWith((seen) => (fault !== FULL || isWrite(seen) ? fault : null))
  const client = createClient(office.nodes, faults)
  for (const node of office.nodes) {
    const expected = fault === FULL ? 507 : 503
    const answer = await client.askOnce(node, '/api/v2/pushes', upload(office.auth))
    if (answer?.status !== expected) faults.push(`${node.name} answered an upload ${JSON.stringify(answer)}`)
    const text = await client.askOnce(node, '/api/v2/pushes', post({ payload: 'text' }, {}))
    if (text?.status !== 201) faults.push(`${node.name} answered a text ${JSON.stringify(text)}`)
  }
  office.bucket.failWith(() => null)
  await takesFiles(trial, faults)
}

async function takesFiles({ office }: Trial, faults: string[]): Promise<void> {
  const client = createClient(office.nodes, faults)
  const began = performance.now()
  for (const node of office.nodes) {
    while ((await client.askOnce(node, '/api/v2/pushes', upload(office.auth)))?.status !== 201) {
      if (performance.now() - began > NOTICE_MS) {
        faults.push(`${node.name} takes no files, though the server of the bucket works again`)
        return
      }
      await Bun.sleep(200)
    }
  }
}

const upload = (auth: Record<string, string>) =>
  post({ payload: 'with a file', files: [{ filename: 'a.bin', data: btoa('a'.repeat(1000)) }] }, auth)

function post(push: Record<string, unknown>, headers: Record<string, string>): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ push }),
  }
}
