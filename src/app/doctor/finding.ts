// A finding of the doctor about one part of the installation.

export type Finding = {
  /** The part that was checked, in a word. */
  part: string
  /** A warning needs attention; with a problem the server does not start, refuses work, or is not safe. */
  state: 'ok' | 'warning' | 'problem'
  said: string
  /** What to do; null when nothing has to be done. */
  remedy: string | null
}

export function fine(part: string, said: string): Finding {
  return { part, state: 'ok', said, remedy: null }
}

export function warning(part: string, said: string, remedy: string): Finding {
  return { part, state: 'warning', said, remedy }
}

export function problem(part: string, said: string, remedy: string): Finding {
  return { part, state: 'problem', said, remedy }
}
