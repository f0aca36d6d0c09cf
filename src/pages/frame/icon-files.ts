// The icons that pages use, from Lucide. To use another one, add its name here. Import `drawSymbols` as a
// macro: it reads the files while Oncebox is built.

import { readFileSync } from 'node:fs'

export const ICON_NAMES = [
  // Not part of Lucide.
  'mark',
  'check',
  'circle-alert',
  'circle-check',
  'circle-user-round',
  'circle-x',
  'clock',
  'copy',
  'copy-plus',
  'dices',
  'download',
  'ellipsis-vertical',
  'external-link',
  'eye',
  'eye-off',
  'file',
  'file-text',
  'folder-archive',
  'globe',
  'history',
  'hourglass',
  'inbox',
  'info',
  'key-round',
  'link',
  'list',
  'lock',
  'lock-open',
  'log-in',
  'log-out',
  'mail',
  'menu',
  'message-square-text',
  'pencil',
  'plus',
  'qr-code',
  'save',
  'search',
  'settings',
  'share-2',
  'shield-check',
  'sliders-horizontal',
  'trash-2',
  'triangle-alert',
  'upload',
  'user',
  'users',
  'wand-sparkles',
  'wifi',
] as const

export type IconName = (typeof ICON_NAMES)[number]

/** Returns each icon as a named symbol, without size and colours, which the style sheet sets. */
export function drawSymbols(): Record<string, string> {
  return Object.fromEntries(ICON_NAMES.map((name) => [name, symbolOf(name)]))
}

function symbolOf(name: IconName): string {
  const path = name === 'mark' ? './mark.svg' : `lucide-static/icons/${name}.svg`
  const file = readFileSync(Bun.resolveSync(path, import.meta.dir), 'utf8')
  const [, viewBox = '0 0 24 24'] = /viewBox="([\d ]+)"/.exec(file) ?? []
  const drawing = file
    .slice(file.indexOf('>', file.indexOf('<svg')) + 1, file.lastIndexOf('</svg>'))
    .replace(/\s+/g, ' ')
    .replace(/> </g, '><')
    .trim()
  return `<symbol id="icon-${name}" viewBox="${viewBox}">${drawing}</symbol>`
}
