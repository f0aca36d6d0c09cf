// Tells the owner of a push that a restore of the server expired it, and leads to sharing it again.

import type { Labelled } from '../../../services/pushes/owner-lists.ts'
import { PAGES } from '../../urls.ts'
import type { Member } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { Notice } from '../frame/parts.tsx'

export function Lost({ guest, listed: { push, urlToken } }: { guest: Member; listed: Labelled }) {
  const { words, href } = guest
  return push.lost ? (
    <Notice kind="plain">
      <p>{words.say('push_lost')}</p>
      <p>
        <a class="button quiet" href={href(`${PAGES.create.href()}?like=${urlToken}`)}>
          <Icon name="copy-plus" />
          <span>{words.say('push_again')}</span>
        </a>
      </p>
    </Notice>
  ) : null
}
