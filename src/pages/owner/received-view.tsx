// The owner's page of an answer to a request: when it arrived and was read, its content after one button, and
// passing it on.

import { isUsedUp } from '../../domain/listing.ts'
import { isExpired, type Push } from '../../domain/push.ts'
import { PAGES } from '../../http/urls.ts'
import type { PushDetails } from '../../pushes/pushes.ts'
import type { Words } from '../../words/words.ts'
import type { Member } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { SHARED } from '../frame/manifest.ts'
import { endWordOf } from '../frame/openings.tsx'
import { ButtonLink, type StateText, sayWhen } from '../frame/parts.tsx'
import { PostForm, Submit } from '../frame/post-form.tsx'
import { isSealed, RevealedContent, type View } from '../receive/revealed.tsx'

type ArrivalProps = { push: Push; readAt: number | null; words: Words; now: number }

/** When an answer arrived, was read, or how it ended. */
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
export type ReadContent = { view: View; sealedText: string | null }

type ReceivedProps = { guest: Member; owned: PushDetails; isLive: boolean; content: ReadContent | null }

/** The content of an answer, or the button that shows it. */
export function Received({ guest, owned, isLive, content }: ReceivedProps) {
  const { say } = guest
  if (content !== null) return <Content guest={guest} content={content} />
  if (!isLive) return <p>{say('received_gone')}</p>
  return (
    <PostForm guest={guest} action={PAGES.readAnswer.href({ url_token: owned.urlToken })}>
      <Submit look="primary large">{say('received_read')}</Submit>
    </PostForm>
  )
}

function Content({ guest, content: { view, sealedText } }: { guest: Member; content: ReadContent }) {
  return (
    <div class="card">
      <RevealedContent guest={guest} retrieval={view} sealedText={sealedText} isAnswer />
      {!isSealed(view) && <PassOn guest={guest} content={{ view, sealedText }} />}
    </div>
  )
}

/** Begins a new secret of the owner, with the text; browsers cannot fill in files. */
function PassOn({ guest, content: { view, sealedText } }: { guest: Member; content: ReadContent }) {
  const { say, href } = guest
  const { payload, files } = view
  const hint = say(files.length > 0 ? 'received_pass_on_files' : 'received_pass_on_hint')
  return (
    <div class="pass-on unprinted">
      {sealedText === null ? (
        <ButtonLink icon="share-2" to={href(`${PAGES.create.href()}${files.length > 0 ? '?kind=file' : ''}`)}>
          {say('received_pass_on')}
        </ButtonLink>
      ) : (
        <form method="post" action={href(PAGES.share.href())} enctype="multipart/form-data">
          <input type="hidden" name={SHARED.text} value={payload} />
          <button type="submit" class="quiet">
            <Icon name="share-2" />
            <span>{say('received_pass_on')}</span>
          </button>
        </form>
      )}
      <p class="hint">{hint}</p>
    </div>
  )
}
