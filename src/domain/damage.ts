// Skips damaged items, so that the intact ones can be shown.

import { DamageError } from './errors.ts'

type IntactOptions<Item, Opened> = {
  open: (item: Item) => Opened | Promise<Opened>
  report: (cause: unknown) => void
}

/** Opens each item. Reports those for which `open` throws a DamageError, and leaves them out. */
export async function keepIntact<Item, Opened>(
  items: readonly Item[],
  { open, report }: IntactOptions<Item, Opened>,
): Promise<Opened[]> {
  const intact: Opened[] = []
  for (const item of items) {
    try {
      intact.push(await open(item))
    } catch (cause) {
      if (!(cause instanceof DamageError)) throw cause
      report(cause)
    }
  }
  return intact
}

/** Returns the result of `open`; null when it throws a DamageError. */
export function intactOrNull<T>(open: () => T): T | null {
  try {
    return open()
  } catch (cause) {
    if (cause instanceof DamageError) return null
    throw cause
  }
}
