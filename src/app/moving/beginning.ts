// Whether a move begins, or goes on where an earlier try stopped.

import { randomBase32 } from '../../crypto/random.ts'
import { DomainError } from '../../domain/errors.ts'
import { type SourceEnd, sourceInUse } from '../../store/moving/ends.ts'
import type { MovedAway, MoveState } from '../../store/moving-face.ts'
import type { MoveWish } from './wish.ts'

const ID_CHARACTERS = 26

/** `found`: as it was given. `anew`: not the continuation of an earlier try. */
export type Begun = { found: MoveState | null; state: MoveState; anew: boolean }

/** `found`: what an earlier try has left in the target, if there was one. */
export type Beginning = {
  found: MoveState | null
  source: SourceEnd
  /** Null, or the mark of a source that was left: its move keeps its name. */
  away: MovedAway | null
  /** The name of the target. */
  target: string
  mode: MoveWish['mode']
}

/** Goes on with an earlier try, unless the source was used since: then everything is copied anew. */
export function begin({ found, source, away, target, mode }: Beginning): Begun {
  if (found !== null && found.source !== source.name)
    throw new DomainError(
      'conflict',
      `${target} is the end of another move, from ${found.source}. Go on with that one, or name another place with --to.`,
    )
  const isSame = found?.sourceMark === source.mark && (away === null || found.id === away.id)
  if (mode === 'confirm') {
    if (found === null || (isSame && found.state === 'copying'))
      throw new DomainError(
        'conflict',
        `There is no finished copy in ${target} to confirm: run the move without --confirm.`,
      )
    if (!isSame) throw new DomainError('conflict', sourceInUse(source.name))
  }
  if (isSame) return { found, state: found, anew: false }
  const id = away?.id ?? randomBase32(ID_CHARACTERS)
  const state: MoveState = { id, state: 'copying', source: source.name, sourceMark: source.mark }
  return { found, state, anew: true }
}
