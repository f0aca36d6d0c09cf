// Wakes those who wait for events, soon after commits of this process told some and are durable.

export type Told = { ring(): void; listen(onTold: () => void): void }

/** A busy server tells hundreds a second: those of this time share one call. */
const GATHER_MS = 20

export function createTold(): Told {
  const listeners: (() => void)[] = []
  let isRung = false

  function call(): void {
    isRung = false
    for (const onTold of listeners) onTold()
  }

  return {
    ring: () => {
      if (!isRung) setTimeout(call, GATHER_MS)
      isRung = true
    },
    listen: (onTold) => void listeners.push(onTold),
  }
}
