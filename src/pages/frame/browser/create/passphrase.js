// The passphrase: the dice fills in three words, and the page of the new link can copy what was sent.

import { keepPassphrase, takePassphrase } from '../kept-passphrase.js'
import { drawWords } from './draw.js'
import { form } from './form.js'

const field = document.getElementById('passphrase')
const dice = document.querySelector('[data-draws]')

dice.hidden = false
dice.addEventListener('click', async () => {
  field.value = (await drawWords(3)).join('-')
  field.dispatchEvent(new Event('input', { bubbles: true }))
  // Show the words, so that the sender can note them.
  document.querySelector('[aria-controls="passphrase"]').checked = true
})

form.addEventListener('submit', (event) => {
  if (!event.defaultPrevented) keepPassphrase(field.value)
})
form.addEventListener('sent', ({ detail: path }) => keepPassphrase(field.value, path))
// The form is shown again, so forget what was sent.
window.addEventListener('pageshow', takePassphrase)
