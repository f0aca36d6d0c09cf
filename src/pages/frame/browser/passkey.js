// Runs where a passkey signs in, confirms or is added: asks the browser for it, and sends what it signed.

const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0))

const textOf = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const keyOf = ({ id, type }) => ({ id: bytesOf(id), type })

/** Turns the base64url of the answer into the bytes that browsers want. */
function optionsOf({ challenge, user, allowCredentials = [], excludeCredentials = [], ...options }) {
  return {
    ...options,
    challenge: bytesOf(challenge),
    ...(user && { user: { ...user, id: bytesOf(user.id) } }),
    allowCredentials: allowCredentials.map(keyOf),
    excludeCredentials: excludeCredentials.map(keyOf),
  }
}

async function ask({ passkey, challenge }) {
  const answer = await fetch(passkey, { method: 'POST', body: new URLSearchParams(challenge) })
  if (!answer.ok) throw new Error(String(answer.status))
  const { create, get } = await answer.json()
  const { credentials } = navigator
  const { id, response } = await (create
    ? credentials.create({ publicKey: optionsOf(create) })
    : credentials.get({ publicKey: optionsOf(get) }))
  const names = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle']
  const sent = names.flatMap((name) => (response[name] ? [[name, textOf(response[name])]] : []))
  return { id, ...Object.fromEntries(sent) }
}

for (const form of document.querySelectorAll('form[data-passkey]')) {
  const { origin, failed } = form.dataset
  // Browsers accept the passkeys of a server only at its own address.
  if (location.origin !== origin || window.PublicKeyCredential === undefined) continue
  for (const needs of document.querySelectorAll('[data-passkey-needs]')) needs.hidden = true
  form.hidden = false
  const [told] = form.querySelectorAll('[role=status]')
  const [field] = form.querySelectorAll('[data-credential]')
  let isAsking = false
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (isAsking) return
    isAsking = true
    told.textContent = ''
    try {
      field.value = JSON.stringify(await ask(form.dataset))
      form.submit()
    } catch {
      told.textContent = failed
      isAsking = false
    }
  })
  // The browser's Back leads to the page as it was.
  window.addEventListener('pageshow', () => {
    isAsking = false
  })
}
