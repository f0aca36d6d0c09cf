// The steps at which tests end the process.

/** Called with the name of a durable step, before and after it. */
export type OnStep = (step: string) => void
