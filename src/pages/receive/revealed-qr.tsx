// The opened QR code, and what it holds: the fields of a Wi-Fi network by name, and the text itself.

import type { Guest } from '../frame/guest.ts'
import { CopyButton } from '../frame/parts.tsx'
import { fitsQr, QrCode } from '../frame/qr.tsx'
import { parseWifi } from '../frame/wifi-text.ts'
import { asPre, exact } from './revealed-text.tsx'
import { RevealedWifi } from './revealed-wifi.tsx'

type QrProps = { guest: Guest; payload: string }

export function RevealedQr({ guest, payload }: QrProps) {
  const { say } = guest.words
  const wifi = parseWifi(payload)
  return (
    <section class="secret code" aria-label={say('revealed_qr')}>
      {fitsQr(payload) ? (
        <QrCode text={payload} label={say('revealed_qr')} />
      ) : (
        <p>{say('revealed_qr_large')}</p>
      )}
      <div>
        {wifi === null ? (
          <>
            <h2>{say('revealed_qr_content')}</h2>
            <Content guest={guest} payload={payload} look="primary" />
          </>
        ) : (
          <>
            <h2>{say('wifi')}</h2>
            <RevealedWifi guest={guest} wifi={wifi} />
            <details class="unprinted">
              <summary>{say('revealed_qr_content')}</summary>
              <Content guest={guest} payload={payload} look="quiet" />
            </details>
          </>
        )}
      </div>
    </section>
  )
}

function Content({ guest, payload, look }: QrProps & { look: 'primary' | 'quiet' }) {
  return (
    <>
      <pre id="payload" dir="auto" tabIndex={0} {...exact(payload)}>
        {asPre(payload)}
      </pre>
      <div class="actions unprinted">
        <CopyButton target="payload" guest={guest} look={look} />
      </div>
    </>
  )
}
