// The guest of a page: the language, and the session of a guest who is signed in.

import type { CurrentSession, Sessions } from '../../accounts/sessions.ts'
import type { Account } from '../../domain/account.ts'
import type { Viewer } from '../../domain/audit.ts'
import { DomainError } from '../../domain/errors.ts'
import { languageOf } from '../../domain/language.ts'
import { type AnswerHeaders, answerSeeOther } from '../../http/answers.ts'
import { type Exchange, queryOf, visitOf } from '../../http/door/exchange.ts'
import { publicPath } from '../../http/door/paths.ts'
import { PAGES } from '../../http/urls.ts'
import type { Pushes } from '../../pushes/pushes.ts'
import { chooseLanguage, type Language, type Words, wordsOf } from '../../words/words.ts'
import { cookieIn, cookieOf } from './cookies.ts'
import type { Elsewhere, FindElsewhere } from './reach.ts'

/** The path parameters of a page, by name. */
export type Params = Partial<Record<string, string>>

export type Brand = {
  name: string
  /** The URL of the operator's logo; null for the logo of Oncebox. */
  logo: string | null
  /** The contact for recipients. */
  contact: string | null
  /** The operator's notice, shown on every page. */
  notice: string | null
}

/** The query parameter for the language, on every page. */
export const LANGUAGE_PARAMETER = 'locale'
/** The parameter's name in earlier versions. */
const OLDER_PARAMETER = 'lang'

export type Guest = {
  exchange: Exchange
  words: Words
  /** Returns a text in the language of the page. */
  say: Words['say']
  viewer: Viewer
  session: CurrentSession | null
  /** The number of the guest's pushes opened since they last looked at the list; at most `MOST_UNSEEN`. */
  unseen: number
  /**
   * Whether the browser sent a session that was not looked up. The page then offers neither sign-in nor
   * account.
   */
  isUnknown: boolean
  query: URLSearchParams
  /**
   * Returns a link to a path of urls.ts. Adds the base path, and the language if the URL of this page names
   * one.
   */
  href(path: string): string
  /** The path of this page; pass it to `href`. */
  path: string
  basePath: string
  brand: Brand
  /** Whether the operator allows hosts for webhooks. */
  hasNotices: boolean
  /** Returns the address to use instead of localhost; null if links work on other machines. */
  findElsewhere(): Elsewhere | null
  /** The cookie that remembers the requested language; null if the address requests no supported language. */
  languageCookie: string | null
}

/** A guest who is signed in. */
export type Member = Guest & { session: CurrentSession; account: Account }

/** The request header of the script that polls the list while the page is idle. */
const LOOK_HEADER = 'oncebox-look'

type GuestOptions = {
  findSession: Sessions['findSession']
  countUnseen: Pushes['countUnseen']
  basePath: string
  /** Returns the current brand. Administrators can change it. */
  readBrand: () => Brand
  hasNotices: boolean
  findElsewhere: FindElsewhere
  onError: (cause: unknown) => void
}

export type GetGuest = ReturnType<typeof createGetGuest>

export function createGetGuest(options: GuestOptions) {
  const { findSession, countUnseen, basePath, readBrand, hasNotices, findElsewhere, onError } = options

  /** Returns a guest; a promise only if the browser sent a session. */
  function getGuest(exchange: Exchange): Guest | Promise<Guest> {
    if (exchange.isOutside) return describe(exchange, null)
    const sessionToken = cookieIn({ exchange, basePath }, 'session')
    if (sessionToken === null) return describe(exchange, null)
    return findMember(exchange, sessionToken)
  }

  async function findMember(exchange: Exchange, sessionToken: string): Promise<Guest> {
    const session = await findSession(sessionToken, { isUse: !isLook(exchange), onError })
    if (session === null) return describe(exchange, null)
    return describe(exchange, session, await countUnseen(session.account))
  }

  function describe(exchange: Exchange, session: CurrentSession | null, unseen = 0): Guest {
    const { request } = exchange
    const place = { exchange, basePath }
    const query = queryOf(exchange)
    const asked = query.get(LANGUAGE_PARAMETER) ?? query.get(OLDER_PARAMETER)
    const accepted = request.headers.get('accept-language')
    const language = chooseLanguage({ asked, kept: cookieIn(place, 'language'), accepted })
    const isAsked = languageOf(asked) === language
    const words = wordsOf(language)
    return {
      exchange,
      words,
      say: words.say,
      viewer: { account: session?.account ?? null, visit: visitOf(exchange) },
      session,
      unseen,
      isUnknown: false,
      query,
      href: (path) => `${basePath}${isAsked ? withLanguage(path, language) : path}`,
      path: publicPath(exchange.path),
      basePath,
      brand: readBrand(),
      hasNotices,
      findElsewhere: () => (exchange.isOutside ? null : findElsewhere(exchange)),
      languageCookie: isAsked ? cookieOf(place, { name: 'language', value: language }) : null,
    }
  }

  /** Returns a guest without looking up a session, so it cannot fail. */
  getGuest.stranger = (exchange: Exchange): Guest => ({
    ...describe(exchange, null),
    isUnknown: !exchange.isOutside && cookieIn({ exchange, basePath }, 'session') !== null,
  })
  return getGuest
}

/**
 * Whether the request polls the list or a request. Polling does not extend a session; any other request does,
 * even if it sends the same header.
 */
function isLook({ request, path }: Exchange): boolean {
  const isPolled = path === PAGES.pushes.path || path.startsWith(`${PAGES.requests.path}/`)
  return request.method === 'GET' && isPolled && request.headers.has(LOOK_HEADER)
}

/** Returns the query parameters of the page without the language. */
export function otherFields({ query }: Guest): [string, string][] {
  return [...query].filter(([name]) => name !== LANGUAGE_PARAMETER && name !== OLDER_PARAMETER)
}

function withLanguage(path: string, language: Language): string {
  const [address = '', fragment] = path.split('#')
  const asked = `${address}${address.includes('?') ? '&' : '?'}${LANGUAGE_PARAMETER}=${language}`
  return fragment === undefined ? asked : `${asked}#${fragment}`
}

/** Throws `forbidden` for a form of another session. */
export function requireFormToken({ session }: Guest, given: unknown): void {
  if (session === null || (typeof given === 'string' && session.isFormToken(given))) return
  throw new DomainError('forbidden', 'This form belongs to another session.')
}

/** Redirects to the sign-in page, which then redirects back. */
export function askToSignIn(guest: Guest): Response {
  const query = guest.query.toString()
  const next =
    guest.exchange.request.method === 'GET' || guest.exchange.isHead
      ? `${guest.path}${query === '' ? '' : `?${query}`}`
      : PAGES.create.href()
  return leadTo(guest, signInHref(encodeURIComponent(next)))
}

/** Redirects with GET to a page of this server. `path` is what `Guest.href` accepts. */
export function leadTo({ href }: Guest, path: string, headers?: AnswerHeaders): Response {
  return answerSeeOther(href(path), headers)
}

/** Returns the path of the sign-in page that redirects to `next`, a path that `Guest.href` accepts. */
export function signInHref(next: string): string {
  return `${PAGES.signIn.href()}?next=${next}`
}

/** Returns 1 if the page number is missing or unreadable. */
export function readPage({ query }: Guest): number {
  const page = query.get('page') ?? ''
  return /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1
}
