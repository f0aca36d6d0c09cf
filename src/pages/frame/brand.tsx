// How this server introduces itself on every page: its mark and name, whom to ask, and what its operator
// announces.

import type { WordKey } from '../../words/words.ts'
import type { Brand, Guest } from './guest.ts'
import type { Children } from './html.ts'
import type { IconName } from './icon-files.ts'
import { Icon } from './icons.tsx'
import { fillIn } from './parts.tsx'

/** The logo or the mark, and the name. */
export function BrandName({ brand }: { brand: Brand }) {
  return (
    <>
      {brand.logo === null ? <Icon name="mark" /> : <img src={brand.logo} alt="" />}
      <bdi>{brand.name}</bdi>
    </>
  )
}

/** Whom to ask, for pages that recipients see. Nothing without --contact. */
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

type Assured = readonly [icon: IconName, text: Children]

/** What somebody who has a link may rely on, and whom to ask. One that does not apply is false. */
export function Assurances({ guest, of }: { guest: Guest; of: readonly (Assured | false)[] }) {
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

/** A text with the host of this page in it, to be compared. */
export function sayHost(key: WordKey, { words, exchange, brand }: Guest): Children {
  const host = (
    <strong>
      <bdi>{exchange.host ?? brand.name}</bdi>
    </strong>
  )
  return fillIn(words.say(key), 'host', host)
}

/** Addresses as a person writes them in a text. The last character is none that ends a sentence. */
const ADDRESS = /(https?:\/\/[^\s<>"]+[^\s<>".,;:!?)]|[^\s<>"@:,;()]+@[^\s<>"@,;()]+\.[\p{L}\d-]*[\p{L}\d])/u

/** A text of the operator, with its web and e-mail addresses as links. */
export function linked(text: string): Children[] {
  // With one group, `split` returns texts and addresses in turn.
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
