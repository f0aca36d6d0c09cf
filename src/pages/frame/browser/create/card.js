// Shows beside the form what the recipient will see. The card follows the limits, of which the server draws
// it; contents, names and passphrases stay here.

import { lang, moments } from '../language.js'
import { form } from './form.js'

const FIELDS = [
  ...['expire_after_duration', 'expire_after', 'expire_unit', 'views', 'expire_after_views'],
  ...['retrieval_step', 'shows_sender'],
]

const half = document.querySelector('[data-card]')
const caption = half?.querySelector('p')
const plain = caption?.textContent
const room = matchMedia('(min-width: 1100px)')
// Closed, so that no field or id of the card meets those of the form.
const root = half?.querySelector('div').attachShadow({ mode: 'closed' })
let asked = ''

async function follow() {
  if (!room.matches) return
  const name = document.getElementById('name')?.value.trim()
  caption.textContent = name ? half.dataset.card.replace('{name}', () => `\u2068${name}\u2069`) : plain
  const typed = new FormData(form)
  const query = new URLSearchParams({ card: '', locale: lang })
  for (const field of FIELDS) query.set(field, typed.getAll(`push[${field}]`).at(-1) ?? '')
  query.set('passphrase', document.getElementById('passphrase').value !== '')
  query.set('end_to_end', document.getElementById('end_to_end')?.checked === true)
  if (asked === `${query}`) return
  asked = `${query}`
  const text = await fetch(`${form.action}?${query}`).then((response) => response.text())
  const card = new DOMParser().parseFromString(text, 'text/html')
  if (asked !== `${query}` || card.querySelector('.card') === null) return
  for (const time of card.querySelectorAll('time')) time.textContent = moments.format(new Date(time.dateTime))
  if (half.hidden) root.adoptedStyleSheets = [copyStyles()]
  root.replaceChildren(card.querySelector('.card'), ...card.querySelectorAll('body > svg'))
  half.hidden = false
}

/** Copies the rules of the page, which do not reach into the card. */
function copyStyles() {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
  const copy = new CSSStyleSheet()
  copy.replaceSync(rules.map(({ cssText }) => cssText).join(''))
  return copy
}

if (root !== undefined) {
  // The card is left as it is while the server does not answer.
  const draw = () => {
    follow().catch(() => {})
  }
  for (const name of ['input', 'change']) form.addEventListener(name, draw)
  room.addEventListener('change', draw)
  draw()
}
