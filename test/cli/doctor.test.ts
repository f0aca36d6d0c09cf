// The output of `oncebox doctor`.

import { expect, test } from 'bun:test'
import { createTrial } from './trial.ts'

test('oncebox doctor prints each finding on one line, even if it quotes line breaks', async () => {
  const trial = createTrial()
  const said = 'One serves the database: evil\n ok   everything is fine \x1b[2J.'
  trial.state.findings = [{ part: 'nodes', state: 'problem', said, remedy: 'Stop it.\n→ Or not.' }]
  expect(await trial.run('doctor')).toBe(1)
  expect(trial.out).toEqual([
    'PROBLEM  nodes  One serves the database: evil  ok   everything is fine \u241b[2J.',
    `${' '.repeat(16)}→ Stop it. → Or not.`,
    'Problems: 1. Warnings: 0.',
  ])
})
