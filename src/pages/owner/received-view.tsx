// The owner's page of an answer to a request: when it arrived and was read, its content after one button, and
// passing it on.

import { isUsedUp } from '../../domain/listing.ts'
import { isExpired, type Push } from '../../domain/push.ts'
import { PAGES } from '../../http/urls.ts'
import type { PushDetails } from '../../pushes/pushes.ts'
import type { Words } from '../../words/words.ts'
import type { Member } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { endWordOf } from '../frame/openings.tsx'
import { type StateText, sayWhen } from '../frame/parts.tsx'
import { ButtonForm, PostForm, Submit } from '../frame/post-form.tsx'
import type { SealingScripts } from '../frame/sealing.tsx'
import { RevealedContent, type View } from '../receive/revealed.tsx'

type ArrivalProps = { push: Push; readAt: number | null; words: Words; now: number }

/** Says when an answer arrived, when it was read, or how it ended. */
export function Arrival(props: ArrivalProps) {
  const { tone, icon, text } = describeArrival(props)
  return (
    <span class={`arrival ${tone}`}>
      <Icon name={icon} />
      <span>{text}</span>
    </span>
  )
}

export function describeArrival({ push, readAt, words, now }: ArrivalProps): StateText {
  const seen = { words, now }
  if (isExpired(push, now) && !isUsedUp(push))
    return { tone: 'gone', icon: 'circle-x', text: words.say(endWordOf(push)) }
  if (readAt === null)
    return { tone: 'good', icon: 'inbox', text: sayWhen('state_arrived', push.createdAt, seen) }
  const text = readAt === 0 ? words.say('state_read_before') : sayWhen('state_read', readAt, seen)
  return { tone: 'waiting', icon: 'check', text }
}

/** The opened content of an answer; `sealedText` as in `RevealedProps`. */
export type ReadContent = { view: View; sealedText: string | null; scripts: SealingScripts }

/** The buttons that show the content of an answer, and pass it on. */
export function ReadForm({ guest, owned, isLive }: { guest: Member; owned: PushDetails; isLive: boolean }) {
  const { say } = guest
  if (!isLive) return <p>{say('received_gone')}</p>
  return (
    <div class="actions ways-on">
      <PostForm guest={guest} action={PAGES.readAnswer.href({ url_token: owned.urlToken })}>
        <Submit look="primary large">{say('received_read')}</Submit>
      </PostForm>
      <PassOn guest={guest} owned={owned} />
    </div>
  )
}

type AnswerProps = { guest: Member; owned: PushDetails; content: ReadContent }

/** The content of an answer. */
export function Answer({ guest, owned, content: { view, ...sealing } }: AnswerProps) {
  const isOfFiles = view.files.length > 0
  return (
    <div class="card">
      <RevealedContent guest={guest} retrieval={view} {...sealing} isAnswer />
      {view.push.encryptedBy === null && (
        <div class="assurances unprinted">
          <PassOn guest={guest} owned={owned} />
          <p class="hint">{guest.say(isOfFiles ? 'received_pass_on_files' : 'received_pass_on_hint')}</p>
        </div>
      )}
    </div>
  )
}

/**
 * A button that begins a new secret with this content. Not for an encrypted answer, which nobody else could
 * read.
 */
function PassOn({ guest, owned: { push, urlToken } }: Omit<AnswerProps, 'content'>) {
  if (push.encryptedBy !== null) return null
  const action = PAGES.passOn.href({ url_token: urlToken })
  return <ButtonForm guest={guest} action={action} label={guest.say('received_pass_on')} />
}
