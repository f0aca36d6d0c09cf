// The texts of the interface: complete catalogues, no unused key, and the choice of a language.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Glob } from 'bun'
import { languageOf } from '../../src/domain/language.ts'
import { readCatalogue } from '../../src/words/catalogues.ts'
import {
  acceptedLanguages,
  chooseLanguage,
  LANGUAGES,
  type Language,
  type Text,
  tagOf,
  type WordKey,
  wordsOf,
} from '../../src/words/words.ts'

const SRC = resolve(import.meta.dir, '../../src')
const CATALOGUES = new Map(LANGUAGES.map((language) => [language, readCatalogue(language)]))
const catalogueOf = (language: Language) => CATALOGUES.get(language) ?? readCatalogue(language)
const ENGLISH = catalogueOf('en')
const KEYS = Object.keys(ENGLISH) as WordKey[]

const WORDS = resolve(import.meta.dir, '../../src/words/words.ts')

const sources = [...new Glob('{http,api,pages,notices}/**/*.{ts,tsx}').scanSync(SRC)]
  .filter((path) => !path.includes('words/'))
  .map((path) => join(SRC, path))
  .concat(WORDS)
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n')

/** Keys that the code composes from a code, a name or a state. */
const COMPOSED = new RegExp(
  [
    '^(problem|error|job|event|kind|sort|unit|delivery_error|health)_',
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
  expect(Object.keys(catalogueOf(language))).toEqual(KEYS)
  for (const key of KEYS) {
    for (const form of formsOf(catalogueOf(language)[key])) {
      expect({ key, isThere: form.trim() !== '' }).toEqual({ key, isThere: true })
    }
  }
})

