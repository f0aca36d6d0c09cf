// Looks for faults of accessibility with axe-core.

import { readFileSync } from 'node:fs'
import type { CDPSession } from 'playwright-core'

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

type Violation = { id: string; nodes: { html: string; failureSummary?: string }[] }

/** Finds all faults, or only those of colours. */
export type FindFaults = (of?: 'all' | 'colours') => Promise<string[]>

/** Returns all violations that axe-core finds in the current page: WCAG 2.2 AA and best practices. */
export async function prepareAxe(client: CDPSession): Promise<FindFaults> {
  // The policy of the pages forbids scripts from elsewhere, but the browser's own tools may run them.
  await client.send('Runtime.evaluate', { expression: AXE })
  return async (of = 'all') => {
    const options = { resultTypes: ['violations'], ...(of === 'all' ? {} : { runOnly: ['color-contrast'] }) }
    const { result } = await client.send('Runtime.evaluate', {
      expression: `axe.run(${JSON.stringify(options)}).then((found) => JSON.stringify(found.violations))`,
      awaitPromise: true,
    })
    const violations: Violation[] = JSON.parse(result.value)
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    )
  }
}
