// Names of programs for the log, read from User-Agent headers.

import type { Words } from '../../words/words.ts'

/** Matches the name at the start of a User-Agent that is not a browser's (RFC 9110, 10.1.5). */
const OWN_NAME = /^([\p{L}\p{N}][\p{L}\p{N} ._+-]{0,60}?)(?:\/(v?\d[\w.+-]{0,20}))?(?=[\s;(]|$)/u

/** Returns a name like "Chrome on Linux" or "curl 8.5.0". */
export function programOf(userAgent: string, { say }: Words): string {
  if (userAgent.trim() === '') return say('agent_unknown')
  const { browser, os } = isOfBrowser(userAgent) ? parse(userAgent) : { browser: '', os: '' }
  if (browser !== '' && os !== '') return say('agent_on', { program: browser, system: os })
  if (browser !== '') return browser
  const [, name, version] = OWN_NAME.exec(userAgent) ?? []
  if (name === undefined || name === 'Mozilla') return say('agent_unknown')
  return version === undefined ? name : `${name} ${version}`
}

function isOfBrowser(userAgent: string): boolean {
  return /^(?:Mozilla|Opera)\//.test(userAgent)
}

function parse(userAgent: string): { browser: string; os: string } {
  // Load lazily, with the first list of visits.
  const { getParser }: typeof import('bowser') = require('bowser')
  const parser = getParser(userAgent)
  return { browser: parser.getBrowserName(), os: parser.getOSName() }
}
