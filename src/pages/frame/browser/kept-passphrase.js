// Carries the passphrase from the form to the page of the new link, in this tab only. The server never
// returns one.

const KEY = 'oncebox-passphrase'

/** Keeps the passphrase for the page with this path; null means the page that the answer redirects to. */
export function keepPassphrase(passphrase, path = null) {
  if (passphrase === '') return
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ passphrase, path }))
  } catch {
    // Storage is optional.
  }
}

/**
 * Removes the passphrase, and returns it only on its own page: another page opened in its place may show
 * another push.
 */
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
