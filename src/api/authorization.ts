// Reads the Authorization header: the words that may be an API token, in every scheme that clients use.

export type Authorization = {
  /** Candidates for the token. The first valid one is used. */
  words: string[]
  /** Whether the scheme is only for API tokens, so that an invalid one is refused. */
  isClaim: boolean
}

/**
 * Reads Bearer (RFC 6750), `Token …` and `Token token=…` (as Rails does), Basic (RFC 7617) with the token in
 * any part, and a bare token. Other schemes, such as Digest, yield no words.
 */
export function readAuthorization(header: string | null): Authorization {
  const value = header?.trim() ?? ''
  const [scheme = ''] = value.split(/\s/, 1)
  const rest = value.slice(scheme.length).trim()
  switch (scheme.toLowerCase()) {
    case '':
      return { words: [], isClaim: false }
    case 'bearer':
      return { words: [rest], isClaim: true }
    case 'token':
      return { words: [tokenParameter(rest) ?? rest], isClaim: true }
    case 'basic':
      return { words: wordsOfBasic(rest), isClaim: false }
    default:
      return { words: rest === '' ? [value] : [], isClaim: false }
  }
}

/** Returns abc for `token="abc", nonce="def"`. */
function tokenParameter(parameters: string): string | null {
  return /(?:^|[\s,;])token\s*=\s*"?([^\s",;]*)/i.exec(parameters)?.[1] ?? null
}

/**
 * Returns user and password, or the only word, then the undecoded credentials, since some clients do not
 * encode the token.
 */
function wordsOfBasic(credentials: string): string[] {
  const decoded = Buffer.from(credentials, 'base64').toString('utf8')
  const colon = decoded.indexOf(':')
  const words = colon === -1 ? [decoded] : [decoded.slice(0, colon), decoded.slice(colon + 1)]
  return [...words, credentials].map((word) => word.trim()).filter((word) => word !== '')
}
