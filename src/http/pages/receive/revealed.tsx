// The opened payload: a text to show and copy, a link, a QR code, files to download; and how many views remain.

import { isOwner, viewsRemaining } from '../../../domain/push.ts'
import type { GrantedFile } from '../../../services/pushes/downloads.ts'
import type { Retrieval } from '../../../services/pushes/retrieval.ts'
import { FILES } from '../../urls.ts'
import type { Guest } from '../frame/guest.ts'
import { CopyButton, Moment, Notice } from '../frame/parts.tsx'
import { fitsQr, QrCode } from '../frame/qr.tsx'
import { ExpireForm } from './expire-form.tsx'

type View = Extract<Retrieval, { outcome: 'view' }>

export type RevealedProps = { guest: Guest; retrieval: View; expireNonce: string | null }

export function Revealed({ guest, retrieval, expireNonce }: RevealedProps) {
  const { push, urlToken, payload, files } = retrieval
  const { say } = guest.words
  return (
    <>
      <h1>{say('revealed_title')}</h1>
      {isOwner(push, guest.viewer.account) ? (
        <Notice kind="plain">
          <p>{say('revealed_owner')}</p>
        </Notice>
      ) : null}
      <Payload guest={guest} kind={push.kind} payload={payload} />
      {files.length === 0 ? null : <Files guest={guest} files={files} />}
      <Remaining guest={guest} retrieval={retrieval} />
      {expireNonce === null ? null : (
        <ExpireForm
          guest={guest}
          urlToken={urlToken}
          nonce={expireNonce}
          isOwner={isOwner(push, guest.viewer.account)}
          ends={viewsRemaining(push) === 0 ? 'grants' : 'push'}
        />
      )}
    </>
  )
}

type PayloadProps = { guest: Guest; kind: View['push']['kind']; payload: string }

function Payload({ guest, kind, payload }: PayloadProps) {
  if (payload === '') return null
  switch (kind) {
    case 'url':
      return <Link guest={guest} address={payload} />
    case 'qr':
      return <Code guest={guest} payload={payload} />
    default:
      return <SecretText guest={guest} payload={payload} />
  }
}

/** HTML turns CR into LF and cannot hold NUL, so such a text is there a second time, exactly, for copying. */
function exact(payload: string) {
  return /[\r\0]/.test(payload) ? { 'data-exact': encodeURIComponent(payload) } : {}
}

/** Nobody copies more lines one by one. */
const MAX_COPIED_LINES = 50

/** Closed until pressed, also without scripts; a script closes it again after a while. */
function SecretText({ guest, payload }: { guest: Guest; payload: string }) {
  const { say } = guest.words
  const lines = payload.split('\n').filter((line) => line.trim() !== '')
  return (
    <section class="secret" aria-label={say('revealed_text')}>
      <details data-hides data-hidden={say('hidden_again')}>
        <summary>
          <span class="when-closed">{say('revealed_show')}</span>
          <span class="when-open">{say('revealed_hide')}</span>
        </summary>
        {/* HTML ignores the first line break after a <pre> tag. */}
        <pre id="payload" tabIndex={0} {...exact(payload)}>
          {`\n${payload}`}
        </pre>
        {lines.length < 2 || lines.length > MAX_COPIED_LINES ? null : <Lines guest={guest} lines={lines} />}
      </details>
      <CopyButton target="payload" guest={guest} />
      <p class="hint" aria-live="polite" data-hiding />
    </section>
  )
}

function Lines({ guest, lines }: { guest: Guest; lines: string[] }) {
  return (
    <details class="lines">
      <summary>{guest.words.say('revealed_lines')}</summary>
      <ol>
        {lines.map((line, n) => (
          <li key={n}>
            <code id={`line-${n}`}>{line}</code>
            <CopyButton target={`line-${n}`} guest={guest} />
          </li>
        ))}
      </ol>
    </details>
  )
}

/** Shows where the link leads before anybody follows it: the host alone, then the whole address. */
function Link({ guest, address }: { guest: Guest; address: string }) {
  const { say } = guest.words
  const { host, protocol } = new URL(address)
  return (
    <section class="secret" aria-label={say('revealed_link')}>
      <p>
        {say('revealed_leads_to')} <strong dir="ltr">{host}</strong>
      </p>
      {protocol === 'http:' ? <p class="hint">{say('revealed_in_the_clear')}</p> : null}
      <pre id="payload" dir="ltr">
        {`\n${address}`}
      </pre>
      <div class="actions">
        <CopyButton target="payload" guest={guest} />
        <a
          class="button primary"
          href={address}
          rel="noreferrer noopener nofollow"
          referrerpolicy="no-referrer"
        >
          {say('revealed_go', { host })}
        </a>
      </div>
    </section>
  )
}

function Code({ guest, payload }: { guest: Guest; payload: string }) {
  const { say } = guest.words
  return (
    <section class="secret" aria-label={say('kind_qr')}>
      {fitsQr(payload) ? (
        <QrCode text={payload} label={say('revealed_qr')} />
      ) : (
        <p>{say('revealed_qr_large')}</p>
      )}
      <details>
        <summary>{say('revealed_qr_content')}</summary>
        <pre id="payload" {...exact(payload)}>{`\n${payload}`}</pre>
      </details>
      <CopyButton target="payload" guest={guest} />
    </section>
  )
}

function Files({ guest, files }: { guest: Guest; files: GrantedFile[] }) {
  const { words, basePath } = guest
  return (
    <section aria-labelledby="files-title">
      <h2 id="files-title">{words.say('files')}</h2>
      <ul class="downloads">
        {files.map(({ id, filename, size, grant }) => (
          <li key={id}>
            <a
              href={`${basePath}${FILES.download.href({ grant })}`}
              download={filename}
              data-downloads={size}
              data-rate={words.say('download_rate')}
              data-done={words.say('download_done')}
              data-broken={words.say('download_broken')}
              data-cancel={words.say('cancel')}
            >
              <bdi>{filename}</bdi>
            </a>{' '}
            <span class="hint">{words.bytes(size)}</span>
          </li>
        ))}
      </ul>
      <p class="hint">{words.say('files_grant')}</p>
    </section>
  )
}

function Remaining({ guest, retrieval: { push } }: { guest: Guest; retrieval: View }) {
  const { words } = guest
  const n = viewsRemaining(push)
  if (n === 0) return <p class="remaining">{words.say('revealed_last')}</p>
  const [before, after] = words.say('revealed_remaining', { n }).split('{until}')
  return (
    <p class="remaining">
      {before}
      <Moment at={push.expiresAt} words={words} />
      {after}
    </p>
  )
}
