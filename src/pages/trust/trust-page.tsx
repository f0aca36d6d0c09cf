// The page that helps a device to trust this server's authority: the certificate files, and the steps for
// each system. Both are also served over plain HTTP, for devices that do not trust this server yet.

import { DomainError } from '../../domain/errors.ts'
import { answerAttachment } from '../../http/answers.ts'
import type { RouteRequest } from '../../http/door/router.ts'
import { FILES, PAGES } from '../../http/urls.ts'
import type { Authority } from '../../lan/certificate.ts'
import type { WordKey } from '../../words/words.ts'
import type { Guest } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { Moment, Notice } from '../frame/parts.tsx'
import { profileFor } from './mobileconfig.ts'

export type TrustPageOptions = {
  answer: AnswerGuest
  /** The server's own authority; null if it has none. */
  authority: Authority | null
}

/** The names of the saved files. */
const AUTHORITY_FILES = {
  cer: 'oncebox.cer',
  pem: 'oncebox.pem',
  profile: 'oncebox.mobileconfig',
} as const

type FileKind = keyof typeof AUTHORITY_FILES

/** The systems. Their steps are the lines of one text. */
const SYSTEMS: readonly { name: string; file: FileKind; steps: WordKey }[] = [
  { name: 'Windows', file: 'cer', steps: 'trust_windows' },
  { name: 'macOS', file: 'cer', steps: 'trust_macos' },
  { name: 'iPhone, iPad', file: 'profile', steps: 'trust_ios' },
  { name: 'Android', file: 'cer', steps: 'trust_android' },
  { name: 'Firefox', file: 'pem', steps: 'trust_firefox' },
  { name: 'Linux', file: 'pem', steps: 'trust_linux' },
]

/** The page uses no form and no cookie, because anyone on the network can read and forge it. */
export function createTrustPage({ answer, authority }: TrustPageOptions) {
  return (guest: Guest): Response => {
    if (authority === null) throw new DomainError('not_found', 'not-found')
    return answer(<TrustPage guest={guest} fingerprint={authority.fingerprint} />, {
      guest,
      title: guest.say('trust_page'),
      frame: 'plain',
      languageSwitch: false,
      script: null,
    })
  }
}

function TrustPage({ guest, fingerprint }: { guest: Guest; fingerprint: string }) {
  const { say } = guest
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
        <details>
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
                <li>{step}</li>
              ))}
          </ol>
        </details>
      ))}
    </>
  )
}

/** Answers the certificate files that the page links to. */
export function createAnswerAuthority({ authority }: Pick<TrustPageOptions, 'authority'>) {
  const files = authority === null ? {} : filesOf(authority)
  return ({ params: { name = '' } }: RouteRequest): Response => {
    const file = Object.hasOwn(files, name) ? files[name] : undefined
    if (file === undefined) throw new DomainError('not_found', 'not-found')
    return answerAttachment(file.body, { type: file.type, filename: name })
  }
}

type File = { type: string; body: string | Buffer<ArrayBuffer> }

function filesOf({ certificate, der, fingerprint }: Authority): Record<string, File> {
  const type = 'application/x-x509-ca-cert'
  const name = `Oncebox (${fingerprint.slice(0, 11)})`
  return {
    [AUTHORITY_FILES.cer]: { type, body: Buffer.from(der) },
    [AUTHORITY_FILES.pem]: { type, body: certificate },
    [AUTHORITY_FILES.profile]: {
      type: 'application/x-apple-aspen-config',
      body: profileFor({ der, fingerprint, name }),
    },
  }
}

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
