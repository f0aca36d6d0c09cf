// Draws a QR code on a terminal: two modules in each character, in fixed colours so that it scans with any
// theme.

/** Returns lines of half blocks, white on black. Throws when the text is too long for any QR code. */
export function drawQr(text: string): string {
  // Loaded only when needed, because most commands draw none.
  const { default: encodeQr }: typeof import('qr') = require('qr')
  const lines = encodeQr(text, 'ascii', { border: 2 }).trimEnd().split('\n')
  return lines.map((line) => `\x1b[97;40m${line}\x1b[0m`).join('\n')
}
