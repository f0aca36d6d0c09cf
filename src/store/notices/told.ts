// Wakes those who wait for events: commits of this process that told one ring, once they are durable.

export type Told = { ring(): void; listen(onTold: () => void): void }

export function createTold(): Told {
  const listeners: (() => void)[] = []
  return {
    ring: () => {
      for (const onTold of listeners) onTold()
    },
    listen: (onTold) => void listeners.push(onTold),
  }
}
