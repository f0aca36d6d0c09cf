// The texts of the interface: complete catalogues, no unused key, and the choice of a language.

import { expect, test } from 'bun:test'
import { join, resolve } from 'node:path'
import { Glob } from 'bun'
import {
  CATALOGUES,
  chooseLanguage,
  LANGUAGES,
  type Text,
  type WordKey,
  wordsOf,
} from '../../src/words/words.ts'

const SRC = resolve(import.meta.dir, '../../src')
const KEYS = Object.keys(CATALOGUES.en()) as WordKey[]

const WORDS = resolve(import.meta.dir, '../../src/words/words.ts')

const sources = [...new Glob('{http,api,pages,notices}/**/*.{ts,tsx}').scanSync(SRC)]
  .filter((path) => !path.includes('words/'))
  .map((path) => join(SRC, path))
  .concat(WORDS)
  .map((path) => require('node:fs').readFileSync(path, 'utf8'))
  .join('\n')

/** Keys that the code composes from a code, a name or a state. */
const COMPOSED = new RegExp(
  [
    '^(problem|error|job|event|kind|sort|unit|webhook_error)_',
    '^pushes_(received|waiting|opened|ending|unseen|lost|active|new|expired)$',
    '^appearance_(name|contact|notice)(_hint)?$',
    '^audit_(creation|creation_email_send|expire|lock|unlock|edit)$',
    '^audit_(view|failed_view|owner_view|admin_view|failed_passphrase)$',
    '^(setup|invite|reset)_(title|lead)$',
    '^mail_(invite|reset)(_subject)?$',
    '^outage_(overloaded|files_unreachable|disk_full)$',
    '^(upload|answer)_(cancelled|cancelled_late|broken)$',
  ].join('|'),
)

const formsOf = (text: Text): string[] => (typeof text === 'string' ? [text] : Object.values(text))

const parametersOf = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')

