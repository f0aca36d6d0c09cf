// Reads the QR codes of the pages, as a camera would.

import decodeQr from 'qr/decode.js'

/** Draws the squares of the path, as a client would that rasterises the code. */
export function readQr(svg: string): string {
  const size = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1])
  const scale = 4
  const data = new Uint8Array((size * scale) ** 2 * 4).fill(255)
  for (const [, x, y] of svg.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    for (let at = 0; at < scale * scale; at += 1) {
      const row = Number(y) * scale + Math.floor(at / scale)
      const pixel = (row * size * scale + Number(x) * scale + (at % scale)) * 4
      data.fill(0, pixel, pixel + 3)
    }
  }
  return decodeQr({ width: size * scale, height: size * scale, data })
}
