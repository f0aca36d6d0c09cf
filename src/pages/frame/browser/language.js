// The language of the page, the reader's regional locale, and formatted numbers.

export const { lang } = document.documentElement
export const locale = navigator.languages.find((tag) => tag.startsWith(`${lang}-`)) ?? lang

const numbers = new Intl.NumberFormat(lang)
const plurals = new Intl.PluralRules(lang)

/** Returns the text for a number. `forms` is one text, or one per plural category. */
export function sayNumber(forms, n) {
  const text = typeof forms === 'string' ? forms : (forms[plurals.select(n)] ?? forms.other)
  return text.replace('{n}', numbers.format(n))
}
