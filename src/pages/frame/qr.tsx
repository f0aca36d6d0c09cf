// A QR code as a self-contained SVG, black on white in every colour scheme.

const QUIET_ZONE = 4
const PIXELS_A_MODULE = 6

/** Sets its size and colours itself, because some clients render it without the style sheet. */
export function QrCode({ text, label }: { text: string; label: string }) {
  // Load lazily, with the first page that shows a code.
  const { default: encodeQr }: typeof import('qr') = require('qr')
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
      aria-label={label}
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={squares.join('')} fill="#000" />
    </svg>
  )
}

/** The capacity in bytes of the largest QR code (ISO/IEC 18004, version 40, level M). */
const MAX_BYTES = 2331

export function fitsQr(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_BYTES
}
