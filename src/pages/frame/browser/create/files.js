// Files: chosen, dropped or pasted anywhere on the page, listed, and checked before they are sent.

import { chooseKind, form, kindOf, payload, sayBytes, setProblem } from './form.js'

export const chooser = document.getElementById('files')

for (const name of ['dragenter', 'dragover']) {
  document.addEventListener(name, (event) => {
    if (!event.dataTransfer.types.includes('Files')) return
    event.preventDefault()
    form.classList.add('over')
  })
}
for (const name of ['dragend', 'drop']) document.addEventListener(name, () => form.classList.remove('over'))
document.addEventListener('dragleave', (event) => {
  if (event.relatedTarget === null) form.classList.remove('over')
})
// Otherwise the browser would open the file in place of this page.
document.addEventListener('drop', (event) => {
  if (event.dataTransfer.files.length === 0) return
  event.preventDefault()
  add(event.dataTransfer.files)
})
document.addEventListener('paste', (event) => {
  const { clipboardData, target } = event
  // Office programs copy text together with a picture of it.
  const isText = clipboardData.getData('text/plain') !== '' && target.matches?.('input, textarea')
  if (clipboardData.files.length === 0 || isText) return
  event.preventDefault()
  add(clipboardData.files)
})

/** Adds files. If files need an account or are not accepted, the page says so instead. */
function add(files) {
  chooseKind('file')
  if (kindOf() !== 'file') setProblem(payload, document.querySelector('.overlay').textContent.trim())
  if (chooser !== null) setFiles([...chooser.files, ...files])
}

function setFiles(files) {
  const transfer = new DataTransfer()
  for (const file of files) transfer.items.add(file)
  chooser.files = transfer.files
  chooser.dispatchEvent(new Event('change', { bubbles: true }))
}

if (chooser !== null) prepare()

// Files that the system shared with the installed app.
const shared = [...document.querySelectorAll('[data-shared-file]')]
if (shared.length > 0) add(shared.map(fileIn))

function fileIn(element) {
  const { sharedFile: name, type } = element.dataset
  const bytes = Uint8Array.from(atob(element.value), (character) => character.charCodeAt(0))
  element.remove()
  return new File([bytes], name, { type })
}

function prepare() {
  const list = document.querySelector('[data-chosen]')
  chooser.addEventListener('change', show)
  // Without files, keep the notice that one is missing.
  if (chooser.files.length > 0) show()

  form.addEventListener('submit', (event) => {
    const isOfFiles = kindOf() === 'file'
    // Do not send files that were chosen before the kind was changed.
    chooser.disabled = !isOfFiles
    if (!isOfFiles || problemOf([...chooser.files]) === '') return
    event.preventDefault()
    event.stopImmediatePropagation()
    chooser.focus()
  })
  window.addEventListener('pageshow', () => {
    chooser.disabled = false
  })

  function show() {
    const files = [...chooser.files]
    list.replaceChildren(...files.map(rowOf))
    if (files.length > 1) {
      const total = document.createElement('li')
      total.className = 'hint'
      const sum = files.reduce((all, { size }) => all + size, 0)
      total.textContent = list.dataset.total.replace('{size}', sayBytes(sum))
      list.append(total)
    }
    setProblem(chooser, problemOf(files))
  }

  function problemOf(files) {
    const { maxBytes, maxFiles, tooLarge, tooMany } = list.dataset
    const large = files.find(({ size }) => size > Number(maxBytes))
    if (large !== undefined) return tooLarge.replace('{name}', () => `\u2068${large.name}\u2069`)
    return files.length > Number(maxFiles) ? tooMany : ''
  }

  function rowOf(file) {
    const row = document.createElement('li')
    const name = document.createElement('bdi')
    name.textContent = file.name
    const size = document.createElement('span')
    size.className = 'hint'
    size.textContent = sayBytes(file.size)
    const remove = document.createElement('button')
    remove.type = 'button'
    remove.className = 'bare square'
    remove.textContent = '×'
    remove.setAttribute('aria-label', `${list.dataset.remove}: ${file.name}`)
    remove.addEventListener('click', () => {
      setFiles([...chooser.files].filter((other) => other !== file))
      chooser.focus()
    })
    row.append(chooser.parentElement.querySelector('.icon').cloneNode(true), name, size, remove)
    return row
  }
}
