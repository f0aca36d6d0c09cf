// What the parts of pages need to render in the browser: the texts that the page brings along.

import { createSayBytes } from '../../../../words/bytes.ts'
import { lang } from '../language.js'

const plurals = new Intl.PluralRules(lang)
const isRightToLeft = document.documentElement.dir === 'rtl'

export function guestIn(element) {
  const texts = JSON.parse(element.dataset.words)
  function say(key, parameters = {}) {
    const forms = texts[key]
    const text = typeof forms === 'string' ? forms : (forms[plurals.select(parameters.n)] ?? forms.other)
    return text.replace(/\{(\w+)\}/g, (whole, name) => {
      const value = parameters[name] ?? whole
      return isRightToLeft && typeof value === 'string' ? `\u2068${value}\u2069` : String(value)
    })
  }
  return {
    say,
    words: { say, bytes: createSayBytes(lang) },
    href: (path) => path,
    session: null,
    basePath: '',
  }
}
