// Whether a move begins, or goes on where an earlier try stopped.

import { randomBase32 } from '../../crypto/random.ts'
import { DomainError } from '../../domain/errors.ts'
import { type SourceEnd, sourceInUse } from '../../store/moving/ends.ts'
import type { MoveState } from '../../store/moving-face.ts'
import type { MoveWish } from './wish.ts'

const ID_CHARACTERS = 26

/** `anew`: not the continuation of an earlier try. */
export type Begun = { state: MoveState; anew: boolean }

/** `found`: what an earlier try has left in the target, if there was one. */
export type Beginning = {
  found: MoveState | null
  source: SourceEnd
  /** The name of the target. */
  target: string
  mode: MoveWish['mode']
}

/** Goes on with an earlier try, unless the source was used since: then everything is copied anew. */
export function begin({ found, source, target, mode }: Beginning): Begun {
  if (found !== null && found.source !== source.name)
    throw new DomainError(
      'conflict',
      `${target} is the end of another move, from ${found.source}. Go on with that one, or name another place with --to.`,
    )
  const isSame = found !== null && found.sourceMark === source.mark
  if (mode === 'confirm') {
    if (found === null || (isSame && found.state === 'copying'))
      throw new DomainError(
        'conflict',
        `There is no finished copy in ${target} to confirm: run the move without --confirm.`,
      )
    if (!isSame) throw new DomainError('conflict', sourceInUse(source.name))
  }
  if (isSame) return { state: found, anew: false }
  const id = randomBase32(ID_CHARACTERS)
  return { state: { id, state: 'copying', source: source.name, sourceMark: source.mark }, anew: true }
}
