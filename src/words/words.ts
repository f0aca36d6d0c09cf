// The words of the interface: one catalogue a language, chosen by the person or the browser; dates and numbers by Intl. A test
// checks each catalogue against en.json: the same keys, the same parameters, the plurals of its language.

import { DAY, HOUR, MINUTE, SECOND } from '../domain/time.ts'
import { createSayBytes } from './bytes.ts'
import en from './en.json'

/** A text, or one for each plural of its parameter `n`. `{name}` stands for a parameter. */
export type Text = string | ({ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>)

export type WordKey = keyof typeof en
export type Catalogue = Record<WordKey, Text>
export type Parameters = Record<string, string | number>

export const LANGUAGES = ['en', 'de', 'fr', 'es', 'ja', 'ar'] as const
export type Language = (typeof LANGUAGES)[number]

/** Loaded when a language is first used, because most servers never use all of them. */
export const CATALOGUES: Record<Language, () => Catalogue> = {
  en: () => en,
  de: () => require('./de.json'),
  fr: () => require('./fr.json'),
  es: () => require('./es.json'),
  ja: () => require('./ja.json'),
  ar: () => require('./ar.json'),
}

/** How each language calls itself. */
export const LANGUAGE_NAMES: Record<Language, string> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  ja: '日本語',
  ar: 'العربية',
}

export type Words = ReturnType<typeof createWords>

const created = new Map<Language, Words>()

/** Made once for each language, because creating the formatters is slow. */
export function wordsOf(language: Language): Words {
  const known = created.get(language) ?? createWords(language)
  created.set(language, known)
  return known
}

function createWords(language: Language) {
  const catalogue = CATALOGUES[language]()
  const plurals = new Intl.PluralRules(language)
  const numbers = new Intl.NumberFormat(language)
  const locale = FORMATS[language] ?? language
  const moments = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short' })
  const relatives = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' })
  const clocks = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
  const zoned = new Intl.DateTimeFormat(locale, { timeZoneName: 'short' })
  const bytes = createSayBytes(language)

  function say(key: WordKey, parameters: Parameters = {}): string {
    const text = catalogue[key]
    const { n } = parameters
    const form = typeof text === 'string' ? text : (text[plurals.select(Number(n))] ?? text.other)
    return form.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const value = parameters[name]
      return value === undefined ? whole : typeof value === 'number' ? numbers.format(value) : value
    })
  }

  /** A moment in the time zone of this server; a script converts it to the reader's. */
  function moment(time: number): string {
    return `${moments.format(time)} ${zoneAt(time)}`
  }

  /** The time of the day alone. */
  function clock(time: number): string {
    return `${clocks.format(time)} ${zoneAt(time)}`
  }

  function zoneAt(time: number): string {
    return zoned.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  }

  /** A text with all its plurals, for a script. */
  const forms = (key: WordKey): Text => catalogue[key]

  /** "3 min. ago", "in 6 days": in the largest unit of which there is one. Under a minute in words that fit into a sentence. */
  function relative(time: number, now: number): string {
    const distance = time - now
    const found = RELATIVE_UNITS.find(([, length]) => Math.abs(distance) >= length)
    if (found === undefined) return say(distance > 0 ? 'moment_ahead' : 'moment_past')
    const [unit, size] = found
    return relatives.format(Math.round(distance / size), unit)
  }

  /** "7 sec. ago", for what happened a short time ago. */
  function ago(ms: number): string {
    return relatives.format(-Math.round(Math.max(0, ms) / SECOND), 'second')
  }

  /** "2.5 minutes": in the largest unit of which there is one, and a tenth of a second at least. */
  function duration(ms: number): string {
    const [unit, size] = DURATION_UNITS.find(([, length]) => ms >= length) ?? ['second', SECOND]
    const style = { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 1 } as const
    return new Intl.NumberFormat(language, style).format(Math.max(0.1, ms / size))
  }

  const direction = language === 'ar' ? 'rtl' : 'ltr'
  return {
    language,
    direction,
    say,
    forms,
    moment,
    relative,
    ago,
    duration,
    clock,
    bytes,
    number: (value: number) => numbers.format(value),
  } as const
}

/** The formats for languages whose default is that of one country: English with the day first and 24 hours. */
const FORMATS: Partial<Record<Language, string>> = { en: 'en-GB' }

const DURATION_UNITS: ['hour' | 'minute', number][] = [
  ['hour', HOUR],
  ['minute', MINUTE],
]

const RELATIVE_UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
]

/** More than browsers send. A longer header is ignored. */
const MAX_ACCEPTED_CHARACTERS = 300

/** The first of the wanted languages that is supported. `accepted` is an Accept-Language header (RFC 9110, 12.5.4). */
export function chooseLanguage(wanted: {
  asked: string | null
  kept: string | null
  accepted: string | null
}) {
  const header = wanted.accepted ?? ''
  const readable = header.length > MAX_ACCEPTED_CHARACTERS ? '' : header
  const listed = readable.split(',').map((item) => {
    const [tag = '', parameter] = item.split(';')
    const quality = parameter?.trim().replace(/^q=/, '')
    return { tag: tag.trim(), quality: quality === undefined ? 1 : Number(quality) || 0 }
  })
  const accepted = listed
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag)
  const tags = [wanted.asked, wanted.kept, ...accepted]
  return tags.map(languageOf).find((language) => language !== null) ?? 'en'
}

/** The supported language of a tag (BCP 47), ignoring its country; null for any other. */
export function languageOf(tag: string | null): Language | null {
  const primary = tag?.toLowerCase().split('-', 1)[0]
  return LANGUAGES.find((language) => language === primary) ?? null
}