test('every key is used, and every used key exists', () => {
  const isUsed = (key: string) => COMPOSED.test(key) || new RegExp(`['"]${key}['"]`).test(sources)
  expect(KEYS.filter((key) => !isUsed(key))).toEqual([])
  const said = [...sources.matchAll(/\bsay\(\s*'(\w+)'/g)].map(([, key]) => key ?? '')
  expect(said.length).toBeGreaterThan(100)
  expect(said.filter((key) => !KEYS.some((known) => known === key))).toEqual([])
})

test.each(LANGUAGES)('%s has every key and no other, and no empty text', (language) => {
  expect(Object.keys(CATALOGUES[language]())).toEqual(KEYS)
  for (const key of KEYS) {
    for (const form of formsOf(CATALOGUES[language]()[key])) {
      expect({ key, isThere: form.trim() !== '' }).toEqual({ key, isThere: true })
    }
  }
})

test.each(LANGUAGES)('%s keeps the parameters of every text', (language) => {
  for (const key of KEYS) {
    const wanted = new Set(formsOf(CATALOGUES.en()[key]).flatMap(parametersOf))
    const text = CATALOGUES[language]()[key]
    const other = typeof text === 'string' ? text : text.other
    // A language may omit `min` where English has no choice either.
    const given = new Set(formsOf(text).flatMap(parametersOf))
    expect({ key, given: [...given].sort() }).toEqual({ key, given: [...wanted].sort() })
    for (const form of formsOf(text)) {
      for (const name of parametersOf(form)) expect(wanted.has(name)).toBe(true)
    }
    expect(new Set(parametersOf(other))).toEqual(wanted)
  }
})

/** The terms of the API and the commands for a secret and its views: docs/words.md. */
const NOT_ON_PAGES: Record<(typeof LANGUAGES)[number], RegExp> = {
  en: /\b[Pp]ush(es)?\b|\b[Vv]iews\b|\bview(ed)?\b/,
  de: /Übergabe|Aufruf/,
  fr: /consultation|\bpartages\b/,
  es: /visualizaci|envíos/,
  ja: /閲覧|件の共有/,
  ar: /مشاهدة|مشاركات/,
}

test.each(LANGUAGES)('%s speaks of secrets and how often they were opened', (language) => {
  const isOdd = (text: string) => NOT_ON_PAGES[language].test(text.replace(/\{\w+\}/g, ''))
  expect(KEYS.filter((key) => formsOf(CATALOGUES[language]()[key]).some(isOdd))).toEqual([])
})

test.each(LANGUAGES)('%s has the plural forms that its numbers need', (language) => {
  const needed = new Intl.PluralRules(language)
  for (const key of KEYS) {
    const text = CATALOGUES[language]()[key]
    if (typeof text === 'string') continue
    const known: string[] = needed.resolvedOptions().pluralCategories
    expect({ key, unknown: Object.keys(text).filter((form) => !known.includes(form)) }).toEqual({
      key,
      unknown: [],
    })
  }
})

test('numbers, plurals and times follow the language', () => {
  const de = wordsOf('de')
  expect(wordsOf('en').say('views', { n: 1 })).toBe('once')
  expect(wordsOf('en').say('views', { n: 1000 })).toBe('1,000 times')
  expect(de.say('views', { n: 1000 })).toContain('1.000')
  expect(wordsOf('en').moment(Date.parse('2026-11-27T14:05:00Z'))).toMatch(
    /^2[78] November 2026 at \d\d:\d[05] \S+/,
  )
  expect(de.moment(Date.parse('2026-11-27T12:05:00Z'))).toContain('. November 2026')
  expect(wordsOf('ar').direction).toBe('rtl')
  expect(wordsOf('en').bytes(4 * 1024 ** 3)).toBe('4\u00a0GiB')
  expect(wordsOf('en').bytes(1024 ** 2)).toBe('1\u00a0MiB')
  expect(de.bytes(1.5 * 1024)).toBe('1,5\u00a0KiB')
  expect(wordsOf('fr').bytes(1024 ** 2)).toBe('1\u00a0Mio')
  expect(wordsOf('en').bytes(1023)).toBe('1,023 bytes')
  expect(wordsOf('en').bytes(7)).toBe('7 bytes')
  expect(wordsOf('en').bytes(1)).toBe('1 byte')
  expect(de.bytes(7)).toBe('7 Byte')
})

test('relative times fit into a sentence in every language, even under a minute', () => {
  const NOW = Date.parse('2026-11-27T14:05:00Z')
  const opened = LANGUAGES.map((language) => {
    const words = wordsOf(language)
    return words.say('state_read').replace('{when}', words.relative(NOW - 59_999, NOW))
  })
  expect(opened).toEqual([
    'Read just now',
    'Gelesen gerade eben',
    'Lu à l’instant',
    'Leído hace un momento',
    '既読: たった今',
    'قُرئ قبل لحظات',
  ])
  const en = wordsOf('en')
  expect(en.relative(NOW, NOW)).toBe('just now')
  expect(en.relative(NOW + 1, NOW)).toBe('in less than a minute')
  expect(en.relative(NOW - 60_000, NOW)).toBe('1 min. ago')
})

test.each([
  [null, null, null, 'en'],
  [null, null, 'de-AT,de;q=0.9,en;q=0.8', 'de'],
  [null, null, 'pt-BR, fr;q=0.5, es;q=0.7', 'es'],
  [null, null, 'de;q=0, ja', 'ja'],
  [null, 'fr', 'de', 'fr'],
  ['ar', 'fr', 'de', 'ar'],
  ['xx', null, 'de', 'de'],
  ['../../etc', '<script>', ';;;q=x,,', 'en'],
  [null, null, `${'x,'.repeat(149)}de`, 'de'],
  [null, null, `${'x,'.repeat(149)}de,`, 'en'],
] as const)(
  'with ?locale=%p, cookie %p and Accept-Language %p the language is %s',
  (asked, kept, accepted, language) => {
    expect(chooseLanguage({ asked, kept, accepted })).toBe(language)
  },
)

test('a label and its text are joined by the punctuation of the language', () => {
  const join = (language: 'de' | 'fr') => wordsOf(language).say('labelled', { label: 'Nom', text: 'Ada' })
  expect([join('de'), join('fr')]).toEqual(['Nom: Ada', 'Nom : Ada'])
})

test('a name keeps its own direction in a right-to-left text', () => {
  const sign = (language: 'en' | 'ar') => wordsOf(language).say('copy_named', { name: '+office.' })
  expect([sign('en'), sign('ar')]).toEqual(['Copy +office.', expect.stringContaining('\u2068+office.\u2069')])
})
