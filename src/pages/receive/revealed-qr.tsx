// The opened QR code with its content: the fields of a Wi-Fi network, and the raw text.

import type { Words } from '../../words/words.ts'
import type { Guest } from '../frame/guest.ts'
import { type Fact, Facts } from '../frame/lists.tsx'
import { CopyButton } from '../frame/parts.tsx'
import { fitsQr, QrCode } from '../frame/qr.tsx'
import { parseWifi, WIFI_STANDARDS, type Wifi } from '../frame/wifi-text.ts'
import { asPre, exact } from './revealed-text.tsx'

type QrProps = { guest: Guest; payload: string }

export function RevealedQr({ guest, payload }: QrProps) {
  const { say } = guest
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
            <WifiFacts words={guest.words} wifi={wifi} />
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
        <CopyButton target="payload" words={guest.words} look={look} />
      </div>
    </>
  )
}

/** Shows network, password and security of a Wi-Fi network, for devices without a camera. */
function WifiFacts({ words, wifi }: { words: Words; wifi: Wifi }) {
  const { say } = words
  const copyable = (id: string, label: string, value: string): Fact => [
    label,
    [
      <code id={id} dir="auto" {...exact(value)}>
        {value}
      </code>,
      <CopyButton target={id} words={words} label={say('copy_named', { name: label })} look="bare square" />,
    ],
  ]
  return (
    <>
      <Facts
        look="wifi-facts"
        of={[
          copyable('wifi-network', say('wifi_network'), wifi.network),
          wifi.password !== '' && copyable('wifi-password', say('wifi_password'), wifi.password),
          [say('wifi_type'), <span>{WIFI_STANDARDS[wifi.type] ?? say('wifi_open')}</span>],
        ]}
      />
      {wifi.isHidden && <p class="hint">{say('wifi_hidden')}</p>}
    </>
  )
}
