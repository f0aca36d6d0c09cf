// The owner's page of a request: its state, its link, and closing it. Answers appear in the list of pushes.

import { PAGES, requestLink } from '../../http/urls.ts'
import { fingerprintOfRecipient } from '../../requests/recipient.ts'
import type { OwnRequest } from '../../requests/requests.ts'
import type { Words } from '../../words/words.ts'
import { ExpireForm } from '../frame/expire-form.tsx'
import type { Member } from '../frame/guest.ts'
import { Facts } from '../frame/lists.tsx'
import { LocalhostNotice } from '../frame/localhost-notice.tsx'
import { Chip, CopyButton, Flag, fillIn, LinkBox, Moment, Notice } from '../frame/parts.tsx'
import { QrCode } from '../frame/qr.tsx'

type Props = { guest: Member; own: OwnRequest }

export function RequestView({ guest, own }: Props) {
  const { say } = guest
  const title = nameOfRequest(own, guest.words)
  return (
    <>
      <p>
        <a href={guest.href(PAGES.requests.href())}>{say('requests_back')}</a>
      </p>
      <h1>
        <bdi>{title}</bdi> <RequestState own={own} words={guest.words} />
      </h1>
      {own.message !== '' && own.message !== title && (
        <p class="note">
          <bdi>{own.message}</bdi>
        </p>
      )}
      {own.isOver && !isAnswered(own) && <Notice kind="plain">{say('request_is_over')}</Notice>}
      {own.request.answers > 0 && (
        <p class="actions">
          <a class="button primary" href={guest.href(PAGES.pushes.href())}>
            {say('request_arrived')}
          </a>
        </p>
      )}
      {!own.isOver && <Link guest={guest} own={own} />}
      <About guest={guest} own={own} />
      {!own.isOver && <ExpireForm guest={guest} urlToken={own.urlToken} ends="request" />}
    </>
  )
}

function Link({ guest, own: { urlToken, request } }: Props) {
  const { words } = guest
  const link = requestLink(urlToken, guest.exchange.baseUrl)
  const until = <Moment at={request.expiresAt} words={words} />
  return (
    <>
      <LocalhostNotice guest={guest} path={guest.path} />
      <div class="handover">
        <div>
          <LinkBox id="link" label={words.say('request_link')} text={link}>
            <div class="ways unprinted">
              <CopyButton
                target="link"
                words={words}
                label={words.say('created_copy')}
                look="primary large"
              />
            </div>
          </LinkBox>
          <p class="lead">{fillIn(words.say('request_give'), 'until', until)}</p>
        </div>
        <QrCode text={link} label={words.say('created_qr')} />
      </div>
    </>
  )
}

function About({ guest: { words }, own }: Props) {
  const { say } = words
  const { request, passphraseRequired } = own
  const { acceptsText, acceptsFiles, recipient } = request
  const kind = !acceptsFiles ? 'kind_text' : acceptsText ? 'ask_accepts_both' : 'kind_file'
  return (
    <section class="card" aria-label={say('pushes_state')}>
      <Facts
        of={[
          [say('request_answers'), countAnswers(own, words)],
          [say('ask_accepts'), say(kind)],
          [say('fact_created'), <Moment at={request.createdAt} words={words} />],
          passphraseRequired && [say('fact_asks'), say('fact_passphrase')],
          recipient !== null && [
            say('key_title'),
            [say('key_only'), ' ', <Flag>{fingerprintOfRecipient(recipient)}</Flag>],
          ],
        ]}
      />
      {recipient !== null && <p class="hint">{say('key_warning')}</p>}
    </section>
  )
}

/** Returns the name; else the first line of the message; else a text with the end of the link. */
export function nameOfRequest({ name, message, urlToken }: OwnRequest, { say }: Words): string {
  if (name !== '') return name
  const [line = ''] = message.trim().split(/\r?\n/)
  if (line === '') return `${say('request_unnamed')} (…${urlToken.slice(-4)})`
  return line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE)}…` : line
}

const MAX_TITLE = 80

export function countAnswers({ request }: OwnRequest, words: Words): string {
  return words.say('request_count', { answers: request.answers, n: request.maxAnswers })
}

/** Whether the request has all the answers that it accepts. */
function isAnswered({ request }: OwnRequest): boolean {
  return request.answers >= request.maxAnswers
}

export function RequestState({ own, words: { say } }: { own: OwnRequest; words: Words }) {
  if (isAnswered(own)) return <Chip tone="good">{say('request_answered')}</Chip>
  if (own.isOver) return <Chip tone="gone">{say('request_over')}</Chip>
  return <Chip tone="waiting">{say('request_open')}</Chip>
}
