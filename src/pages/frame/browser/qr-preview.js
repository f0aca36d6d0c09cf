// Runs where a push with a QR code is created: draws the code while it is typed.

import { wifiText } from '../wifi-text.ts'
import { modulesOf, pictureOf } from './qr-picture.js'

const PAUSE_MS = 100

const form = document.querySelector('form.create')
const box = document.querySelector('[data-preview]')
const drawn = box.querySelector('[data-drawn]')
const caption = box.querySelector('figcaption')
const label = caption.textContent

let timer
for (const name of ['input', 'change']) {
  form.addEventListener(name, () => {
    clearTimeout(timer)
    timer = setTimeout(draw, PAUSE_MS)
  })
}
draw()

function draw() {
  const text = contentOf(form.elements)
  box.classList.toggle('empty', text === '')
  const modules = text === '' ? [] : modulesOf(text)
  caption.textContent = modules === null ? box.dataset.unfit : label
  drawn.replaceChildren(...(modules?.length > 0 ? [pictureOf(modules)] : []))
}

/** Returns the code's content as the server composes it; '' while there is nothing to draw. */
function contentOf(fields) {
  if (fields['push[kind]'].value !== 'wifi') return fields['push[qr]'].value
  const network = fields['push[wifi_network]'].value
  if (network === '') return ''
  return wifiText({
    network,
    password: fields['push[wifi_password]'].value,
    type: fields['push[wifi_type]'].value,
    isHidden: fields['push[wifi_hidden]'].checked,
  })
}
