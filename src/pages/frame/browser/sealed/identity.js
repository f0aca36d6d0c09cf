// The age key of a recipient: made here, or read from its file. The secret key is never sent.

import { save } from '../saving.js'
import { completeLinks } from './complete.js'
import { guestIn } from './guest.js'

const FILENAME = 'oncebox-key.txt'

export function start(place) {
  const { say } = guestIn(place)
  const chooser = place.querySelector('#identity')
  const maker = place.querySelector('[data-makes-key]')
  const tell = (key) => {
    const told = place.querySelector('[data-told]')
    told.textContent = say(key)
    told.hidden = false
  }
  /** Loads what encrypts, and tests it. */
  async function withAge(use) {
    try {
      const age = await import(place.dataset.age)
      await age.testKey()
      await use(age)
    } catch {
      tell('sealed_broken')
    }
  }

  async function make(age) {
    const { identity, recipient } = await age.newKey()
    const lines = [`# created: ${new Date().toISOString()}`, `# public key: ${recipient}`, identity, '']
    save(new Blob([lines.join('\n')], { type: 'application/octet-stream' }), FILENAME)
    tell('key_made')
    chooser.focus()
  }

  /** Reads the key again from the file, which proves that it was saved. */
  async function read(age) {
    const [identity] = await age.identitiesIn(chooser.files[0])
    if (identity === undefined) return tell('sealed_no_identity')
    const recipient = await age.recipientOf(identity)
    const { recipient: wanted, qr } = place.dataset
    if (wanted === undefined) {
      document.getElementById('recipient').value = recipient
      return tell('key_read')
    }
    if (wanted !== recipient) return tell('request_other_key')
    await completeLinks(age.fingerprintOf(recipient), qr)
    tell('request_marked')
  }

  place.hidden = false
  maker?.addEventListener('click', () => withAge(make))
  chooser.closest('[hidden]').hidden = false
  chooser.addEventListener('change', () => chooser.files.length > 0 && withAge(read))
  window.addEventListener('pagehide', () => {
    chooser.value = ''
  })
}
