// Stored pushes. Each operation is one atomic step, durable when its promise resolves.

import { isExpired } from '../../../domain/push.ts'
import type { Times } from '../../../domain/visits.ts'
import type { PlainClaim, PushStore } from '../../face.ts'
import { createExpireSeveral } from './expire-several.ts'
import { createPushCreation } from './push-creation.ts'
import { createPushEditing } from './push-editing.ts'
import type { Found } from './push-fold.ts'
import { createPushReading } from './push-reading.ts'
import { createPushWorks, type PushWorksOptions, type RunWork } from './push-works.ts'
import { claim, expirePush, refusePassphrase, unlockPush } from './visits.ts'

export type Pushes = PushStore & {
  /** Works that wait or are under way. */
  countWaiting(): number
  /** Resolves when none are left. */
  idle(): Promise<void>
}

export function createPushes({ database, ...others }: PushWorksOptions): Pushes {
  const { read, transact } = database
  const works = createPushWorks({ database, ...others })
  const creation = createPushCreation({ database, ...others })
  return {
    createPush: creation.createPush,
    ...createPushReading({ read, ...others }),
    ...visitsBy(works.work),
    ...createPushEditing({ transact, ...others }),
    expirePushes: createExpireSeveral({ transact, ...others }),
    countWaiting: () => works.count() + creation.count(),
    idle: async () => {
      await works.idle()
      await creation.idle()
    },
  }
}

type Visits = Pick<PushStore, 'claimView' | 'claimPlain' | 'refusePassphrase' | 'expirePush' | 'unlockPush'>

/** The visits to one push: each is decided in memory, and written together with others. */
function visitsBy(work: RunWork): Visits {
  return {
    claimView: ({ id, ...asked }) =>
      work({ push: { id }, visit: ({ change }, times) => claim(change, asked, times) }),
    claimPlain: ({ lookup, ...asked }) =>
      work({ push: { lookup }, visit: (found, times) => claimIfPlain(found, asked, times) }),
    refusePassphrase: ({ id, ...asked }) =>
      work({ push: { id }, visit: ({ change }, times) => refusePassphrase(change, asked, times) }),
    expirePush: ({ id, visit }) =>
      work({
        push: { id },
        asksForGrants: true,
        endsPush: true,
        visit: ({ change, isGranted }, times) => expirePush(change, { visit, isGranted }, times),
      }),
    unlockPush: ({ id, visit }) =>
      work({ push: { id }, visit: ({ change }, times) => unlockPush(change, visit, times) }),
  }
}

function claimIfPlain<T>(
  { change, secrets }: Found,
  { open, ...asked }: Omit<PlainClaim<T>, 'lookup'>,
  times: Times,
) {
  const push = change.after
  if (push.passphraseRequired || push.files > 0) return 'not_plain' as const
  const sealed = isExpired(push, times.now) ? null : { secrets: secrets(), files: [] }
  const content = sealed === null ? null : open({ push, sealed })
  return { ...claim(change, asked, times), content }
}
