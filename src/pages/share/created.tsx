// The page of a new push: its link to hand over, and when it expires. Opening this page is never a view.

import type { MessageTemplates } from '../../accounts/preferences.ts'
import { isExpired, isOwner, mayExpire, type Push, viewsRemaining } from '../../domain/push.ts'
import { MINUTE, type Now } from '../../domain/time.ts'
import { PAGES, secretHref, secretLink } from '../../http/urls.ts'
import type { Addressed } from '../../pushes/owner-lists.ts'
import type { PageNonces } from '../../pushes/page-nonces.ts'
import type { Pushes } from '../../pushes/pushes.ts'
import type { Words } from '../../words/words.ts'
import type { Guest } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import { LocalhostNotice } from '../frame/localhost-notice.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { ButtonLink, EmblemCard, fillIn, LinkBox, Moment } from '../frame/parts.tsx'
import { fitsQr, QrCode } from '../frame/qr.tsx'
import { ExpireForm } from '../receive/expire-form.tsx'
import { ReceiveForm } from '../receive/receive-form.tsx'
import { lifetimeText } from './create/expiry-chips.ts'
import { Message, Ways } from './handover.tsx'
import { messageFor } from './message.ts'

export type CreatedPageOptions = {
  answer: AnswerGuest
  pushes: Pick<Pushes, 'preview'>
  messages: Pick<MessageTemplates, 'find'>
  nonces: PageNonces
  now: Now
}

export function createCreatedPage({ answer, pushes, messages, nonces, now }: CreatedPageOptions) {
  return async (guest: Guest, { url_token = '' }: Partial<Record<string, string>>): Promise<Response> => {
    const addressed = await pushes.preview(url_token, guest.viewer)
    const { say } = guest.words
    const link = secretLink(addressed, guest.exchange.baseUrl)
    const isOver = isExpired(addressed.push, now())
    const title = say(isOver ? 'gone_title' : 'created_title')
    const content = isOver ? (
      <EmblemCard icon="hourglass" tone="gone" title={title}>
        <p>{say('created_expired')}</p>
        <Another guest={guest} />
      </EmblemCard>
    ) : (
      <>
        <h1>{title}</h1>
        <LocalhostNotice guest={guest} path={guest.path} />
        <Live guest={guest} {...addressed} link={link} template={await messages.find(guest.viewer.account)} />
        {mayExpire(addressed.push, guest.viewer.account) && (
          <ExpireForm
            guest={guest}
            urlToken={url_token}
            nonce={nonces.issue(`expire/${url_token}`)}
            isOwner={isOwner(addressed.push, guest.viewer.account)}
            ends="push"
          />
        )}
        <Another guest={guest} />
      </>
    )
    const width = isOver ? 'narrow' : 'medium'
    return answer(content, { guest, title, width, script: 'handover' })
  }
}

function Another({ guest }: { guest: Guest }) {
  return (
    <p class="unprinted">
      <ButtonLink icon="plus" to={guest.href(PAGES.create.href())}>
        {guest.words.say('created_another')}
      </ButtonLink>
    </p>
  )
}

type LiveProps = Addressed & { guest: Guest; link: string; template: string | null }

function Live({ guest, push, urlToken, link, template }: LiveProps) {
  const { words } = guest
  const { say } = words
  const message = messageFor({ template, push, link, words })
  return (
    <>
      <div class="handover">
        <div>
          <LinkBox id="link" label={say('created_link')} text={link}>
            <Ways guest={guest} message={message} />
          </LinkBox>
          <p class="lead">{until(push, words)}</p>
          {push.passphraseRequired && <p>{say('created_passphrase')}</p>}
        </div>
        {fitsQr(link) && <QrCode text={link} label={say('created_qr')} />}
      </div>
      <Message guest={guest} message={message} />
      <details class="unprinted">
        <summary>{say('created_preview')}</summary>
        <div class="replica" inert>
          <ReceiveForm guest={guest} push={push} urlToken={urlToken} nonce="" idPrefix="replica-" />
        </div>
        <p>
          <a href={guest.href(secretHref({ push, urlToken }))}>{say('created_open')}</a>
        </p>
      </details>
    </>
  )
}

/** "5 views or 7 days, whichever comes first, until 27 November 2026, 14:05". */
function until(push: Push, words: Words): Children {
  const { createdAt, expiresAt } = push
  const views = words.say('views', { n: viewsRemaining(push) })
  const lifetime = lifetimeText(Math.round((expiresAt - createdAt) / MINUTE) * MINUTE, words)
  const text = words.say('created_until', { views, lifetime })
  return fillIn(text, 'until', <Moment at={expiresAt} words={words} />)
}
