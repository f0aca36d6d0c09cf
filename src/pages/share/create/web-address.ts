// Completes a web address as people type it. The browser runs this too, to show what will be shared.

import { authorityOf } from '../../../text/web-address.ts'

/** Schemes that digits may follow. Any other `name:digits` is a host and port. */
const NO_HOSTS = /^(?:tel|sms|geo|data|mailto|javascript|about|blob|file):/i
const PORT = /:\d{1,5}$/

/**
 * Adds `https://` to `www.example.org`, `nas:5000` and the like. Leaves any other text unchanged; the check
 * refuses it.
 */
export function completeWebAddress(typed: string): string {
  const text = typed.trim()
  if (/^[a-z][a-z\d+.-]*:(?!\d)/i.test(text) || NO_HOSTS.test(text)) return text
  const bare = text.replace(/^\/\//, '')
  const completed = `https://${bare}`
  return authorityOf(completed) !== null && beginsWithHost(bare) ? completed : text
}

function beginsWithHost(text: string): boolean {
  const authority = /^[^/?#]*/.exec(text)?.[0] ?? ''
  const host = authority.replace(PORT, '')
  if (/^\[[\da-f:.]+\]$/i.test(host) || /^(?:\d{1,3}\.){3}\d{1,3}$/.test(host)) return true
  if (/^(?:[\p{L}\p{M}\p{N}_-]+\.)+\p{L}[\p{L}\p{M}\p{N}-]*\.?$/u.test(host)) return true
  // A single word may be anything, even a password. With a port or a path it is a host name of the local
  // network.
  const isWord = /^\p{L}[\p{L}\p{M}\p{N}_-]*$/u.test(host)
  return isWord && (host === 'localhost' || PORT.test(authority) || text[authority.length] === '/')
}
