// The server's identity on every page: its logo and name, the contact, and the operator's notice.

import type { WordKey } from '../../words/words.ts'
import type { Brand, Guest } from './guest.ts'
import type { Children } from './html.ts'
import type { IconName } from './icon-files.ts'
import { Icon } from './icons.tsx'
import { fillIn } from './parts.tsx'

/** The operator's logo, or that of Oncebox, and the name. */
export function BrandName({ brand }: { brand: Brand }) {
  return (
    <>
      {brand.logo === null ? <Icon name="mark" /> : <img src={brand.logo} alt="" />}
      <bdi>{brand.name}</bdi>
    </>
  )
}

/** Names the contact for recipients. Renders nothing if --contact is not set. */
export function Contact({ guest: { words, brand } }: { guest: Guest }) {
  if (brand.contact === null) return null
  return (
    <p class="with-icon contact">
      <Icon name="info" />
      <span>
        {words.say('contact')} <bdi>{linked(brand.contact)}</bdi>
      </span>
    </p>
  )
}

type Assurance = readonly [icon: IconName, text: Children]

/** Lists what the recipient of a link can rely on, and the contact. Leaves out items that are false. */
export function Assurances({ guest, of }: { guest: Guest; of: readonly (Assurance | false)[] }) {
  return (
    <div class="assurances">
      {of.map(
        (assured) =>
          assured && (
            <p class="with-icon">
              <Icon name={assured[0]} />
              <span>{assured[1]}</span>
            </p>
          ),
      )}
      <Contact guest={guest} />
    </div>
  )
}

/** Returns the text with the host of this page, which people compare with the address bar. */
export function sayHost(key: WordKey, { words, exchange, brand }: Guest): Children {
  const host = (
    <strong>
      <bdi>{exchange.host ?? brand.name}</bdi>
    </strong>
  )
  return fillIn(words.say(key), 'host', host)
}

/** Matches web and e-mail addresses in prose. The last character must not be one that ends a sentence. */
const ADDRESS = /(https?:\/\/[^\s<>"]+[^\s<>".,;:!?)]|[^\s<>"@:,;()]+@[^\s<>"@,;()]+\.[\p{L}\d-]*[\p{L}\d])/u

/** Returns an operator's text with its web and e-mail addresses as links. */
export function linked(text: string): Children[] {
  // `split` returns texts and addresses in turn, because the expression has one group.
  return text.split(ADDRESS).map((part, at) =>
    at % 2 === 0 ? (
      part
    ) : (
      <a href={/^https?:/.test(part) ? part : `mailto:${part}`} rel="noreferrer noopener">
        {part}
      </a>
    ),
  )
}
