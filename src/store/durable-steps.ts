// Durable steps: the moments before and after each change of the disk, at which tests end the process.

let listener: ((step: string) => void) | null = null

/** Reports a durable step by its name to the listener of a test. */
export function atStep(name: string): void {
  listener?.(name)
}

/** Calls `listen` at each durable step of this process; null ends that. Only for tests. */
export function listenAtSteps(listen: ((step: string) => void) | null): void {
  listener = listen
}
