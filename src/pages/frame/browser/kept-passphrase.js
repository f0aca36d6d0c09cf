// The passphrase on its way from the form to the page of the new link, in this tab alone: the server never gives one back.

const KEY = 'oncebox-passphrase'

/** For the page with this path; without one for the page to which the answer leads. */
export function keepPassphrase(passphrase, path = null) {
  if (passphrase === '') return
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ passphrase, path }))
  } catch {
    // A browser that keeps nothing works all the same.
  }
}

/** Forgets it, and returns it on its page alone: one that was opened in place of an answer may be of another push. */
export function takePassphrase() {
  try {
    const { passphrase = '', path } = JSON.parse(sessionStorage.getItem(KEY) ?? '{}')
    sessionStorage.removeItem(KEY)
    const [{ redirectCount }] = performance.getEntriesByType('navigation')
    return path === location.pathname || (path === null && redirectCount > 0) ? passphrase : ''
  } catch {
    return ''
  }
}
