// An account and its API tokens: the rules that need no storage.

export const MIN_PASSWORD_LENGTH = 12
export const MAX_PASSWORD_BYTES = 1024
export const MAX_TOKEN_NAME_LENGTH = 100

export type Account = {
  id: number
  email: string
  isAdmin: boolean
  /** Milliseconds since 1970, null while the account may sign in. */
  disabledAt: number | null
  createdAt: number
}

export type ApiToken = {
  id: number
  name: string
  /** The first characters of the token, to tell it from others. */
  prefix: string
  createdAt: number
  lastUsedAt: number | null
}

/** Lower-cases and trims; null when it cannot be an address. Deliberately mild: nobody sends mail to it. */
export function parseEmail(text: string): string | null {
  const email = text.trim().toLowerCase()
  return email.length <= 254 && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email) ? email : null
}

/** What is wrong with a new password, or null. Length counts characters, as people do. */
export function passwordProblem(password: string): string | null {
  if ([...password].length < MIN_PASSWORD_LENGTH)
    return `must have at least ${MIN_PASSWORD_LENGTH} characters`
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES) return `must have at most ${MAX_PASSWORD_BYTES} bytes`
  return null
}

/** What is wrong with the name of an API token, or null. */
export function tokenNameProblem(name: string): string | null {
  if (name.trim() === '') return "can't be blank"
  if (name.length > MAX_TOKEN_NAME_LENGTH) return `must have at most ${MAX_TOKEN_NAME_LENGTH} characters`
  return /\p{Cc}/u.test(name) ? 'must not contain control characters' : null
}
