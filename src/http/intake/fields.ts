// Reads the members of a request by their table, and collects the problems of each field.

import type { Problem, Problems } from '../../domain/problems.ts'
import type { Member } from './members.ts'

/** The most fields of a form, and characters of the name of one. Those that are read are fewer and shorter. */
export const MAX_FIELDS = 1000
export const MAX_FIELD_NAME = 200

/** An object as a client sent it. */
export type Wire = Record<string, unknown>

export type Table<Values> = { [Name in keyof Values]: Member<Values[Name]> }

export type Fields<Values> = {
  problems: Problems
  blame(name: keyof Values & string, problem: Problem): null
  /** Null for a member that was not given, and for one that has a problem. */
  read<Name extends keyof Values & string>(name: Name): Values[Name] | null
}

export function createFields<Values>(table: Table<Values>, wire: Wire): Fields<Values> {
  const problems: Problems = {}

  function blame(name: string, problem: Problem): null {
    problems[name] = [...(problems[name] ?? []), problem]
    return null
  }

  return {
    problems,
    blame,
    read: (name) => {
      const value = wire[name]
      return isGiven(value) ? table[name].read(value, (problem) => blame(name, problem)) : null
    },
  }
}

/** `""` and `null` mean "not given". */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}
