// The page about the previous version of the API, in English as the reference is.

import { API, PREVIOUS_API, PREVIOUS_FAMILIES } from '../http/urls.ts'
import type { Guest } from './frame/guest.ts'
import type { AnswerGuest } from './frame/page.tsx'

export function createPreviousApiPage(answer: AnswerGuest) {
  return (guest: Guest): Response => {
    const title = 'The previous API version'
    const { baseUrl } = guest.exchange
    return answer(<PreviousApi baseUrl={baseUrl} docs={`${guest.basePath}${API.docs.href()}`} />, {
      guest,
      title,
    })
  }
}

/** Stands for the token of a push in the examples. */
const TOKEN = { url_token: 'TOKEN' }

function PreviousApi({ baseUrl, docs }: { baseUrl: string; docs: string }) {
  const { p, f, r } = PREVIOUS_FAMILIES
  return (
    <div lang="en" dir="ltr">
      <h1>The previous API version</h1>
      <p>
        Clients of version 1 work here unchanged: point them at <code>{baseUrl}</code>. What is new is in{' '}
        <a href={docs}>version 2</a>, which new programs should use; both know the same pushes.
      </p>
      <h2>Create</h2>
      <p>A password or any text, as a form or as JSON:</p>
      <Command>{`curl ${baseUrl}${p.create.path} --data-urlencode 'password[payload]@-' < secret.txt

curl ${baseUrl}${p.create.path} \\
  -H 'Content-Type: application/json' \\
  -d '{"password": {"payload": "my secret", "expire_after_days": 2, "expire_after_views": 1}}'`}</Command>
      <p>
        A link goes to <code>{r.create.path}</code> as <code>url[payload]</code>. Files go to{' '}
        <code>{f.create.path}</code> and need a token, from <code>oncebox token create EMAIL</code>:
      </p>
      <Command>{`curl ${baseUrl}${f.create.path} -H 'X-User-Token: …' -F 'file_push[files][]=@report.pdf'`}</Command>
      <p>
        The fields are <code>payload</code>, <code>files</code>, <code>kind</code>,{' '}
        <code>expire_after_days</code>, <code>expire_after_views</code>, <code>passphrase</code>,{' '}
        <code>retrieval_step</code>, <code>deletable_by_viewer</code>, <code>name</code> and <code>note</code>
        . They may stand in the query, too, where the body does not give them. What is out of range is refused
        with 422, which names the field.
      </p>
      <h2>Use a push</h2>
      <p>
        The answer holds <code>html_url</code>, the link to give away, and <code>url_token</code> for the
        paths below. Under <code>/f</code> and <code>/r</code> they are the same.
      </p>
      <Command>{`# retrieve, which counts as a view; then the same with a passphrase
curl ${baseUrl}${p.retrieve.href(TOKEN)}
curl '${baseUrl}${p.retrieve.href(TOKEN)}?passphrase=…'

# the link alone
curl ${baseUrl}${p.preview.href(TOKEN)}

# expire it now
curl -X DELETE ${baseUrl}${p.retrieve.href(TOKEN)}`}</Command>
      <h2>Your pushes</h2>
      <p>
        With <code>X-User-Token</code>, <code>Authorization: Bearer …</code> or <code>-u EMAIL:TOKEN</code>,
        50 a page:
      </p>
      <Command>{`curl -H 'X-User-Token: …' '${baseUrl}${p.active.path}?page=1'
curl -H 'X-User-Token: …' ${baseUrl}${p.expired.path}
curl -H 'X-User-Token: …' ${baseUrl}${p.audit.href(TOKEN)}

# no token needed
curl ${baseUrl}${PREVIOUS_API.version.path}.json`}</Command>
    </div>
  )
}

function Command({ children }: { children: string }) {
  return (
    <pre>
      <code>{children}</code>
    </pre>
  )
}
