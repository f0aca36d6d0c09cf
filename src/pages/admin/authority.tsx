// The authority that devices of the network have to trust.

import { PAGES } from '../../http/urls.ts'
import type { Authority } from '../../lan/certificate.ts'
import type { Guest } from '../frame/guest.ts'
import { Moment } from '../frame/parts.tsx'

export function AuthorityPart({ guest, authority }: { guest: Guest; authority: Authority }) {
  const { words } = guest
  return (
    <section aria-labelledby="authority">
      <h2 id="authority">{words.say('authority_title')}</h2>
      <p>{words.say('authority_text')}</p>
      <p>
        <code class="fingerprint" dir="ltr">
          {authority.fingerprint}
        </code>
      </p>
      <p>
        <a href={guest.href(PAGES.trust.href())}>{words.say('trust_page')}</a> ·{' '}
        {words.say('authority_until')} <Moment at={authority.validUntil} words={words} />
      </p>
    </section>
  )
}
