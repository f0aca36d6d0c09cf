// Pages that explain: what this place is, how to retrieve a push, and where the previous version of the API went.

import type { JSX } from 'preact'
import { DomainError } from '../../domain/errors.ts'
import { answerPage } from '../answers.ts'
import type { Asked } from '../router.ts'
import type { Assets } from './assets.ts'
import { Page, renderPage } from './page.tsx'

type Links = { baseUrl: string; stylesheet: string }

const POLICY = "style-src 'self'"

export function createAboutPages({ hrefOf }: Assets) {
  const linksOf = (baseUrl: string): Links => ({ baseUrl, stylesheet: hrefOf('style') })
  const answer = (page: JSX.Element) => answerPage(200, renderPage(page), { policy: POLICY })

  return {
    home: ({ exchange: { baseUrl } }: Asked) => answer(<Home {...linksOf(baseUrl)} />),
    previousApi: ({ exchange: { baseUrl } }: Asked) => answer(<PreviousApi {...linksOf(baseUrl)} />),
    /** Looks nothing up and counts nothing: who follows a link, or previews it for a chat, changes nothing. */
    secretLink: ({ exchange: { baseUrl }, params: { url_token = '' } }: Asked) => {
      if (!/^[0-9a-z]{26}$/.test(url_token)) throw new DomainError('not_found', 'not-found')
      return answer(<SecretLink {...linksOf(baseUrl)} urlToken={url_token} />)
    },
  }
}

function Home({ baseUrl, stylesheet }: Links) {
  const create = `curl ${baseUrl}/api/v2/pushes \\
  -H 'Content-Type: application/json' \\
  -d '{"push": {"payload": "my secret", "expire_after_views": 1}}'`
  return (
    <Page title="Oncebox" stylesheet={stylesheet}>
      <h1>Oncebox</h1>
      <p>Hand over a secret: it has a link, and is gone after so many views or days.</p>
      <Command>{create}</Command>
      <p>
        The answer holds <code>html_url</code>, the link to give away.{' '}
        <a href={`${baseUrl}/api/v2/docs`}>The reference</a> tells the rest.
      </p>
    </Page>
  )
}

function SecretLink({ baseUrl, stylesheet, urlToken }: Links & { urlToken: string }) {
  return (
    <Page title="Somebody shares a secret with you" stylesheet={stylesheet}>
      <h1>Somebody shares a secret with you</h1>
      <p>Nothing has been opened or counted yet. This command retrieves it, which counts as one view:</p>
      <Command>{`curl ${baseUrl}/api/v2/pushes/${urlToken}`}</Command>
      <p>
        When it is protected by a passphrase, add <code>-H 'X-Push-Passphrase: …'</code>, percent-encoded.
      </p>
    </Page>
  )
}

function PreviousApi({ baseUrl, stylesheet }: Links) {
  return (
    <Page title="The previous API version" stylesheet={stylesheet}>
      <h1>The previous API version</h1>
      <p>
        This server speaks version 2 of the push sharing API; version 1 (paths such as <code>/p.json</code>)
        is not served. Clients of version 1 need three changes:
      </p>
      <ul>
        <li>
          the path: <code>/api/v2/pushes</code> instead of <code>/p.json</code>, <code>/f.json</code> and{' '}
          <code>/r.json</code>
        </li>
        <li>
          the wrapper of the body: <code>push</code>, with <code>kind</code> as one of its members
        </li>
        <li>
          the token: <code>Authorization: Bearer …</code> (<code>X-User-Token</code> is still understood).
        </li>
      </ul>
      <p>
        <a href={`${baseUrl}/api/v2/docs`}>The reference of version 2</a> has every endpoint.
      </p>
    </Page>
  )
}

function Command({ children }: { children: string }) {
  return (
    <section aria-label="Command">
      <pre>
        <code>{children}</code>
      </pre>
    </section>
  )
}
