// Warns about links to `localhost`, which people on other machines cannot open, and offers a better address.

import type { Words } from '../../words/words.ts'
import type { Guest } from './guest.ts'
import type { Children } from './html.ts'
import { Notice, withFlag } from './parts.tsx'

/** `path` is the page to open under the better address; pass what `Guest.href` accepts. */
export function LocalhostNotice({ guest, path }: { guest: Guest; path: string }) {
  const { words, href } = guest
  const elsewhere = guest.findElsewhere()
  if (elsewhere === null) return null
  const { host, origins, flag } = elsewhere
  const wayOut = origins.length === 0 ? 'localhost_unknown' : 'localhost_instead'
  return (
    <Notice kind="low">
      <p>
        {words.say('localhost_warning', { host })} {flag === null ? words.say(wayOut) : sayFlag(flag, words)}
      </p>
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

/** Names the flag --base-url, because only the operator knows its value. */
function sayFlag(flag: string, { say }: Words): Children {
  const [name = flag] = flag.split(' ')
  return name === '--base-url'
    ? withFlag(say('localhost_base_url'), name)
    : withFlag(say('localhost_flag'), flag)
}
