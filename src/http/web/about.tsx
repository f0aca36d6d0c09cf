// Pages that explain: what this place is, how to retrieve a push, and how the previous version of the API is spoken.

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
        Clients of version 1 work here unchanged: point them at <code>{baseUrl}</code>. What is new is in{' '}
        <a href={`${baseUrl}/api/v2/docs`}>version 2</a>, which new programs should use; both know the same
        pushes.
      </p>
      <h2>Create</h2>
      <p>A password or any text, as a form or as JSON:</p>
      <Command>{`curl ${baseUrl}/p.json --data-urlencode 'password[payload]@-' < secret.txt

curl ${baseUrl}/p.json \\
  -H 'Content-Type: application/json' \\
  -d '{"password": {"payload": "my secret", "expire_after_days": 2, "expire_after_views": 1}}'`}</Command>
      <p>
        A link goes to <code>/r.json</code> as <code>url[payload]</code>. Files go to <code>/f.json</code> and
        need a token, from <code>oncebox token create EMAIL</code>:
      </p>
      <Command>{`curl ${baseUrl}/f.json -H 'X-User-Token: …' -F 'file_push[files][]=@report.pdf'`}</Command>
      <p>
        The fields are <code>payload</code>, <code>files</code>, <code>kind</code>,{' '}
        <code>expire_after_days</code>, <code>expire_after_views</code>, <code>passphrase</code>,{' '}
        <code>retrieval_step</code>, <code>deletable_by_viewer</code>, <code>name</code> and <code>note</code>
        . What is out of range is refused with 422, which names the field.
      </p>
      <h2>Use a push</h2>
      <p>
        The answer holds <code>html_url</code>, the link to give away, and <code>url_token</code> for the
        paths below. Under <code>/f</code> and <code>/r</code> they are the same.
      </p>
      <Command>{`# retrieve, which counts as a view; then the same with a passphrase
curl ${baseUrl}/p/TOKEN.json
curl '${baseUrl}/p/TOKEN.json?passphrase=…'

# the link alone
curl ${baseUrl}/p/TOKEN/preview.json

# expire it now
curl -X DELETE ${baseUrl}/p/TOKEN.json`}</Command>
      <h2>Your pushes</h2>
      <p>
        With <code>X-User-Token</code> or <code>Authorization: Bearer …</code>, 50 a page:
      </p>
      <Command>{`curl -H 'X-User-Token: …' '${baseUrl}/p/active.json?page=1'
curl -H 'X-User-Token: …' ${baseUrl}/p/expired.json
curl -H 'X-User-Token: …' ${baseUrl}/p/TOKEN/audit.json

# no token needed
curl ${baseUrl}/api/v1/version.json`}</Command>
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
