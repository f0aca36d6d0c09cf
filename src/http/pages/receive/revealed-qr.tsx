// The opened QR code, and the text that it holds.

import type { Guest } from '../frame/guest.ts'
import { CopyButton } from '../frame/parts.tsx'
import { fitsQr, QrCode } from '../frame/qr.tsx'
import { asPre, exact } from './revealed-text.tsx'

export function RevealedQr({ guest, payload }: { guest: Guest; payload: string }) {
  const { say } = guest.words
  return (
    <section class="secret code" aria-label={say('revealed_qr')}>
      {fitsQr(payload) ? (
        <QrCode text={payload} label={say('revealed_qr')} />
      ) : (
        <p>{say('revealed_qr_large')}</p>
      )}
      <div>
        <h2>{say('revealed_qr_content')}</h2>
        <pre id="payload" tabIndex={0} {...exact(payload)}>
          {asPre(payload)}
        </pre>
        <div class="actions unprinted">
          <CopyButton target="payload" guest={guest} look="primary" />
        </div>
      </div>
    </section>
  )
}
