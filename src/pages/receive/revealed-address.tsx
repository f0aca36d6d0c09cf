// The opened address of a link: where it leads, before anybody follows it.

import type { Authority } from '../../domain/web-address.ts'
import type { Guest } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { CopyButton } from '../frame/parts.tsx'

type AddressProps = { guest: Guest; address: string; authority: Authority }

export function RevealedAddress({ guest, address, authority: { host, protocol } }: AddressProps) {
  const { say } = guest.words
  return (
    <section class="secret" aria-label={say('revealed_link')}>
      <p>
        {say('revealed_leads_to')} <strong dir="ltr">{host}</strong>
      </p>
      <pre id="payload" class="address" dir="ltr" tabIndex={0}>
        <WithHost address={address} host={host} />
      </pre>
      {protocol === 'http:' && <p class="hint">{say('revealed_in_the_clear')}</p>}
      <div class="actions unprinted">
        <a
          class="button primary"
          href={address}
          target="_blank"
          rel="noreferrer noopener nofollow"
          referrerpolicy="no-referrer"
        >
          <span>{say('revealed_go', { host })}</span>
          <Icon name="external-link" />
          <span class="visually-hidden">{say('new_tab')}</span>
        </a>
        <CopyButton target="payload" words={guest.words} />
      </div>
    </section>
  )
}

/** The address with its host emphasized, in the text as sent. When the parsed host is spelled otherwise, nothing is. */
function WithHost({ address, host }: { address: string; host: string }) {
  const authority = /^https?:\/\/[^/?#\\]*/i.exec(address)?.[0] ?? ''
  // In ASCII only: some letters of other scripts become two in lower case, and the place would be another.
  const at = authority.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).lastIndexOf(host)
  if (at < 0) return address
  const end = at + host.length
  return [address.slice(0, at), <strong>{address.slice(at, end)}</strong>, address.slice(end)]
}
