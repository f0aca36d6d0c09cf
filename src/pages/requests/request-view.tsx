// The owner's page of a request: its link to hand over, what has arrived, and closing it.

import { titleOfRequest } from '../../domain/requests.ts'
import { PAGES, requestLink } from '../../http/urls.ts'
import type { OverviewPush } from '../../pushes/owner-lists.ts'
import { fingerprintOfRecipient } from '../../requests/recipient.ts'
import type { OwnRequest } from '../../requests/requests.ts'
import type { Words } from '../../words/words.ts'
import { ExpireForm } from '../frame/expire-form.tsx'
import type { Member } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { Facts } from '../frame/lists.tsx'
import { LocalhostNotice } from '../frame/localhost-notice.tsx'
import { Dots, TimeLeft } from '../frame/openings.tsx'
import { ButtonLink, Flag, fillIn, LinkBox, Moment, Notice, sayWhen } from '../frame/parts.tsx'
import { ButtonForm } from '../frame/post-form.tsx'
import { QrCode } from '../frame/qr.tsx'
import { OwnKey, type SealingScripts } from '../frame/sealing.tsx'
import { Arrival } from '../owner/received-view.tsx'
import { Message, Ways } from '../share/handover.tsx'
import { requestMessage } from '../share/message.ts'

type Props = {
  guest: Member
  own: OwnRequest
  /** The answers that have arrived and are not purged yet, newest first. */
  answers: readonly OverviewPush[]
  now: number
  scripts: SealingScripts
  /** The account's own message for requests. */
  template: string | null
}

export function RequestView(props: Props) {
  const { guest, own, scripts } = props
  const { say } = guest
  const title = nameOfRequest(own, guest.words)
  const isReady = !own.isOver && own.request.answers === 0
  return (
    <>
      <p>
        <a href={guest.href(PAGES.requests.href())}>{say('requests_back')}</a>
      </p>
      {isReady && (
        <p class="emblem good">
          <Icon name="check" />
        </p>
      )}
      <h1>{isReady ? say('request_ready') : <bdi>{title}</bdi>}</h1>
      {isReady && own.name !== '' && (
        <p class="hint">
          <bdi>{title}</bdi>
        </p>
      )}
      <Asked own={own} isTitled={!isReady && own.name === ''} />
      {own.isOver && !isAnswered(own) && <Notice kind="plain">{say('request_is_over')}</Notice>}
      <Arrived {...props} />
      {!own.isOver && <Link {...props} />}
      {!own.isOver && own.request.recipient !== null && (
        <OwnKey
          {...{ scripts, words: guest.words, recipient: own.request.recipient }}
          label={say('request_mark')}
        />
      )}
      <About guest={guest} own={own} />
      {!own.isOver && <ExpireForm guest={guest} urlToken={own.urlToken} ends="request" />}
      <p class="unprinted">
        <ButtonLink icon="plus" to={guest.href(PAGES.requests.href())}>
          {say('request_another')}
        </ButtonLink>
      </p>
    </>
  )
}

/** The message. Leaves out its first line where that is the title. */
function Asked({ own: { message }, isTitled }: { own: OwnRequest; isTitled: boolean }) {
  const text = isTitled ? message.trim().replace(/^.*\s*/, '') : message
  return (
    text !== '' && (
      <p class="note">
        <bdi>{text}</bdi>
      </p>
    )
  )
}

/** Lists the answers that have arrived. A script asks again until the request is over. */
function Arrived({ guest, own, answers, now }: Props) {
  const { words, href, say } = guest
  const page = href(PAGES.request.href({ url_token: own.urlToken }))
  const [newest = null] = answers
  return (
    <div class="arrived">
      <div role="status" id="opened" data-asks-again={own.isOver ? undefined : page} data-asks-as="member">
        <RequestProgress own={own} words={words} now={now} lastAt={newest?.push.createdAt ?? null} />
        {answers.length > 0 && (
          <ul class="rows">
            {answers.map((answer) => (
              <Answer guest={guest} answer={answer} now={now} />
            ))}
          </ul>
        )}
        {own.request.answers > answers.length && (
          <p>
            <a href={href(`${PAGES.pushes.href()}?state=received`)}>{say('request_all')}</a>
          </p>
        )}
      </div>
      {!own.isOver && (
        <a href={page} data-without-script>
          {say('created_look')}
        </a>
      )}
    </div>
  )
}

