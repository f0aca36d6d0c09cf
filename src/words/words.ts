// The texts of the interface: one catalogue a language, chosen by the person or the browser; dates and
// numbers by Intl. A test compares each catalogue with en.json: keys, parameters, and the plurals of its
// language.

import { type Language, languageOf, tagOf } from '../domain/language.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../domain/time.ts'
import { createSayBytes } from './bytes.ts'
import { readCatalogue, type Text, type WordKey } from './catalogues.ts'
import { isRightToLeft } from './direction.ts'

export { LANGUAGE_NAMES, LANGUAGES, type Language, tagOf } from '../domain/language.ts'
export type { Text, WordKey } from './catalogues.ts'

/** The English text of a key. An editor shows it beside `say`, as the second type of the call. */
type EnglishOf<K extends WordKey> = K extends keyof EnglishTexts ? EnglishTexts[K] : string
export type Parameters = Record<string, string | number>

export type Words = ReturnType<typeof createWords>

const created = new Map<Language, Words>()

/** Returns the words of a language. They are cached, because creating the formatters is slow. */
export function wordsOf(language: Language): Words {
  const known = created.get(language) ?? createWords(language)
  created.set(language, known)
  return known
}

function createWords(language: Language) {
  const catalogue = readCatalogue(language)
  const tag = tagOf(language)
  const plurals = new Intl.PluralRules(tag)
  const numbers = new Intl.NumberFormat(tag)
  // British English: day first, 24 hours.
  const locale = language === 'en' ? 'en-GB' : tag
  const moments = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short' })
  const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'long' })
  const relatives = new Intl.RelativeTimeFormat(tag, { numeric: 'auto', style: 'short' })
  // Use the long form: in Indonesian the short form of days is "6 h".
  const relativeDays = new Intl.RelativeTimeFormat(tag, { numeric: 'auto' })
  const clocks = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
  const zoned = new Intl.DateTimeFormat(locale, { timeZoneName: 'short' })
  const bytes = createSayBytes(tag)
  const direction = isRightToLeft(tag) ? 'rtl' : 'ltr'

  function say<K extends WordKey, _English = EnglishOf<K>>(key: K, parameters?: Parameters): string {
    const text: Text = catalogue[key]
    const form = typeof text === 'string' ? text : (text[plurals.select(Number(parameters?.n))] ?? text.other)
    if (parameters === undefined) return form
    return form.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const value = parameters[name]
      if (value === undefined) return whole
      return typeof value === 'number' ? numbers.format(value) : isolate(value)
    })
  }

  /**
   * Wraps a value in isolates, so that a name keeps its direction in a right-to-left text (Unicode
   * bidirectional algorithm, 2.7).
   */
  const isolate = (value: string) => (direction === 'rtl' ? `\u2068${value}\u2069` : value)

  /** Formats a time in the time zone of this server; a script converts it to the reader's. */
  function moment(time: number): string {
    return `${moments.format(time)} ${zoneAt(time)}`
  }

  /** Formats the time of day alone. */
  function clock(time: number): string {
    return `${clocks.format(time)} ${zoneAt(time)}`
  }

  /** Names of the time zone by UTC offset, which daylight saving time changes. */
  const zoneNames = new Map<number, string>()

  function zoneAt(time: number): string {
    const distance = new Date(time).getTimezoneOffset()
    const known = zoneNames.get(distance)
    if (known !== undefined) return known
    const name = zoned.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? ''
    zoneNames.set(distance, name)
    return name
  }

  /** Whether there is a text for a key that is put together while the program runs. */
  const knows = (key: string): key is WordKey => Object.hasOwn(catalogue, key)

  /** Returns a text with all its plurals, for a script. */
  const forms = (key: WordKey): Text => catalogue[key]

  /**
   * Formats as "3 min. ago" or "in 6 days", in the largest unit that fits. Under a minute: "just now" or "in
   * less than a minute".
   */
  function relative(time: number, now: number): string {
    const distance = time - now
    const found = RELATIVE_UNITS.find(([, length]) => Math.abs(distance) >= length)
    if (found === undefined) return say(distance > 0 ? 'moment_ahead' : 'moment_past')
    const [unit, size] = found
    return (unit === 'day' ? relativeDays : relatives).format(Math.round(distance / size), unit)
  }

  /** Formats as "7 days left", in the largest unit that fits, at least a minute. */
  function left(time: number, now: number): string {
    const distance = Math.max(time - now, MINUTE)
    const [unit, size] = RELATIVE_UNITS.find(([, length]) => distance >= length) ?? ['minute', MINUTE]
    return say('openings_left', { time: say(`${unit}s`, { n: Math.round(distance / size) }) })
  }

  /**
   * Formats as "today", "yesterday" or the date, in the time zone of this server; a script uses the reader's.
   */
  function day(time: number, now: number): string {
    const [then, today] = [time, now].map((at) => new Date(at).setHours(0, 0, 0, 0))
    const days = Math.round(((today ?? now) - (then ?? time)) / DAY)
    return days === 0 || days === 1 ? relativeDays.format(-days, 'day') : dates.format(time)
  }

  /** Formats as "7 sec. ago", for a recent event. */
  function ago(ms: number): string {
    return relatives.format(-Math.round(Math.max(0, ms) / SECOND), 'second')
  }

  /** Formats as "2.5 minutes", in the largest unit that fits, at least a tenth of a second. */
  function duration(ms: number): string {
    const [unit, size] = DURATION_UNITS.find(([, length]) => ms >= length) ?? ['second', SECOND]
    const style = { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 1 } as const
    return new Intl.NumberFormat(tag, style).format(Math.max(0.1, ms / size))
  }

  return {
    language,
    tag,
    direction,
    say,
    knows,
    forms,
    moment,
    relative,
    left,
    day,
    ago,
    duration,
    clock,
    bytes,
    number: (value: number) => numbers.format(value),
  } as const
}

const DURATION_UNITS: ['hour' | 'minute', number][] = [
  ['hour', HOUR],
  ['minute', MINUTE],
]

const RELATIVE_UNITS: ['day' | 'hour' | 'minute', number][] = [
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
]

/** Longer headers are ignored. Browsers send shorter ones. */
const MAX_ACCEPTED_CHARACTERS = 300

/**
 * Returns the first wanted language that is supported. `accepted` is an Accept-Language header (RFC 9110,
 * 12.5.4).
 */
export function chooseLanguage(wanted: {
  asked: string | null
  kept: string | null
  accepted: string | null
}) {
  return languageOf(wanted.asked) ?? languageOf(wanted.kept) ?? acceptedLanguages(wanted.accepted)[0] ?? 'en'
}

/** Returns the supported languages of an Accept-Language header, that of the highest quality first. */
export function acceptedLanguages(accepted: string | null): Language[] {
  if (accepted === null || accepted.length > MAX_ACCEPTED_CHARACTERS) return []
  const items = accepted.split(',').map((item) => {
    const [tag = '', quality = 'q=1'] = item.split(';')
    return { language: languageOf(tag.trim()), quality: Number(quality.trim().replace(/^q=/, '')) || 0 }
  })
  const wanted = items.filter(({ quality }) => quality > 0)
  const sorted = wanted.toSorted((one, other) => other.quality - one.quality)
  return [...new Set(sorted.flatMap(({ language }) => language ?? []))]
}
