// Who comes back to this entry of the history and sends the form again gets to the push that it has made.

import { form } from './form.js'

const key = form.elements['push[idempotency_key]']
if (typeof history.state?.key === 'string') key.value = history.state.key
keepKey(key.value)
form.addEventListener('refused', ({ detail: answered }) => {
  const answeredKey = answered.querySelector('[name="push[idempotency_key]"]')
  if (answeredKey !== null) keepKey(answeredKey.value)
})

function keepKey(value) {
  key.value = value
  history.replaceState({ ...history.state, key: value }, '')
}
