// The opened push: a text, an address or a QR code, files to save; and whether it can be opened again.

import { isOwner, viewsRemaining } from '../../domain/push.ts'
import { authorityOf } from '../../domain/web-address.ts'
import type { Retrieval } from '../../pushes/retrieval.ts'
import type { Guest } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { Moment, Notice } from '../frame/parts.tsx'
import { ExpireForm } from './expire-form.tsx'
import { RevealedAddress } from './revealed-address.tsx'
import { RevealedFiles } from './revealed-files.tsx'
import { RevealedQr } from './revealed-qr.tsx'
import { RevealedText } from './revealed-text.tsx'

export type View = Extract<Retrieval, { outcome: 'view' }>

export type RevealedProps = {
  guest: Guest
  retrieval: View
  /** The text for the form that saves it without a script; null for what cannot be saved so. */
  sealedText: string | null
  expireNonce: string | null
}

export function Revealed({ guest, retrieval, sealedText, expireNonce }: RevealedProps) {
  const { push, urlToken, files, archives } = retrieval
  const { say } = guest.words
  const isTheirs = isOwner(push, guest.viewer.account)
  return (
    <>
      <h1>{say('revealed_title')}</h1>
      {viewsRemaining(push) === 0 ? <Last guest={guest} retrieval={retrieval} /> : null}
      {isTheirs ? (
        <Notice kind="plain">
          <p>{say('revealed_owner')}</p>
        </Notice>
      ) : null}
      <Payload guest={guest} retrieval={retrieval} sealedText={sealedText} />
      {files.length === 0 ? null : <RevealedFiles guest={guest} files={files} archives={archives} />}
      {viewsRemaining(push) === 0 ? null : <Remaining guest={guest} retrieval={retrieval} />}
      {expireNonce === null ? null : (
        <ExpireForm
          guest={guest}
          urlToken={urlToken}
          nonce={expireNonce}
          isOwner={isTheirs}
          ends={viewsRemaining(push) === 0 ? 'grants' : isTheirs ? 'push' : 'received'}
        />
      )}
    </>
  )
}

/** More than servers accept. A longer address is a text to copy, because a page that holds it twice takes too long to write. */
const MAX_LINK_CHARACTERS = 32 * 1024

type PayloadProps = { guest: Guest; retrieval: View; sealedText: string | null }

function Payload({ guest, retrieval: { push, urlToken, payload }, sealedText }: PayloadProps) {
  if (payload === '') return null
  if (push.kind === 'qr') return <RevealedQr guest={guest} payload={payload} />
  // An earlier version took longer names of hosts. No link leads there.
  const isLink = push.kind === 'url' && payload.length <= MAX_LINK_CHARACTERS
  const authority = isLink ? authorityOf(payload) : null
  if (authority !== null) return <RevealedAddress guest={guest} address={payload} authority={authority} />
  return <RevealedText guest={guest} urlToken={urlToken} payload={payload} sealedText={sealedText} />
}

type StateProps = { guest: Guest; retrieval: View }

/** Prominent and first, because the content cannot be shown again after the page was left. */
function Last({ guest: { words }, retrieval: { files } }: StateProps) {
  return (
    <div class="notice low last" role="status">
      <Icon name="triangle-alert" />
      <div>
        <p>{words.say(files.length === 0 ? 'revealed_last' : 'revealed_last_files')}</p>
      </div>
    </div>
  )
}

function Remaining({ guest: { words }, retrieval: { push } }: StateProps) {
  const [before, after] = words.say('revealed_remaining', { n: viewsRemaining(push) }).split('{until}')
  return (
    <p class="remaining">
      {before}
      <Moment at={push.expiresAt} words={words} />
      {after}
    </p>
  )
}
