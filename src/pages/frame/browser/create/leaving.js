// Asks before the page is left: while files are sent, and while a secret that was typed or chosen has not
// been sent.

import { chooser } from './files.js'
import { form, state } from './form.js'

const secrets = [...form.querySelectorAll('[data-secret]')]

function isWorthAsking() {
  if (state.isLeaving) return false
  return state.isSending || chooser?.files.length > 0 || secrets.some(({ value }) => value.trim() !== '')
}

// Listen only when needed: a beforeunload listener keeps the page out of the back/forward cache.
function listen() {
  if (isWorthAsking()) window.addEventListener('beforeunload', ask)
  else window.removeEventListener('beforeunload', ask)
}

function ask(event) {
  if (isWorthAsking()) event.preventDefault()
}

for (const name of ['input', 'change']) form.addEventListener(name, listen)
form.addEventListener('submit', (event) => {
  if (!event.defaultPrevented) state.isLeaving = true
  listen()
})
window.addEventListener('pageshow', () => {
  state.isLeaving = false
  listen()
})
