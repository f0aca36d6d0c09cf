// The files of a secret that is opened in the browser: small ones at once, in memory; larger ones when they
// are saved, to the disk where the browser can. A file counts once its last byte was checked. It is only ever
// saved, never shown.

import { safeFilename } from '../../../../text/safe-filename.ts'
import { piecesOf, save } from '../saving.js'

const MIB = 1024 * 1024
/** Files of up to this size in all are opened at once, so that the page has their names. */
const MAX_AT_ONCE = 32 * MIB
const MAX_IN_MEMORY = 2048 * MIB
/** Pieces of this size are given to the browser, which may keep them on the disk. */
const GATHERED_BYTES = 8 * MIB

const TYPE = { type: 'application/octet-stream' }

/** `rows` are those of the answered page, which links to the encrypted files. */
export function createFiles({ age, guest, identities, rows }) {
  let isUnnumbered = false
  const links = rows.map((row) => row.querySelector('a[data-downloads]'))
  const sizeOf = (link) => Number(link?.dataset.downloads ?? 0)
  const opensAtOnce = links.reduce((sum, link) => sum + sizeOf(link), 0) <= MAX_AT_ONCE
  let blobs = []

  /** Resolves to what the rows say. Throws unless each file that is opened now is the one of its row. */
  async function open() {
    const opened = []
    for (const [at, link] of links.entries()) {
      if (link === null) opened.push({ lost: rows[at].textContent })
      else if (!opensAtOnce)
        opened.push({ name: guest.say('sealed_file', { n: at + 1 }), size: sizeOf(link) })
      else opened.push(await openOne(at, { begin: inMemory, tell: () => undefined }))
    }
    blobs = opened.map(({ blob = null }) => blob)
    return opened
  }

  /** `begin` gets the name, and resolves to the target of the content, which a failure leaves unchanged. */
  async function openOne(at, { begin, tell }) {
    const response = await fetch(links[at].href, { cache: 'no-store' })
    if (!response.ok) throw new Error(String(response.status))
    let target = null
    try {
      const { name, size, position } = await age.openFile(piecesOf(response.body, tell), {
        ...{ identities, maxBytes: age.roomFor(sizeOf(links[at])), write: (piece) => target.write(piece) },
        begin: async (sent) => {
          target = await begin(safeName(sent))
        },
      })
      if (position === null) isUnnumbered = true
      else if (position.n !== at + 1 || position.of !== rows.length) throw new Error('another file')
      return { name: safeName(name), size, blob: await target.close() }
    } catch (cause) {
      await target?.abort?.()
      throw cause
    }
  }

  /** Saves a file on each press of its button. */
  function enliven(section) {
    for (const button of section.querySelectorAll('[data-file]')) {
      const at = Number(button.dataset.file)
      button.addEventListener('click', () => {
        if (blobs[at] !== null) save(blobs[at], button.querySelector('bdi').textContent)
        else if (button.getAttribute('aria-disabled') !== 'true') void saveLarge(button, at)
      })
    }
  }

  async function saveLarge(button, at) {
    const bar = Object.assign(document.createElement('progress'), { max: sizeOf(links[at]), value: 0 })
    bar.setAttribute('aria-label', button.textContent)
    const told = document.createElement('output')
    const box = Object.assign(document.createElement('div'), { className: 'download' })
    box.append(bar, told)
    button.parentElement.querySelector('.download')?.remove()
    button.after(box)
    button.setAttribute('aria-disabled', 'true')
    const tell = (received) => {
      bar.value = received
      told.textContent = guest.say('download_rate', { percent: Math.floor((received / bar.max) * 100) })
    }
    try {
      const { name, blob } = await openOne(at, { begin: onDisk, tell })
      if (blob !== undefined) save(blob, name)
      told.textContent = guest.say('download_done')
      if (isUnnumbered) told.textContent += ` ${guest.say('sealed_unnumbered')}`
      button.querySelector('bdi').textContent = name
    } catch (cause) {
      // The person has closed the browser's own dialog.
      if (cause.name === 'AbortError') box.remove()
      told.textContent = guest.say('sealed_file_refused')
    } finally {
      bar.remove()
      button.removeAttribute('aria-disabled')
    }
  }

  return { open, enliven, areUnnumbered: () => isUnnumbered }
}

const safeName = (name) => safeFilename(name, { platform: 'win32' })

function inMemory() {
  let gathered = []
  let bytes = 0
  let total = 0
  const parts = []
  return {
    write: (piece) => {
      gathered.push(piece)
      bytes += piece.length
      total += piece.length
      if (total > MAX_IN_MEMORY) throw new Error('too large')
      if (bytes < GATHERED_BYTES) return
      parts.push(new Blob(gathered))
      gathered = []
      bytes = 0
    },
    close: () => new Blob([...parts, ...gathered], TYPE),
  }
}

/** The browser writes to a file of its own, and puts it in place when it is closed. */
async function onDisk(suggestedName) {
  if (globalThis.showSaveFilePicker === undefined) return inMemory()
  try {
    const handle = await globalThis.showSaveFilePicker({ suggestedName })
    return await handle.createWritable()
  } catch (cause) {
    // On a slow network the press is too long ago for a dialog.
    if (cause.name === 'SecurityError') return inMemory()
    throw cause
  }
}
