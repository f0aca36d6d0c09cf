// The opened push: a text, an address, a QR code or files, and whether it can be opened again.

import { isOwner, viewsRemaining } from '../../domain/push.ts'
import type { PageSeals } from '../../pushes/page-seals.ts'
import type { Retrieval } from '../../pushes/retrieval.ts'
import { authorityOf, type UrlAuthority } from '../../text/web-address.ts'
import { ExpireForm } from '../frame/expire-form.tsx'
import type { Guest } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { CopyButton, EmblemCard, fillIn, Moment, Notice } from '../frame/parts.tsx'
import type { SealingScripts } from '../frame/sealing.tsx'
import { RevealedFiles } from './revealed-files.tsx'
import { RevealedQr } from './revealed-qr.tsx'
import { RevealedMessage, RevealedText } from './revealed-text.tsx'
import { isSealed, Sealed } from './sealed.tsx'

export type View = Extract<Retrieval, { outcome: 'view' }>

type RevealedProps = {
  guest: Guest
  retrieval: View
  /** The sealed text for the form that saves it without a script; null if it cannot be saved so. */
  sealedText: string | null
  expireNonce: string | null
  scripts: SealingScripts
}

/** Small enough that the sealed text in base64 fits into a small form. A script saves larger texts. */
const MAX_SAVED_BYTES = 44 * 1024

/**
 * Returns the sealed text with which a browser without scripts saves it. Null if the push is not a text or is
 * too large.
 */
export function sealText({ push, payload }: View, shownTexts: PageSeals['shownTexts']): string | null {
  if (payload === '' || (push.kind !== 'text' && push.kind !== 'file')) return null
  return Buffer.byteLength(payload) > MAX_SAVED_BYTES ? null : shownTexts.seal(payload)
}

/** The card of the opened secret. Emblem and title are where they were on the page before. */
export function Revealed({ guest, retrieval, sealedText, expireNonce, scripts }: RevealedProps) {
  const { push, urlToken, files } = retrieval
  const { words, say } = guest
  const isTheirs = isOwner(push, guest.viewer.account)
  const left = viewsRemaining(push)
  const until = <Moment at={push.expiresAt} words={words} />
  return (
    <EmblemCard icon="lock-open" title={say('revealed_title')}>
      {left === 0 && <Last>{say(files.length === 0 ? 'revealed_last' : 'revealed_last_files')}</Last>}
      {isTheirs && <Notice kind="plain">{say('revealed_owner')}</Notice>}
      <RevealedContent {...{ guest, retrieval, sealedText, scripts }} />
      {left > 0 && <p class="remaining">{fillIn(say('revealed_remaining', { n: left }), 'until', until)}</p>}
      {expireNonce !== null && (
        <ExpireForm
          {...{ guest, urlToken }}
          nonce={expireNonce}
          ends={left === 0 ? 'receivedDownloads' : isTheirs ? 'ownPush' : 'receivedPush'}
        />
      )}
    </EmblemCard>
  )
}

type ContentProps = Omit<RevealedProps, 'expireNonce'> & {
  /** Whether its owner reads the answer to a request. */
  isAnswer?: boolean
}

/** The text and files of an opened push. */
export function RevealedContent({ guest, retrieval, sealedText, scripts, isAnswer = false }: ContentProps) {
  const { push, files, archives } = retrieval
  const content = (
    <>
      <Payload {...{ guest, retrieval, sealedText, isAnswer }} />
      {files.length > 0 && <RevealedFiles guest={guest} files={files} archives={archives} />}
    </>
  )
  if (!isSealed(retrieval)) return content
  return <Sealed {...{ guest, push, scripts, isAnswer }}>{content}</Sealed>
}

/** Warns that this was the last view. Shown first, because the content cannot be shown again. */
function Last({ children }: { children: string }) {
  return (
    <div class="notice low last" role="status">
      <Icon name="triangle-alert" />
      <div>
        <p>{children}</p>
      </div>
    </div>
  )
}

/**
 * Longer than web servers accept. A longer address is shown as text, because a page that contains it twice is
 * slow to render.
 */
const MAX_LINK_CHARACTERS = 32 * 1024

type PayloadProps = Omit<Required<ContentProps>, 'scripts'>

function Payload({ guest, retrieval, sealedText, isAnswer }: PayloadProps) {
  const { push, urlToken, payload, files } = retrieval
  if (payload === '') return null
  if (push.kind === 'qr') return <RevealedQr guest={guest} payload={payload} />
  // An earlier version accepted longer host names, which no browser can open.
  const isLink = push.kind === 'url' && payload.length <= MAX_LINK_CHARACTERS
  const authority = isLink ? authorityOf(payload) : null
  if (authority !== null) return <RevealedAddress guest={guest} address={payload} authority={authority} />
  const hasFiles = files.length > 0
  if (hasFiles && !isAnswer) return <RevealedMessage guest={guest} payload={payload} />
  return <RevealedText {...{ guest, urlToken, payload, sealedText, hasFiles }} />
}

type AddressProps = { guest: Guest; address: string; authority: UrlAuthority }

/** Shows where the link leads before it is followed. */
function RevealedAddress({ guest, address, authority: { host, protocol } }: AddressProps) {
  const { say } = guest
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

/**
 * Emphasizes the host in the address as sent. Emphasizes nothing if the parsed host is spelled differently.
 */
function WithHost({ address, host }: { address: string; host: string }) {
  const authority = /^https?:\/\/[^/?#\\]*/i.exec(address)?.[0] ?? ''
  // Lower-case only ASCII: the lower case of some other letters is two characters, which would shift the
  // position.
  const at = authority.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).lastIndexOf(host)
  if (at < 0) return address
  const end = at + host.length
  return [address.slice(0, at), <strong>{address.slice(at, end)}</strong>, address.slice(end)]
}
