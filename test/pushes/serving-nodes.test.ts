// The report to administrators about the nodes of a database.

import { expect, test } from 'bun:test'
import { describeNodes } from '../../src/operating/status.ts'

const NOW = 1_000_000
const NODE = {
  name: 'one',
  version: '3.0.0',
  startedAt: 0,
  seenAt: NOW - 3_000,
  isThis: false,
  isAlive: true,
}

test('nodes of one version are no rolling upgrade, and dead nodes are omitted', () => {
  const { nodes, upgrade } = describeNodes(
    [
      { ...NODE, isThis: true },
      { ...NODE, isAlive: false },
    ],
    NOW,
  )
  expect(upgrade).toBeNull()
  expect(nodes).toEqual([
    {
      ...{ name: 'one', version: '3.0.0', startedAt: 0, isThis: true },
      ...{ silence: 3_000, isSilent: false, isOlder: false },
    },
  ])
})

test('a rolling upgrade names the newest version, and marks each older node', () => {
  const versions = ['3.9.0', '3.10.0', '3.9.0']
  const { nodes, upgrade } = describeNodes(
    versions.map((version) => ({ ...NODE, version })),
    NOW,
  )
  expect(upgrade).toEqual({ newest: '3.10.0', older: 2 })
  expect(nodes.map(({ isOlder }) => isOlder)).toEqual([true, false, true])
})

test('a node that missed more than one heartbeat is marked, and one slightly ahead is not', () => {
  const seen = [NOW - 13_000, NOW - 11_000, NOW + 500]
  const { nodes } = describeNodes(
    seen.map((seenAt) => ({ ...NODE, seenAt })),
    NOW,
  )
  expect(nodes.map(({ isSilent, silence }) => [isSilent, silence])).toEqual([
    [true, 13_000],
    [false, 11_000],
    [false, 0],
  ])
})
