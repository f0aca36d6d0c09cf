// The notice that a new form has the settings of another push, without its content and passphrase.

import type { Labelled } from '../../../../services/pushes/owner-lists.ts'
import type { Guest } from '../../frame/guest.ts'
import { Notice } from '../../frame/parts.tsx'
import { nameForOwner } from '../../frame/push-name.ts'

export function LikeAnother({ guest: { words }, pushed }: { guest: Guest; pushed: Labelled }) {
  return (
    <Notice kind="plain">
      <p>{words.say('push_again_lead', { name: nameForOwner(pushed, words) })}</p>
      {pushed.push.passphraseRequired ? <p>{words.say('push_again_passphrase')}</p> : null}
    </Notice>
  )
}
