// How long a caller may still wait, by the monotonic clock.

export type Deadline = {
  /** Milliseconds, at least 0. */
  left(): number
  isOver(): boolean
}

export function deadlineIn(milliseconds: number): Deadline {
  const end = performance.now() + milliseconds
  const left = () => Math.max(0, end - performance.now())
  return { left, isOver: () => left() === 0 }
}
