// The address names a primary and its synchronous standby. The primary is lost under load, the standby takes over, and the former
// primary comes back while it still takes writes.

import type { Node } from '../../test/support/nodes.ts'
import { createLoad, type Load } from './load.ts'
import { bringBack, changeRoles, firstPair, LOSSES, losePrimary, type Pair, removePair } from './pair.ts'
import { moment, recover, type Scenario, type Trial } from './scenario.ts'

/** Pushes that are looked at after each round. At the end all are. */
const CHECKED = 60
/** It may be full of commits that wait for a standby. */
const REFUSAL = /a failover left this server behind|transactions wait for a synchronous standby/

export const hosts: Scenario = {
  name: 'hosts',
  what: 'of two servers in the address the primary lost under load, its standby promoted, the former primary back with its writes',
  rounds: 8,
  office: { standby: 'synchronous' },
  run: async (trial) => {
    const { office, rounds, draw, onStep } = trial
    const load = createLoad(office, draw)
    let pair = firstPair(office, { isSynchronous: true })
    let longest = 0
    let checked = 0
    for (let round = 0; round < rounds; round += 1) {
      const loss = LOSSES[round % LOSSES.length] ?? 'kill'
      onStep(`${round} of ${rounds} failovers: ${loss}, ${load.client.countRequests()} requests`)
      const stop = load.start()
      await Bun.sleep(moment(draw, 1000))
      await losePrimary(pair, loss)
      const restarted = restart(trial, load)
      await Bun.sleep(draw(1500))
      await pair.standby.cluster.promote()
      longest = Math.max(longest, await recover(trial, load))
      await bringBack(pair, loss)
      await restarted
      await Bun.sleep(moment(draw, 1000))
      await refuseFormer(trial, { pair, load })
      await recover(trial, load)
      await stop()
      checked += await load.check(CHECKED)
      pair = await changeRoles(pair, office)
    }
    checked += await load.check(Number.POSITIVE_INFINITY)
    await removePair(pair)
    const tried = `${rounds} failovers, ${load.client.countRequests()} requests, ${checked} pushes checked`
    const times = `works again after ${Math.round(longest)} ms, longest answer ${Math.round(load.client.longest())} ms`
    return { tried: `${tried}, ${times}`, faults: load.faults }
  },
}

function pick({ office: { nodes }, draw }: Trial): Node {
  const node = nodes[draw(nodes.length)]
  if (node === undefined) throw new Error('an office has nodes')
  return node
}

/** A node that is killed while there is no primary, and starts again. */
async function restart(trial: Trial, load: Load): Promise<void> {
  const node = pick(trial)
  await node.end('SIGKILL')
  const began = performance.now()
  await node.start().catch((cause) => load.faults.push(`${node.name} did not start: ${cause}`))
  trial.onStep(`  ${node.name} started after ${Math.round(performance.now() - began)} ms`)
}

/** A node that was served by the new primary, and now reaches only the former one, does not start there. */
async function refuseFormer(trial: Trial, { pair, load }: { pair: Pair; load: Load }): Promise<void> {
  const node = pick(trial)
  const way = node.proxies[pair.standby.place]
  await node.end('SIGTERM')
  way?.set('reset')
  const refusal = await node.start().then(
    () => 'it started',
    (cause) => String(cause),
  )
  if (!REFUSAL.test(refusal)) load.faults.push(`${node.name} at the former primary: ${refusal}`)
  if (node.server !== null) await node.end('SIGKILL')
  way?.set('pass')
  await node.start().catch((cause) => load.faults.push(`${node.name} did not start: ${cause}`))
}
