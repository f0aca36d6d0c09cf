// Going back to this history entry and sending the form again leads to the push that it created.

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
