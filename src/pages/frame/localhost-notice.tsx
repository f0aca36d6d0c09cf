// Warns about links that say `localhost`, which people on other machines cannot open, and links to a better address.

import type { Guest } from './guest.ts'
import { Notice } from './parts.tsx'

/** `path` is the page to open under a better address, as `Guest.href` takes it. */
export function LocalhostNotice({ guest, path }: { guest: Guest; path: string }) {
  const { words, href } = guest
  const origins = guest.findElsewhere()
  if (origins === null) return null
  return (
    <Notice kind="plain">
      <p>{words.say('localhost_warning', { host: guest.exchange.host ?? '' })}</p>
      <p>{words.say(origins.length === 0 ? 'localhost_unknown' : 'localhost_instead')}</p>
      {origins.length > 0 && (
        <ul class="addresses">
          {origins.map((origin) => (
            <li>
              <a href={`${origin}${href(path)}`} dir="ltr">
                {`${origin}${href(path)}`}
              </a>
            </li>
          ))}
        </ul>
      )}
    </Notice>
  )
}
