// Sends many readers at once, over all nodes, to pushes of one view.

import { createClient } from './client.ts'
import type { Scenario } from './scenario.ts'

const READERS = 64

export const readers: Scenario = {
  name: 'readers',
  what: `${READERS} readers of a secret of one view, over all nodes: exactly one payload each round`,
  rounds: 1000,
  run: async ({ office, rounds, onStep }) => {
    const faults: string[] = []
    const client = createClient(office.nodes, faults)
    for (let round = 0; round < rounds; round += 1) {
      if (round % 50 === 0) onStep(`${round} of ${rounds} rounds`)
      const payload = `round ${round}`
      const { body } = await client.create({ payload, expire_after_views: 1 })
      const answers = await Promise.all(
        Array.from({ length: READERS }, (_, n) => {
          const node = office.nodes[n % office.nodes.length] as (typeof office.nodes)[number]
          return client.askOnce(node, `/api/v2/pushes/${body.url_token}`, {})
        }),
      )
      const payloads = answers.filter((answer) => answer?.body.payload === payload).length
      if (payloads !== 1) faults.push(`round ${round}: ${payloads} payloads`)
      const others = answers.find((answer) => answer?.status !== 200)
      if (others !== undefined) faults.push(`round ${round}: answered ${JSON.stringify(others)}`)
    }
    return { tried: `${rounds} rounds, ${client.countRequests()} requests`, faults }
  },
}
