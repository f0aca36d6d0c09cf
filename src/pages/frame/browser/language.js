// The language of the page, with the habits of the reader's country, and numbers in it.

export const { lang } = document.documentElement
export const locale = navigator.languages.find((tag) => tag.startsWith(`${lang}-`)) ?? lang

const numbers = new Intl.NumberFormat(lang)
const plurals = new Intl.PluralRules(lang)

/** `forms` is a text, or one for each plural. */
export function sayNumber(forms, n) {
  const text = typeof forms === 'string' ? forms : (forms[plurals.select(n)] ?? forms.other)
  return text.replace('{n}', numbers.format(n))
}
