// The page of a push for its owner: its link, what remains, its audit log.

import { isExpired } from '../../../domain/push.ts'
import type { Now } from '../../../domain/time.ts'
import type { PageNonces } from '../../../services/pushes/page-nonces.ts'
import type { Pushes } from '../../../services/pushes/pushes.ts'
import { answerSeeOther } from '../../door/answers.ts'
import { PAGES, secretHref, secretLink } from '../../urls.ts'
import type { Form } from '../frame/form.ts'
import type { Member } from '../frame/guest.ts'
import { LocalhostNotice } from '../frame/localhost-notice.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { CopyButton, KIND_WORDS, Notice } from '../frame/parts.tsx'
import { ExpireForm } from '../receive/expire-form.tsx'
import { State } from './dashboard.tsx'
import { createLogExports } from './log-exports.ts'
import { Log } from './push-log.tsx'
import { Tries } from './tries.tsx'

export type PushPageOptions = {
  answer: AnswerGuest
  pushes: Pick<Pushes, 'getOwned' | 'unlock' | 'openLog' | 'expire'>
  nonces: PageNonces
  now: Now
}

type Params = Partial<Record<string, string>>

export function createPushPages({ answer, pushes, nonces, now }: PushPageOptions) {
  async function show(guest: Member, { url_token = '' }: Params): Promise<Response> {
    const owned = await pushes.getOwned(url_token, guest.account)
    const { push, name, note, log } = owned
    const { words } = guest
    const title = name || words.say('push_unnamed', { kind: words.say(KIND_WORDS[push.kind]) })
    const live = !isExpired(push, now())
    const pageNumber = readPage(guest)
    const entries = await log.listPage(pageNumber)
    const content = (
      <>
        <p>
          <a href={guest.href(PAGES.pushes.href())}>{words.say('pushes_back')}</a>
        </p>
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {note === '' ? null : (
          <p class="note">
            <bdi>{note}</bdi>
          </p>
        )}
        {!live && guest.query.get('done') === 'expired' ? (
          <Notice kind="good">
            <p>{words.say('expired_text')}</p>
          </Notice>
        ) : null}
        <State words={words} listed={owned} now={now()} />
        <Tries guest={guest} listed={owned} isLive={live} />
        {live ? (
          <>
            <LocalhostNotice guest={guest} path={PAGES.created.href({ url_token })} />
            <section aria-label={words.say('created_link')} class="link">
              <pre id="link">
                <code>{secretLink(owned, guest.exchange.baseUrl)}</code>
              </pre>
              <CopyButton target="link" guest={guest} />
            </section>
            <nav class="links" aria-label={title}>
              <a href={guest.href(PAGES.created.href({ url_token }))}>{words.say('push_share')}</a>
              <a href={guest.href(secretHref(owned))}>{words.say('push_look')}</a>
            </nav>
          </>
        ) : null}
        {live || owned.hasGrants ? (
          <ExpireForm
            guest={guest}
            urlToken={url_token}
            nonce={nonces.issue(`expire/${url_token}`)}
            isOwner
            ends={live ? 'push' : 'grants'}
          />
        ) : null}
        <Log
          guest={guest}
          push={push}
          entries={entries}
          log={log}
          pageNumber={pageNumber}
          urlToken={url_token}
        />
      </>
    )
    return answer(content, { guest, title, scripts: ['common'] })
  }

  /** Leads back to the page of the push. Expiring it again changes nothing. */
  async function expire(guest: Member, _form: Form, { url_token = '' }: Params): Promise<Response> {
    await pushes.getOwned(url_token, guest.account)
    await pushes.expire(url_token, guest.viewer)
    return answerSeeOther(guest.href(`${PAGES.push.href({ url_token })}?done=expired`))
  }

  async function unlock(guest: Member, _form: Form, { url_token = '' }: Params): Promise<Response> {
    await pushes.unlock(url_token, guest.viewer)
    return answerSeeOther(guest.href(`${PAGES.push.href({ url_token })}?done=unlocked`))
  }

  return { show, expire, unlock, ...createLogExports(pushes) }
}

function readPage({ query }: Member): number {
  const page = query.get('page') ?? ''
  return /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1
}
