// Carries the key of a new link from the form to the link's page, in this tab only. The server never has it.

const KEY = 'oncebox-key'

/** Keeps the key until the page with this path takes it. */
export function keepKey(linkKey, path) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ linkKey, path }))
  } catch {
    // Without storage the page says that it lacks the key.
  }
}

/** Returns the key of this page's link, which its history entry keeps from now on; null if it has none. */
export function takeKey() {
  const { linkKey = history.state?.linkKey ?? null } = takeKept()
  if (linkKey !== null) history.replaceState({ ...history.state, linkKey }, '')
  return linkKey
}

function takeKept() {
  try {
    const { linkKey, path } = JSON.parse(sessionStorage.getItem(KEY) ?? '{}')
    sessionStorage.removeItem(KEY)
    return path === location.pathname ? { linkKey } : {}
  } catch {
    return {}
  }
}
