// Runs works in one statement as long as the database takes them together.

import { isDomainError } from '../../../domain/errors.ts'

type Refusable = { reject: (cause: unknown) => void }

/**
 * `run` resolves to the works that go again. When the database refuses the works together, each is run alone, so that one does
 * not fail the others.
 */
export async function runTogether<Work extends Refusable>(
  works: Work[],
  run: (works: Work[]) => Promise<Work[]>,
): Promise<Work[]> {
  if (works.length === 0) return []
  try {
    return await run(works)
  } catch (cause) {
    if (works.length === 1 || isDomainError(cause)) {
      for (const { reject } of works) reject(cause)
      return []
    }
  }
  const again: Work[] = []
  for (const one of works) again.push(...(await runTogether([one], run)))
  return again
}
