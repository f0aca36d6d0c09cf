// A QR code on a terminal: two modules in each character, in fixed colours so that it scans with any theme.

const QUIET = 2

/** Lines of half blocks, black on white. Throws when the text is too long for any QR code. */
export function drawQr(text: string): string {
  // Loaded here, because most commands draw none.
  const { default: encodeQr }: typeof import('qr') = require('qr')
  const modules = encodeQr(text, 'raw', { border: QUIET })
  const rows = modules.length
  const lines: string[] = []
  for (let y = 0; y < rows; y += 2) {
    const upper = modules[y] ?? []
    const lower = modules[y + 1] ?? []
    const blocks = upper.map((dark, x) => blockOf(dark, lower[x] ?? false)).join('')
    lines.push(`\x1b[30;107m${blocks}\x1b[0m`)
  }
  return lines.join('\n')
}

function blockOf(upper: boolean, lower: boolean): string {
  if (upper) return lower ? '█' : '▀'
  return lower ? '▄' : ' '
}
