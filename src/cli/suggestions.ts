// "Did you mean": the known word that is nearest to an unknown one, or that other programs call so.

import { nearestWord } from '../domain/nearest-word.ts'

/** Our commands, and the words that other programs use for them. */
const SYNONYMS: Record<string, string> = {
  push: 'create send share new upload put paste',
  get: 'receive read fetch open download show retrieve cat',
  expire: 'delete remove rm burn revoke destroy',
  list: 'ls pushes show all',
  audit: 'log logs history events',
  serve: 'start run server up daemon',
  config: 'settings configuration env',
  login: 'signin auth connect',
  logout: 'signout',
  logins: 'profiles whoami servers',
  user: 'users account accounts',
  token: 'tokens apikey',
  add: 'create new make',
  create: 'add new make',
  remove: 'delete rm del',
  revoke: 'delete remove rm',
  password: 'passwd reset',
  selftest: 'test check',
}

/** `: did you mean push?`, or `''` when no known word is similar. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = nearestWord(word, known) ?? known.find((candidate) => isSynonym(word, candidate))
  return near === undefined ? '' : `: did you mean ${near}?`
}

function isSynonym(word: string, known: string): boolean {
  const words = Object.hasOwn(SYNONYMS, known) ? (SYNONYMS[known] ?? '') : ''
  return words.split(' ').includes(word.toLowerCase())
}
