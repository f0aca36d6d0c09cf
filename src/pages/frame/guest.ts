// The guest of a page: their language, and their session if they are signed in.

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

/** The parts of the address of a page. */
export type Params = Partial<Record<string, string>>

export type Brand = {
  name: string
  /** The address of the operator's own logo; null for the mark of Oncebox. */
  logo: string | null
  /** Whom recipients may ask. */
  contact: string | null
  /** Shown on every page. */
  notice: string | null
}

/** The query parameter for the language, on every page. */
export const LANGUAGE_PARAMETER = 'locale'
/** Its name in earlier versions. */
const OLDER_PARAMETER = 'lang'

export type Guest = {
  exchange: Exchange
  words: Words
  /** A text in the language of the page. */
  say: Words['say']
  viewer: Viewer
  session: CurrentSession | null
  /** How many of their pushes were opened since they looked, `MOST_UNSEEN` at most. */
  unseen: number
  /**
   * Whether the browser has a session that was not looked up: then the page offers neither signing in nor an
   * account.
   */
  isUnknown: boolean
  query: URLSearchParams
  /**
   * A link to a path of urls.ts: adds the base path, and the language if the address of this page names one.
   */
  href(path: string): string
  /** The path of this page, as `href` takes it. */
  path: string
  basePath: string
  brand: Brand
  /** Whether the operator lists hosts for webhooks. */
  hasWebhooks: boolean
  /** What to use instead of localhost; null when links work as they are. */
  findElsewhere(): Elsewhere | null
  /** The cookie that remembers the requested language; null when the address names no supported language. */
  languageCookie: string | null
}

/** A guest who is signed in. */
export type Member = Guest & { session: CurrentSession; account: Account }

/** The header of a script that looks at the list again while nobody uses the page. */
export const LOOK_HEADER = 'oncebox-look'

export type GuestOptions = {
  findSession: Sessions['findSession']
  countUnseen: Pushes['countUnseen']
  basePath: string
  /** As it is now: administrators may change it. */
  readBrand: () => Brand
  hasWebhooks: boolean
  findElsewhere: FindElsewhere
  onError: (cause: unknown) => void
}

export type GetGuest = ReturnType<typeof createGetGuest>

export function createGetGuest(options: GuestOptions) {
  const { findSession, countUnseen, basePath, readBrand, hasWebhooks, findElsewhere, onError } = options

  /** A value at once for a browser without a session. */
  function getGuest(exchange: Exchange): Guest | Promise<Guest> {
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
      hasWebhooks,
      findElsewhere: () => findElsewhere(exchange),
      languageCookie: isAsked ? cookieOf(place, { name: 'language', value: language }) : null,
    }
  }

  /** Looks up no session, so it cannot fail. */
  getGuest.stranger = (exchange: Exchange): Guest => ({
    ...describe(exchange, null),
    isUnknown: cookieIn({ exchange, basePath }, 'session') !== null,
  })
  return getGuest
}

/**
 * A look does not keep a session alive. It reads the list and nothing else: any other request is a use,
 * whatever its headers.
 */
function isLook({ request, path }: Exchange): boolean {
  return request.method === 'GET' && path === PAGES.pushes.path && request.headers.has(LOOK_HEADER)
}

/** The query of a page without the language that was asked for. */
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

/** Redirects to the sign-in page, which leads back to this page. */
export function askToSignIn(guest: Guest): Response {
  const query = guest.query.toString()
  const next =
    guest.exchange.request.method === 'GET' || guest.exchange.isHead
      ? `${guest.path}${query === '' ? '' : `?${query}`}`
      : PAGES.create.href()
  return leadTo(guest, signInHref(encodeURIComponent(next)))
}

/**
 * Redirects to a page of this server, which the browser then asks for with GET. The path is as `Guest.href`
 * takes it.
 */
export function leadTo({ href }: Guest, path: string, headers?: AnswerHeaders): Response {
  return answerSeeOther(href(path), headers)
}

/**
 * The page that asks to sign in and leads on to `next`: a path as `Guest.href` takes it, escaped for a query.
 */
export function signInHref(next: string): string {
  return `${PAGES.signIn.href()}?next=${next}`
}

/** Page 1 for a number that is missing or unreadable. */
export function readPage({ query }: Guest): number {
  const page = query.get('page') ?? ''
  return /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1
}
