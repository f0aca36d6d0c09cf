// The page about a push that was created: its link to give away, as text and as QR code. Opening it is never a view.

import encodeQr from 'qr'
import { isExpired, type Push, viewsRemaining } from '../../domain/push.ts'
import { formatTime, type Now } from '../../domain/time.ts'
import type { Addressed } from '../../services/pushes.ts'
import { answerPage } from '../answers.ts'
import { secretLink } from '../api/push-json.ts'
import type { Route } from '../router.ts'
import type { Assets } from './assets.ts'
import { Page, renderPage } from './page.tsx'

export type CreatedPageOptions = {
  assets: Assets
  /** Throws `not_found`. */
  preview: (urlToken: string) => Addressed
  now: Now
}

export function createAnswerCreated({ assets, preview, now }: CreatedPageOptions): Route['answer'] {
  return ({ exchange: { baseUrl }, params: { url_token = '' } }) => {
    const addressed = preview(url_token)
    const link = secretLink(addressed, baseUrl)
    const page = (
      <Page title="A link to give away" stylesheet={assets.hrefOf('style')}>
        <h1>A link to give away</h1>
        {isExpired(addressed.push, now()) ? (
          <p>This push has expired.</p>
        ) : (
          <Live {...addressed} link={link} />
        )}
      </Page>
    )
    return answerPage(200, renderPage(page), { policy: "style-src 'self'" })
  }
}

function Live({ push, link }: { push: Push; link: string }) {
  const views = viewsRemaining(push)
  const until = formatTime(push.expiresAt).slice(0, 16).replace('T', ' ')
  return (
    <>
      <section aria-label="Link">
        <pre>
          <code>{link}</code>
        </pre>
      </section>
      <p>
        It expires after {views} {views === 1 ? 'view' : 'views'} or on {until} UTC, whichever comes first.
        {push.passphraseRequired ? ' Whoever opens it needs the passphrase.' : ''}
      </p>
      <QrCode text={link} />
    </>
  )
}

const QUIET_ZONE = 4
const PIXELS_A_MODULE = 6

/** Black on white whatever the colours of the page, and complete in itself: some clients draw it elsewhere. */
function QrCode({ text }: { text: string }) {
  const modules = encodeQr(text, 'raw', { border: QUIET_ZONE })
  const size = modules.length
  const squares = modules.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : '')))
  return (
    <svg
      class="qr"
      xmlns="http://www.w3.org/2000/svg"
      viewBox={`0 0 ${size} ${size}`}
      width={size * PIXELS_A_MODULE}
      height={size * PIXELS_A_MODULE}
      shape-rendering="crispEdges"
      role="img"
      aria-label="The link as a QR code"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={squares.join('')} fill="#000" />
    </svg>
  )
}