test.each(LANGUAGES)('%s keeps the parameters of every text', (language) => {
  for (const key of KEYS) {
    const wanted = new Set(formsOf(ENGLISH[key]).flatMap(parametersOf))
    const text = catalogueOf(language)[key]
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
const NOT_ON_PAGES: Partial<Record<Language, RegExp>> = {
  en: /\b[Pp]ush(es)?\b|\b[Vv]iews\b|\bview(ed)?\b/,
  de: /Übergabe|Aufruf/,
  fr: /consultation|\bpartages\b/,
  es: /visualizaci|envíos/,
  ja: /閲覧|件の共有/,
  ar: /مشاهدة|مشاركات/,
}

test.each(Object.entries(NOT_ON_PAGES) as [Language, RegExp][])(
  '%s speaks of secrets and how often they were opened',
  (language, term) => {
    const isOdd = (text: string) => term.test(text.replace(/\{\w+\}/g, ''))
    expect(KEYS.filter((key) => formsOf(catalogueOf(language)[key]).some(isOdd))).toEqual([])
  },
)

/** Returns the whole numbers of each plural of a language. */
function numbersOf(language: Language): Map<Intl.LDMLPluralRule, number[]> {
  const rules = new Intl.PluralRules(tagOf(language))
  return Map.groupBy(
    Array.from({ length: 211 }, (_, n) => n),
    (n) => rules.select(n),
  )
}

test.each(LANGUAGES)(
  '%s has each plural of its numbers, and says the number where it is not certain',
  (language) => {
    const numbers = numbersOf(language)
    const known = new Intl.PluralRules(tagOf(language)).resolvedOptions().pluralCategories
    const needed = [...new Set([...numbers.keys(), 'other' as const])]
    for (const key of KEYS) {
      const text = catalogueOf(language)[key]
      const lacksPlurals = typeof text === 'string' && typeof ENGLISH[key] !== 'string' && needed.length > 1
      expect({ key, lacksPlurals }).toEqual({ key, lacksPlurals: false })
      if (typeof text === 'string') continue
      const forms = Object.keys(text) as Intl.LDMLPluralRule[]
      expect({ key, missing: needed.filter((form) => !forms.includes(form)) }).toEqual({ key, missing: [] })
      expect({ key, unknown: forms.filter((form) => !known.includes(form)) }).toEqual({ key, unknown: [] })
      const number = parametersOf(text.other).find((name) => name === 'n' || name === 'limit')
      if (number === undefined) continue
      const silent = forms.filter(
        (form) => numbers.get(form)?.length !== 1 && !parametersOf(text[form] ?? '').includes(number),
      )
      expect({ key, silent }).toEqual({ key, silent: [] })
    }
  },
)

/** Flags, addresses, names of files and commands, and line breaks, which no language translates. */
const KEPT = /--[a-z-]+|https?:\/\/|ann@example\.org|\bage1\b|oncebox(?:\.\w+)?|\/[a-z/-]+\/|\n/g

test.each(LANGUAGES)('%s keeps flags, addresses and lines, and uses the marks of print', (language) => {
  for (const key of KEYS) {
    const english = formsOf(ENGLISH[key])[0] ?? ''
    for (const form of formsOf(catalogueOf(language)[key])) {
      const marks = (text: string) => (text.match(KEPT) ?? []).sort()
      expect({ key, kept: marks(form) }).toEqual({ key, kept: marks(english) })
      const odd = /"|(?<=\s)'|\.\.\.| {2}|^\s|\s$/.exec(form)
      expect({ key, form, odd: odd?.[0] }).toEqual({ key, form, odd: undefined })
    }
  }
})

test.each(LANGUAGES)('%s leaves no sentence in English', (language) => {
  if (language === 'en') return
  const sentences = KEYS.filter((key) => /\w+ \w+ \w+/.test(formsOf(ENGLISH[key])[0] ?? ''))
  expect(sentences.length).toBeGreaterThan(500)
  const catalogue = catalogueOf(language)
  expect(sentences.filter((key) => formsOf(catalogue[key])[0] === formsOf(ENGLISH[key])[0])).toEqual([])
})

/** The keys of the texts within buttons. */
const BUTTONS = [...sources.matchAll(/<(button|Submit)\b[\s\S]*?<\/\1>|<a class="button[\s\S]*?<\/a>/g)]
  .map(([element]) => element.replace(/(?:aria-label|title)=\{[^}]*\}/g, ''))
  .flatMap((element) => [...element.matchAll(/say\('(\w+)'/g)].map(([, key]) => key))
  .filter((key): key is WordKey => KEYS.some((known) => known === key))
/** A button may also be a few letters longer than a short English word. */
const SHORT_WORD = 6
/** Texts of buttons that are shown for a moment, or only to screen readers. */
const NOT_BUTTONS = ['copied', 'copy_failed', 'labelled']

test.each(LANGUAGES)('%s has no button that is 1.6 times as long as in English', (language) => {
  expect(BUTTONS.length).toBeGreaterThan(40)
  const catalogue = catalogueOf(language)
  const lengthOf = (text: Text) => [...(formsOf(text)[0] ?? '').normalize('NFC')].length
  const isLong = (key: WordKey) => {
    const english = lengthOf(ENGLISH[key])
    return lengthOf(catalogue[key]) > Math.max(Math.round(1.6 * english), english + SHORT_WORD)
  }
  const long = BUTTONS.filter((key) => !NOT_BUTTONS.includes(key) && isLong(key))
  expect(long.map((key) => `${key}: ${catalogue[key]}`)).toEqual([])
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

test('relative times fit into a sentence, even under a minute', () => {
  const NOW = Date.parse('2026-11-27T14:05:00Z')
  const opened = (['en', 'de', 'fr', 'es', 'ja', 'ar'] as const).map((language) => {
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
  [null, null, 'et-EE, fr;q=0.5, es;q=0.7', 'es'],
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

test.each([
  ['no', 'nb'],
  ['nn-NO', 'nb'],
  ['en-GB', 'en'],
  ['zh-CN', 'zh-Hans'],
  ['zh', 'zh-Hans'],
  ['zh-SG', 'zh-Hans'],
  ['zh-TW', 'zh-Hant'],
  ['zh-Hant-HK', 'zh-Hant'],
  ['zh-HK', 'zh-Hant'],
  ['pt', 'pt-BR'],
  ['pt_br', 'pt-BR'],
  ['pt-AO', 'pt-PT'],
  ['sr-Latn-RS', 'sr'],
  ['sr-RS', 'sr'],
  ['iw-IL', 'he'],
  ['in', 'id'],
  ['fil', null],
  ['x', null],
  ['', null],
  [`de-${'a-'.repeat(20)}`, null],
] as const)('the tag %p leads to %p', (tag, language) => {
  expect(languageOf(tag)).toBe(language)
})

test('the languages that a browser accepts are in its order, each once', () => {
  const header = 'de-AT;q=0.7, xx, no, en-GB;q=0.8, en;q=0.7, *;q=0.1, fr;q=0'
  expect(acceptedLanguages(header)).toEqual(['nb', 'en', 'de'])
})

test('a label and its text are joined by the punctuation of the language', () => {
  const join = (language: 'de' | 'fr') => wordsOf(language).say('labelled', { label: 'Nom', text: 'Ada' })
  expect([join('de'), join('fr')]).toEqual(['Nom: Ada', 'Nom : Ada'])
})

test('a name keeps its own direction in a right-to-left text', () => {
  const sign = (language: 'en' | 'ar') => wordsOf(language).say('copy_named', { name: '+office.' })
  expect([sign('en'), sign('ar')]).toEqual(['Copy +office.', expect.stringContaining('\u2068+office.\u2069')])
})
