// What a push is called for its owner.

import type { Labelled } from '../../pushes/owner-lists.ts'
import type { Words } from '../../words/words.ts'
import { KIND_WORDS } from './parts.tsx'

/** The name; without one the kind, and the end of the link to tell one from another. */
export function nameForOwner({ push, urlToken, name }: Labelled, { say }: Words): string {
  return name || `${say('push_unnamed', { kind: say(KIND_WORDS[push.kind]) })} (…${urlToken.slice(-4)})`
}
