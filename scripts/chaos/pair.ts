// A primary and its standby, both of which the nodes' address names, and what may happen to the primary.

import type { Cluster } from '../../test/support/cluster.ts'
import { type FaultProxy, startFaultProxy } from '../../test/support/fault-proxy.ts'
import type { Office } from '../../test/support/nodes.ts'

/** `place`: which of the proxies of each node leads there. */
type Server = { cluster: Cluster; place: number }

export type Pair = {
  primary: Server
  standby: Server
  /** Through which the standby follows. */
  link: FaultProxy
  isSynchronous: boolean
}

/**
 * `freeze` stops all its processes, while its connections stay open. `cut` takes it away from its standby alone: to nodes it
 * answers as before.
 */
export const LOSSES = ['kill', 'immediate', 'freeze', 'cut'] as const
export type Loss = (typeof LOSSES)[number]

export function firstPair({ cluster, standby }: Office, { isSynchronous }: { isSynchronous: boolean }): Pair {
  if (standby === null) throw new Error('the office has no standby')
  const { server, link } = standby
  return {
    primary: { cluster, place: 0 },
    standby: { cluster: server, place: 1 },
    link,
    isSynchronous,
  }
}

export async function losePrimary({ primary: { cluster }, link }: Pair, loss: Loss): Promise<void> {
  if (loss === 'cut') link.set('stall')
  else if (loss === 'freeze') cluster.freeze()
  else await cluster.stop(loss)
}

/** It takes writes again, on the timeline that it had. */
export async function bringBack({ primary: { cluster } }: Pair, loss: Loss): Promise<void> {
  if (loss === 'freeze') cluster.thaw()
  else if (loss !== 'cut') await cluster.start()
}

/** The server that took over is the primary, and the former one is made its standby anew. */
export async function changeRoles(
  { primary: former, standby: primary, link: formerLink, isSynchronous }: Pair,
  { nodes }: Office,
): Promise<Pair> {
  await former.cluster.remove()
  await formerLink.close()
  const link = await startFaultProxy(primary.cluster.port)
  const cluster = await primary.cluster.addStandby({ isSynchronous, through: link.port })
  for (const { proxies } of nodes) proxies[former.place]?.lead(cluster.port)
  return { primary, standby: { cluster, place: former.place }, link, isSynchronous }
}

/** Those that the office has not started itself. */
export async function removePair({ primary, standby, link }: Pair): Promise<void> {
  await standby.cluster.remove()
  await primary.cluster.remove()
  await link.close()
}
