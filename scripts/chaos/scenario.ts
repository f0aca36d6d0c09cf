// Defines a scenario: something fails under load, and no push may be lost or handed out twice, and no request
// may hang.

import type { Draw } from '../../src/selftest/load.ts'
import type { Office, OfficeOptions } from '../../test/support/nodes.ts'
import { seconds } from './client.ts'
import type { Load } from './load.ts'

export type Outcome = { tried: string; faults: readonly string[] }

export type Trial = {
  office: Office
  rounds: number
  draw: Draw
  /** How long each client pauses after an answer, in milliseconds. */
  pauseMs: number
  /** The longest time in which a node must recover once its dependencies work again, in milliseconds. */
  recoveryMs: number
  /** The path of another build, for upgrades. */
  otherBinary: string
  onStep: (step: string) => void
}

export type Scenario = {
  name: string
  what: string
  /** The default of `--rounds`. */
  rounds: number
  office?: Partial<OfficeOptions>
  run(trial: Trial): Promise<Outcome>
}

/**
 * Waits until every running node creates and retrieves again; resolves to the longest wait in milliseconds.
 */
export async function recover({ office, recoveryMs }: Trial, load: Load): Promise<number> {
  const began = performance.now()
  const waits = office.nodes.map(async (node) => {
    if (node.server === null) return 0
    while (!(await works(node, load))) {
      if (performance.now() - began > 4 * recoveryMs) break
      await Bun.sleep(50)
    }
    const took = performance.now() - began
    if (took > recoveryMs) load.faults.push(`${node.name} took ${seconds(took)} to work again`)
    return took
  })
  return Math.max(...(await Promise.all(waits)))
}

async function works(node: Office['nodes'][number], { client }: Load): Promise<boolean> {
  const created = await client.askOnce(node, '/api/v2/pushes', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"push":{"payload":"does it work?"}}',
  })
  if (created?.status !== 201) return false
  const answer = await client.askOnce(node, `/api/v2/pushes/${created.body.url_token}`, {})
  return answer?.body.payload === 'does it work?'
}

/** Returns a random number of milliseconds from `least` to twice that. */
export const moment = (draw: Draw, least: number) => least + draw(least)
