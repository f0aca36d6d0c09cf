// Cuts the connection to the database exactly at a commit: before it is sent, or before its answer arrives.
// Tries each kind of change at each of its commits.

import type { Node } from '../../test/support/nodes.ts'
import { KINDS, type Kind } from './changes.ts'
import { createClient } from './client.ts'
import type { Scenario, Trial } from './scenario.ts'

const WAYS = ['swallow', 'cut', 'hold'] as const
/** An upper bound on the commits of any change. */
const MOST_COMMITS = 20
/** Matches heartbeats and other statements that run at any time. */
const UPKEEP = /UPDATE instance|FROM nodes|DELETE FROM operations|DELETE FROM spent_points/

export const commits: Scenario = {
  name: 'commits',
  what: 'the connection cut exactly at each commit of each kind of change, before it or before its answer',
  rounds: 1,
  run: async (trial) => {
    const { rounds, office, onStep } = trial
    const faults: string[] = []
    const tried: string[] = []
    const [node] = office.nodes
    if (node === undefined) throw new Error('an office has nodes')
    for (let round = 0; round < rounds; round += 1)
      for (const kind of KINDS) {
        onStep(`round ${round + 1} of ${rounds}: ${kind.name}`)
        const counts = []
        for (const way of WAYS) counts.push(await tryKind({ trial, node, kind, way, faults }))
        tried.push(`${kind.name} ${Math.max(...counts)}`)
      }
    return { tried: `commits of each change, each lost in ${WAYS.length} ways: ${tried.join(', ')}`, faults }
  },
}

type Try = { trial: Trial; node: Node; kind: Kind; way: (typeof WAYS)[number]; faults: string[] }

/** Resolves to the number of commits that were lost, one in each run. */
async function tryKind({ trial: { office }, node, kind, way, faults }: Try): Promise<number> {
  const client = createClient([node], faults)
  for (let at = 0; at < MOST_COMMITS; at += 1) {
    const change = await kind.prepare({ client, office })
    let seen = 0
    node.proxy.decideCommits((statements) => {
      if (statements.some((text) => UPKEEP.test(text))) return null
      seen += 1
      return seen === at + 1 ? way : null
    })
    const answer = await client.askOnce(node, change.path, change.init)
    node.proxy.decideCommits(null)
    const place = `${kind.name}, ${way} at commit ${at + 1}`
    if (answer === null || !(answer.status === change.status || answer.status === 503))
      faults.push(`${place}: answered ${JSON.stringify(answer)}`)
    const fault = await change.check(answer?.status === change.status ? answer.body : null)
    if (fault !== null) faults.push(`${place}: ${fault}`)
    if (seen <= at) return at
  }
  return MOST_COMMITS
}
