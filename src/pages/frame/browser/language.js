// The language of the page, the reader's regional locale, and formatted numbers.

export const { lang } = document.documentElement
const regional = navigator.languages.find((tag) => tag.startsWith(`${lang}-`)) ?? lang

/**
 * Whether the browser can write a date in the language. Chromium cannot in Basque, Icelandic, Irish and
 * Welsh; rather than in English, the date is in figures there, 2026-12-06, as it is in Swedish.
 */
export const writesDates = Intl.DateTimeFormat.supportedLocalesOf(regional).length > 0
export const locale = writesDates ? regional : 'sv'
const dateStyle = writesDates ? 'long' : 'short'
export const moments = new Intl.DateTimeFormat(locale, { dateStyle, timeStyle: 'short' })

const numbers = new Intl.NumberFormat(lang)
const plurals = new Intl.PluralRules(lang)

/** Returns the text for a number. `forms` is one text, or one per plural category. */
export function sayNumber(forms, n) {
  const text = typeof forms === 'string' ? forms : (forms[plurals.select(n)] ?? forms.other)
  return text.replace('{n}', numbers.format(n))
}
