// How a device comes to trust the authority of this server: the file, and the steps of each system.

import { DomainError } from '../../domain/errors.ts'
import { FILES } from '../../http/urls.ts'
import type { Authority } from '../../lan/certificate.ts'
import type { WordKey } from '../../words/words.ts'
import type { Guest } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { Notice } from '../frame/parts.tsx'

export type TrustPageOptions = {
  answer: AnswerGuest
  /** Null when this server has no authority of its own, so that there is nothing to trust. */
  authority: Authority | null
}

/** The files as they are called when they are saved. */
export const AUTHORITY_FILES = {
  cer: 'oncebox.cer',
  pem: 'oncebox.pem',
  profile: 'oncebox.mobileconfig',
} as const

type FileKind = keyof typeof AUTHORITY_FILES

/** The steps are lines of one text. */
const SYSTEMS: readonly { name: string; file: FileKind; steps: WordKey }[] = [
  { name: 'Windows', file: 'cer', steps: 'trust_windows' },
  { name: 'macOS', file: 'cer', steps: 'trust_macos' },
  { name: 'iPhone, iPad', file: 'profile', steps: 'trust_ios' },
  { name: 'Android', file: 'cer', steps: 'trust_android' },
  { name: 'Firefox', file: 'pem', steps: 'trust_firefox' },
  { name: 'Linux', file: 'pem', steps: 'trust_linux' },
]

/** No form and no cookie, because anybody on the network may read and forge the page. */
export function createTrustPage({ answer, authority }: TrustPageOptions) {
  return (guest: Guest): Response => {
    if (authority === null) throw new DomainError('not_found', 'not-found')
    return answer(<TrustPage guest={guest} fingerprint={authority.fingerprint} />, {
      guest,
      title: guest.words.say('trust_page'),
      frame: 'plain',
      languageSwitch: false,
    })
  }
}

function TrustPage({ guest, fingerprint }: { guest: Guest; fingerprint: string }) {
  const { say } = guest.words
  return (
    <>
      <h1>{say('trust_page')}</h1>
      <p class="lead">{say('trust_lead')}</p>
      <Notice kind="bad">
        <p>
          <strong>{say('trust_forged')}</strong> {say('trust_compare')}
        </p>
      </Notice>
      <h2>{say('trust_fingerprint')}</h2>
      <p>
        <code class="fingerprint" dir="ltr">
          {fingerprint}
        </code>
      </p>
      {SYSTEMS.map(({ name, file, steps }) => (
        <details key={name}>
          <summary>{name}</summary>
          <p>
            <a href={`${guest.basePath}${FILES.authority.href({ name: AUTHORITY_FILES[file] })}`}>
              {say('trust_save', { file: AUTHORITY_FILES[file] })}
            </a>
          </p>
          <ol>
            {say(steps)
              .split('\n')
              .map((step) => (
                <li key={step}>{step}</li>
              ))}
          </ol>
        </details>
      ))}
    </>
  )
}
