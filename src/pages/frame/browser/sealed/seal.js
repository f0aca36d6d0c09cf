// Seals the content of a form, and makes the body that is sent in its place.

import { piecesOf } from '../saving.js'

/**
 * Returns a function that seals the content once: repeating a send with the same key of idempotency sends the
 * same bytes. `recipient`: null makes a new key for the link.
 */
export function createSeal({ age, form, recipient }) {
  let made = null

  return async (tell) => {
    const content = contentOf(form)
    if (made === null || !isSame(made.content, content)) {
      made = { content, ...(await seal(content, { age, recipient, tell })) }
    }
    return { body: bodyOf(form, made), linkKey: made.linkKey }
  }
}

function contentOf(form) {
  const [chooser] = form.querySelectorAll('input[type=file]')
  const isOfFiles = form.elements['push[kind]'].value === 'file'
  return {
    text: document.getElementById('payload')?.value ?? '',
    files: isOfFiles ? [...(chooser?.files ?? [])] : [],
    idempotencyKey: form.elements['push[idempotency_key]']?.value,
  }
}

function isSame(one, other) {
  const areSame =
    one.files.length === other.files.length && one.files.every((file, at) => file === other.files[at])
  return areSame && one.text === other.text && one.idempotencyKey === other.idempotencyKey
}

async function seal({ text, files }, { age, recipient, tell }) {
  const key = recipient === null ? await age.newKey() : { recipient, linkKey: null, keyCheck: null }
  const to = [key.recipient]
  const total = files.reduce((sum, { size }) => sum + size, 0)
  const sealed = []
  let before = 0
  for (const [at, file] of files.entries()) {
    const done = before
    const content = piecesOf(file.stream(), (bytes) => tell((done + bytes) / total))
    before += file.size
    const position = { n: at + 1, of: files.length }
    const stream = await age.sealFile({ name: file.name, content, at: file.lastModified, position }, to)
    sealed.push(await new Response(stream).blob())
  }
  return { ...key, files: sealed, text: text === '' ? '' : await age.sealText(text, to) }
}

/** Everything of the form but its content, which has no names, and what needs the whole link. */
function bodyOf(form, { text, files, keyCheck }) {
  const body = new FormData(form)
  for (const name of ['payload', 'files][', 'link', 'qr', 'notify_emails_to']) body.delete(`push[${name}]`)
  // An answer to a request has no kind.
  if (body.has('push[kind]')) body.set('push[kind]', files.length > 0 ? 'file' : 'text')
  body.set('push[end_to_end]', 'true')
  if (keyCheck !== null) body.set('push[key_check]', keyCheck)
  body.set('push[payload]', text)
  for (const [at, file] of files.entries()) body.append('push[files][]', file, `${at + 1}.age`)
  return body
}