function Answer({ guest, answer, now }: { guest: Member; answer: OverviewPush; now: number }) {
  const { words, href, say } = guest
  const { push, urlToken, readAt } = answer
  const token = { url_token: urlToken }
  const isUnread = readAt === null
  return (
    <li>
      <div>
        <a href={href(PAGES.push.href(token))}>
          <Arrival push={push} readAt={readAt} words={words} now={now} />
        </a>
        <p class="hint">{push.files > 0 ? say('row_files', { n: push.files }) : say('kind_text')}</p>
      </div>
      {push.expiredOn === null && (
        <ButtonForm
          guest={guest}
          action={PAGES.readAnswer.href(token)}
          label={say('received_read')}
          look={isUnread ? 'primary' : 'quiet'}
        />
      )}
    </li>
  )
}

function Link({ guest, own, template }: Props) {
  const { words, say } = guest
  const link = requestLink(own.urlToken, guest.exchange.linkBase)
  const until = <Moment at={own.request.expiresAt} words={words} />
  const message = requestMessage({ template, own, link, words })
  return (
    <>
      <div class="handover">
        <div>
          <LinkBox id="link" label={say('request_link')} text={link}>
            <Ways
              guest={guest}
              message={message}
              hasPassphrase={own.passphraseRequired}
              subject="request_subject"
            />
          </LinkBox>
          <LocalhostNotice guest={guest} path={guest.path} />
          <p class="lead">{fillIn(say('request_give'), 'until', until)}</p>
          {own.passphraseRequired && <p>{say('request_passphrase')}</p>}
        </div>
        <QrCode text={link} label={say('created_qr')} />
      </div>
      <Message guest={guest} message={message} edit="?for=ask" />
    </>
  )
}

function About({ guest: { words }, own }: Pick<Props, 'guest' | 'own'>) {
  const { say } = words
  const { request, passphraseRequired } = own
  const { acceptsText, acceptsFiles, recipient } = request
  const kind = !acceptsFiles ? 'kind_text' : acceptsText ? 'ask_accepts_both' : 'kind_file'
  return (
    <section class="card" aria-label={say('pushes_state')}>
      <Facts
        of={[
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

/** Returns the title; if there is none, a text with the last characters of the link. */
export function nameOfRequest({ name, message, urlToken }: OwnRequest, { say }: Words): string {
  return titleOfRequest({ name, message }) || `${say('request_unnamed')} …${urlToken.slice(-4)}`
}

/** Whether the request has all the answers that it accepts. */
function isAnswered({ request }: OwnRequest): boolean {
  return request.answers >= request.maxAnswers
}

type ProgressProps = { own: OwnRequest; words: Words; now: number; lastAt?: number | null }

/** The progress of a request: its answers as dots, the last one, and how long its link still works. */
export function RequestProgress({ own, words, now, lastAt = null }: ProgressProps) {
  const { say } = words
  const { answers, maxAnswers: n, expiresAt } = own.request
  return (
    <span class="openings">
      <Dots words={words} n={n} filled={answers} sentence={say('request_progress', { answers, n })} />
      {answers === 0 && !own.isOver && <span class="fact">{say('request_waiting')}</span>}
      {lastAt !== null && <span class="fact">{sayWhen('openings_last', lastAt, { words, now })}</span>}
      <span class="fact">
        {isAnswered(own) ? (
          say('request_answered')
        ) : own.isOver ? (
          say('request_over')
        ) : (
          <TimeLeft at={expiresAt} words={words} now={now} />
        )}
      </span>
    </span>
  )
}
