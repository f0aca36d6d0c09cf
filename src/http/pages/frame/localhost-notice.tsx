// Beside links that would say `localhost` to people on other machines: a warning, and the page under a better address.

import type { Guest } from './guest.ts'
import { Notice } from './parts.tsx'

/** `path` is what the reader gets under that address, as `Guest.href` takes it. */
export function LocalhostNotice({ guest, path }: { guest: Guest; path: string }) {
  const { words, href } = guest
  const origins = guest.findElsewhere()
  if (origins === null) return null
  return (
    <Notice kind="plain">
      <p>{words.say('localhost_warning', { host: guest.exchange.host ?? '' })}</p>
      <p>{words.say(origins.length === 0 ? 'localhost_unknown' : 'localhost_instead')}</p>
      {origins.length === 0 ? null : (
        <ul class="addresses">
          {origins.map((origin) => (
            <li key={origin}>
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
