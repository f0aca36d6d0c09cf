// Redirects links of older servers, and links with a language in front, to the same page here.

import { DomainError } from '../domain/errors.ts'
import { answerMoved, answerSeeOther } from '../http/answers.ts'
import { pathOf } from '../http/door/paths.ts'
import type { Route } from '../http/door/router.ts'
import { type Endpoint, MOVED, type Moved, moved, PAGES } from '../http/urls.ts'
import { LANGUAGE_PARAMETER } from './frame/guest.ts'

const ALL_PAGES: readonly Endpoint[] = Object.values(PAGES)

/**
 * The addresses of forms that have no page of their own, for a browser that asks for them with GET: after a
 * refused form, by a reload or by changing the language. They redirect to the page with the form, whose guard
 * decides who sees it.
 */
const FORM_ADDRESSES: readonly Moved[] = ALL_PAGES.filter(
  ({ path, method }) => method === 'POST' && findPage(path) === undefined,
).flatMap((form) => moved((urlToken) => pageAbove(form).replace(':url_token', urlToken), form))

type PagesOn = { mail: boolean; signups: boolean }

/** Keeps the query of the request, and the language of the path as a part of it. */
export function createMovedRoutes(basePath: string, { mail, signups }: PagesOn): Route[] {
  const absent = new Set([...(mail ? [] : [PAGES.forgot.href()]), ...(signups ? [] : [PAGES.signUp.href()])])
  // The page to sign in says how to get an account or a new password on this server.
  const served = MOVED.map((url) => (absent.has(url.to('')) ? { ...url, to: PAGES.signIn.href } : url))
  return redirect(served, (path) => answerMoved(`${basePath}${path}`))
}

/** Redirects a GET of a form's address to the page of that form, and keeps the query. */
export function createFormAddressRoutes(basePath: string): Route[] {
  return redirect(FORM_ADDRESSES, (path) => answerSeeOther(`${basePath}${path}`))
}

/**
 * Returns the path of the nearest page above that of the form with the same guard. The form to sign out has
 * none: it stands on the page of the account, among others.
 */
function pageAbove({ path, guard }: Pick<Endpoint, 'path' | 'guard'>): string {
  if (path === '/') return PAGES.account.path
  const above = path.slice(0, path.lastIndexOf('/')) || '/'
  return findPage(above)?.guard === guard ? above : pageAbove({ path: above, guard })
}

function findPage(path: string): Endpoint | undefined {
  return ALL_PAGES.find((page) => page.method === 'GET' && page.path === path)
}

function redirect(all: readonly Moved[], answer: (path: string) => Response): Route[] {
  return all.map(({ to, ...url }) => ({
    url,
    answer: ({ exchange: { request }, params: { locale = null, url_token = 'none' } }) => {
      // A path of an older server may contain anything. A text that cannot be a token has no push here.
      if (!/^[\w-]+$/.test(url_token)) throw new DomainError('not_found', 'not-found')
      return answer(`${to(url_token)}${queryWith(locale, request.url)}`)
    },
  }))
}

/** The query of the request, with the language of the path in place of any other. */
function queryWith(locale: string | null, url: string): string {
  const path = pathOf(url)
  const query = url.slice(url.indexOf(path) + path.length)
  if (locale === null) return query
  const others = query
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && pair.split('=', 1)[0] !== LANGUAGE_PARAMETER)
  return `?${[...others, `${LANGUAGE_PARAMETER}=${locale}`].join('&')}`
}
