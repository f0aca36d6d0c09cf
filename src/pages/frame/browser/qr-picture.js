// Draws QR codes, in black and white in every colour scheme.

import encodeQr from 'qr'

const SVG = 'http://www.w3.org/2000/svg'
const QUIET_ZONE = 4

/** Returns null if the text is too long for any QR code. */
export function modulesOf(text) {
  try {
    return encodeQr(text, 'raw', { border: QUIET_ZONE })
  } catch {
    return null
  }
}

export function pictureOf(modules) {
  const picture = document.createElementNS(SVG, 'svg')
  picture.setAttribute('viewBox', `0 0 ${modules.length} ${modules.length}`)
  picture.setAttribute('shape-rendering', 'crispEdges')
  const ground = document.createElementNS(SVG, 'rect')
  ground.setAttribute('width', modules.length)
  ground.setAttribute('height', modules.length)
  ground.setAttribute('fill', '#fff')
  const squares = document.createElementNS(SVG, 'path')
  const paths = modules.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
  squares.setAttribute('d', paths.join(''))
  picture.append(ground, squares)
  return picture
}
